#pragma once
// The main job for staggered actions: links and sources in, solved columns out, on the task graph.
#include "apps/report.hpp"
#include "apps/solve_run.hpp"
#include "codelets/lattice/host_gauge.hpp"
#include "codelets/smear/staggered_links.hpp"
#include "runtime/decomposition.hpp"

#include <functional>

namespace quarkstar::app {

/// As solve_columns(): makes the action's links, then solves config.columns for every mass, config.staggered.nrhs right-hand sides
/// together. Under MPI the solves are shared by all ranks, but each of them makes the links of the whole lattice (`links` gets a
/// decomposition without other ranks), which have the same bits everywhere, and needs the memory for them. With `multishift` the masses of a column are the right-hand sides, with `blockcg` those together have one
/// mass. Throws what solve_columns() throws. The lattice is cut into equal parts, for the GPUs alone where there are any; memory is
/// neither estimated nor checked. planned: called once it is clear what runs where.
std::vector<StaggeredPropagator> solve_staggered(const LinksOfPart& links, const Coord& lattice, const RunConfig& config, RunReport& report,
                                                 const std::function<void(const RunReport&)>& planned = {});

/// The same with the session running and the links made; needs one Naik epsilon for all of config's masses.
std::vector<StaggeredPropagator> solve_staggered_on(const runtime::Decomposition& decomposition, const smear::StaggeredLinks& links,
                                                    const RunConfig& config, RunReport& report);

}  // namespace quarkstar::app
