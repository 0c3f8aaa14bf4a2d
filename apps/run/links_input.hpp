#pragma once
// Fat and long links from files instead of a configuration: what their headers and numbers say, held against the settings.
#include "apps/run/report.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"
#include "runtime/system/team.hpp"

namespace quarkstar::app {

/// Reads the headers of --fat and --long. What they state becomes the run's: boundary, Naik epsilon, u0. Returns the lattice. Throws
/// Error(input) naming the file or --boundary where they contradict each other, the action, or a boundary that was given.
Coord accept_links_headers(RunConfig& config);

/// Collective. Reads the links that this rank's part needs. Epsilon or u0 of files that state none, as MILC's, follow from the weight of
/// the long links. Throws Error(input), naming a file or --links, for links that are not the action's, that contain no staggered phases or
/// not the same ones, and where --links asks for a form that the long links do not come near. Fills in the report's summary.
smear::StaggeredLinks load_links(RunConfig& config, const runtime::Decomposition& decomposition, const runtime::Team& team,
                                 GaugeSummary& summary);

/// Identifies a staggered operator but for its mass: norm and trace of the links over the whole lattice stand for epsilon, u0, phases and
/// boundary; whether they were made in place or read, and by how many ranks, does not matter. Collective.
std::string describe_operator(const RunConfig& config, const smear::StaggeredLinks& links, const runtime::Decomposition& decomposition);

}  // namespace quarkstar::app
