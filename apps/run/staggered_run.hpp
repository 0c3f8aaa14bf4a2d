#pragma once
// The main job for staggered actions: links and sources in, solved columns out, on the task graph.
#include "apps/run/report.hpp"
#include "apps/run/solve_run.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"
#include "runtime/cut/decomposition.hpp"

#include <functional>

namespace quarkstar::app {

/// As solve_columns(): checks the memory, makes the action's links of `links`, or reads them (config.staggered.fat:
/// then accept_links_headers() came before, and `links` is not asked), then solves config.columns of every source for
/// every mass in staggered_batches(). The propagators of each source, one a mass; report.solves are of all sources.
/// Under MPI all ranks call; each makes the links that its part needs (plan_links()), whose bits do not depend on that,
/// or reads them. Throws what solve_columns() throws. Who owns what: plan_staggered(). planned: called once it is clear
/// what runs where and how much memory it takes.
std::vector<StaggeredPropagators> solve_staggered(const LinksOfPart& links, const Coord& lattice, const RunConfig& config,
                                                  RunReport& report, const std::function<void(const RunReport&)>& planned = {});

/// The same with the session running and the links made; needs one Naik epsilon for all of config's masses.
std::vector<StaggeredPropagators> solve_staggered_on(const runtime::Decomposition& decomposition, const smear::StaggeredLinks& links,
                                                     const RunConfig& config, RunReport& report);

}  // namespace quarkstar::app
