#pragma once
// Eigenvectors of a configuration: links in, a file of vectors out.
#include "apps/run/eigen_file.hpp"
#include "apps/run/report.hpp"
#include "apps/run/run_watch.hpp"
#include "codelets/actions/action.hpp"
#include "solvers/eigen/lanczos.hpp"
#include "solvers/squared_system.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace quarkstar::app {

/// What is asked for.
struct EigenRun {
  RunConfig config;  ///< configuration, action, cut, session and JSON; what belongs to sources and solvers means nothing
  EigenSettings settings;
  Precision store = Precision::double_;  ///< of the vectors in the file
  BasisMemory basis_memory = BasisMemory::device;
  std::string out;  ///< the file of vectors; a solve that was interrupted or killed goes on from OUT.restart
};

/// A on the graph, in double precision, for blocks of so many vectors.
class EigenOperator {
 public:
  /// problem: eigen_problem() of the operator; its action outlives this. tune: measure speed settings that are not in the tune cache.
  EigenOperator(const Action& action, const runtime::Decomposition& decomposition, double mass, Schur schur, int block, bool tune);
  LinearOperator& operator*() const { return squared_ ? static_cast<LinearOperator&>(*squared_) : *system_; }

 private:
  std::unique_ptr<PreparedAction> prepared_;
  std::unique_ptr<EvenOdd> system_;
  std::unique_ptr<SquaredSystem> squared_;
};

/// Throws Error(input) for an action whose eigenvectors would have a fifth dimension.
void require_four_dimensions(const ActionKind& kind, const SettingValues& settings);

/// Of a solve that converged: the vectors as header.stored has them, and the header with its values and the residuals |A v - lambda v| /
/// |v| of these vectors. a: the solve's. lanczos outlives what comes back.
EigenVectorsOf stored_modes(EigenHeader& header, const EigenResult& result, LinearOperator& a, const BlockLanczos& lanczos);

/// What came of it.
struct EigenReport {
  RunReport run;
  EigenResult result;
  std::string problem;
  std::vector<double> residuals;  ///< of the vectors as they are stored
  double seconds = 0;             ///< of the eigenvectors alone
};

/// Computes the lowest modes and writes `out`, and the JSON where one is wanted. planned: once it is clear what runs where. Under MPI all
/// ranks call with the same settings. Throws what settings, links, memory and files may; Interrupted{out.restart} where watch says so.
EigenReport run_eigen(EigenRun run, RunWatch& watch = unwatched(), const std::function<void(const RunReport&)>& planned = {});

}  // namespace quarkstar::app
