#pragma once
// The restart files of right-hand sides that are solved together.
#include "apps/run/run_state.hpp"
#include "solvers/solve_state.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::app {

/// One file for the solution of each, and with --krylov-state one for the state of their solve. Nothing where no files are wanted.
class GroupFiles {
 public:
  GroupFiles(RunState& run, const std::string& equation, const std::vector<RightHandSide>& group);

  // Of n right-hand sides n fields, or with a fifth dimension one for each slice too, [s n + v].

  /// Solutions where there are files, and the solve that goes on.
  std::optional<SolveState> load(std::span<HostField> solutions);
  /// The solution of right-hand side v.
  void save(std::size_t v, std::span<const HostField> solutions, int iterations) const;
  /// The solve has ended, uninterrupted: its state is what came of it, and where not all have an answer there is none to go on from.
  void end(const std::vector<SolveResult>& results) const;
  Snapshots snapshots();

 private:
  RunState& run_;
  std::vector<const Checkpoint*> checkpoints_;  ///< of each right-hand side, as the keys; none without files
  std::vector<RestartKey> keys_;
  RestartKey state_key_;  ///< empty: no state is kept
  std::vector<int> done_before_;
};

}  // namespace quarkstar::app
