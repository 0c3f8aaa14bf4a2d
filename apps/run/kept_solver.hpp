#pragma once
// Solvers kept for the next quark of a campaign, which differs in its mass alone.
#include "apps/run/config.hpp"
#include "codelets/actions/action_kind.hpp"
#include "runtime/cut/decomposition.hpp"
#include "solvers/solver.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::app {

class KeptSolver {
 public:
  /// They go before the operator whose links they have.
  struct Held {
    RunOperator operation;
    std::vector<std::unique_ptr<Solver>> solvers;  ///< of each island; none: nothing is held
  };

  /// What two quarks have in common that can take the same solvers on one configuration: all but mass, sources and outputs. Empty where a
  /// solver is made for one mass: with multigrid, a preconditioner or known modes, and where masses have links of their own.
  static std::string key_of(const RunConfig& config, std::span<const runtime::Decomposition> islands);

  /// For what has this key. What is kept for others goes, before links are made that need its memory. Collective.
  void begin(const std::string& key);
  /// What was kept, if it solves for the masses; else that goes.
  Held take(std::span<const double> masses);
  /// Keeps it for what has the key of begin(), unless that is empty.
  void keep(Held held);
  /// Before another configuration.
  void forget() { begin(""); }

 private:
  std::string key_;
  Held held_;
};

}  // namespace quarkstar::app
