#pragma once
// Fat and long links from files instead of a configuration: what their headers and numbers say, held against the settings.
#include "codelets/actions/action_kind.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"
#include "runtime/system/team.hpp"

namespace quarkstar::staggered {

/// ActionKind::accept_files(): boundary, Naik epsilon and u0 of the headers of the files `fat` and `long`.
Coord accept_links_headers(const ActionKind& kind, ActionRun& run);

/// Collective. Reads the links that this rank's part needs. Epsilon or u0 of files that state none, as MILC's, follow from the weight of
/// the long links. Throws Error(input), naming a file or `links`, for links that are not the action's, that contain no staggered phases or
/// not the same ones, and where a form is asked for that the long links do not come near. Fills in the run's settings and summary.
smear::StaggeredLinks load_links(const ActionKind& kind, ActionRun& run, const runtime::Decomposition& decomposition,
                                 const runtime::Team& team);

/// Identifies a staggered operator but for its mass: norm and trace of the links over the whole lattice stand for epsilon, u0, phases and
/// boundary; whether they were made in place or read, and by how many ranks, does not matter. Collective.
std::string describe_operator(std::string_view action, const smear::StaggeredLinks& links, const runtime::Decomposition& decomposition);

}  // namespace quarkstar::staggered
