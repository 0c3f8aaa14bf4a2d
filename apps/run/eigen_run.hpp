#pragma once
// Eigenvectors of a configuration: links in, a file of vectors out.
#include "apps/run/eigen_file.hpp"
#include "apps/run/report.hpp"
#include "apps/run/run_watch.hpp"
#include "codelets/actions/action.hpp"
#include "solvers/eigen/break_even.hpp"
#include "solvers/eigen/lanczos.hpp"
#include "solvers/eigen/reflected_operator.hpp"
#include "solvers/gamma5_operator.hpp"
#include "solvers/squared_system.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace quarkstar::app {

/// What is asked for.
struct EigenRun {
  RunConfig config;  ///< configuration, action, cut, session and JSON; what belongs to sources and solvers means nothing
  EigenTarget target;
  EigenSettings settings;
  Precision store = Precision::double_;  ///< of the vectors in the file
  BasisMemory basis_memory = BasisMemory::device;
  std::string out;  ///< the file of vectors; a solve that was interrupted or killed goes on from OUT.restart
};

/// The operator of eigenvectors on the graph, in double precision, for blocks of settings.block vectors, and what BlockLanczos takes it by.
class EigenOperator {
 public:
  /// mass: eigen_problem() of the operator has it; the action outlives this. tune: measure speed settings that are not in the tune cache.
  EigenOperator(const Action& action, const runtime::Decomposition& decomposition, double mass, Schur schur, const EigenSettings& settings,
                bool tune, EigenTarget target = {});
  LinearOperator& operator*() const { return *of_; }
  /// Outlived by this.
  BlockLanczos lanczos(const EigenSettings& settings) const;
  /// Of a solve for the lowest modes of A that converged, for a right-hand side of this mass (kappa): A of one vector, shifted by it.
  std::optional<BreakEven> break_even(const BlockLanczos& solved, const EigenResult& result, double mass,
                                      const std::function<bool()>& goes_on) const;

 private:
  std::unique_ptr<PreparedAction> prepared_;
  std::unique_ptr<EvenOdd> system_;
  std::unique_ptr<Gamma5Operator> gamma5_;
  std::unique_ptr<SquaredSystem> squared_;
  std::unique_ptr<ReflectedOperator> reflected_;
  double mass_;
  LinearOperator *positive_, *of_;  ///< what the lowest modes are computed of, and whose they are
};

/// Of a solve that converged: the vectors as header.stored has them, and the header with its values and the residuals |A v - lambda v| /
/// |v| of these vectors. a: EigenOperator's. lanczos outlives what comes back.
EigenVectorsOf stored_modes(EigenHeader& header, const EigenResult& result, LinearOperator& a, const BlockLanczos& lanczos);

/// What came of it.
struct EigenReport {
  RunReport run;
  EigenResult result;
  std::string problem;
  std::vector<double> residuals;             ///< of the vectors as they are stored
  double seconds = 0;                        ///< that finding the modes took in this job
  double seconds_of_all = 0;                 ///< of a solve that went on: with as many for each application of the jobs before
  bool serves_solves = false;                ///< they are the lowest modes of A: break_even was to be measured
  double mass = 0;                           ///< for which it is
  std::optional<BreakEven> break_even = {};  ///< none where it took longer than the modes
};

/// Computes the modes and writes `out`, and the JSON where one is wanted. planned: once it is clear what runs where. Under MPI all
/// ranks call with the same settings. Throws what settings, links, memory and files may; Interrupted{out.restart} where watch says so.
EigenReport run_eigen(EigenRun run, RunWatch& watch = unwatched(), const std::function<void(const RunReport&)>& planned = {});

}  // namespace quarkstar::app
