#pragma once
// Eigenvectors of a configuration: links in, a file of vectors out.
#include "apps/run/report.hpp"
#include "apps/run/run_watch.hpp"
#include "solvers/eigen/lanczos.hpp"

#include <functional>
#include <string>

namespace quarkstar::app {

/// What is asked for.
struct EigenRun {
  RunConfig config;  ///< configuration, action, cut, session and JSON; what belongs to sources and solvers means nothing
  EigenSettings settings;
  std::string out;  ///< the file of vectors; a solve that was interrupted or killed goes on from OUT.restart
};

/// What came of it.
struct EigenReport {
  RunReport run;
  EigenResult result;
  std::string problem;
  double seconds = 0;  ///< of the eigenvectors alone
};

/// Computes the lowest modes and writes `out`, and the JSON where one is wanted. planned: once it is clear what runs where. Under MPI all
/// ranks call with the same settings. Throws what settings, links, memory and files may; Interrupted{out.restart} where watch says so.
EigenReport run_eigen(EigenRun run, RunWatch& watch = unwatched(), const std::function<void(const RunReport&)>& planned = {});

}  // namespace quarkstar::app
