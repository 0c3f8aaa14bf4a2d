#pragma once
// After how many right-hand sides modes have paid.
#include "codelets/actions/linear_operator.hpp"
#include "solvers/krylov/krylov.hpp"

#include <functional>
#include <optional>

namespace quarkstar {

/// What a right-hand side takes by conjugate gradient without modes and with them.
struct BreakEven {
  struct Solve {
    int iterations = 0;
    double seconds = 0;
  };
  double tolerance = 0;  ///< |r| / |b|
  Solve without, with;
  /// Of so many seconds that the modes took: the right-hand side from which on they have paid. None where they save no time.
  std::optional<double> right_hand_sides(double seconds) const;
};

/// Vectors that measuring holds at most: four of its own, three of conjugate gradient, two of a second even-odd system and its square.
inline constexpr int fields_of_break_even = 9;

/// Solves A x = b for one b of noise, from zero and from x = known(b), the modes' part of the solution: measured, after one that warms up.
/// a: hermitian and positive, of one vector, in double precision. Waits. None where `goes_on` says false, or one does not converge.
std::optional<BreakEven> measure_break_even(LinearOperator& a, const std::function<void(const Field& x, const Field& b)>& known,
                                            double tolerance, const std::function<bool()>& goes_on);

}  // namespace quarkstar
