#include "solvers/eigen/break_even.hpp"

#include "codelets/field/blas.hpp"
#include "codelets/field/noise.hpp"
#include "codelets/field/norms.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/clock.hpp"
#include "solvers/solver_choice.hpp"

#include <cmath>

namespace quarkstar {
namespace {

constexpr std::uint64_t break_even_seed = 4;
constexpr int most_break_even_iterations = 100000;

}  // namespace

std::optional<double> BreakEven::right_hand_sides(double seconds) const {
  const double saved = without.seconds - with.seconds;
  return saved > 0 ? std::optional(std::ceil(seconds / saved)) : std::nullopt;
}

std::optional<BreakEven> measure_break_even(LinearOperator& a, const std::function<void(const Field& x, const Field& b)>& known,
                                            double tolerance, const std::function<bool()>& goes_on) {
  const Field b = a.field(), r = a.field(), x = a.field(), image = a.field();
  write_noise(b, break_even_seed, 0);
  KrylovLimits limits;
  limits.most_iterations = limits.patience = iterations_for_all(most_break_even_iterations);
  limits.target_norm2 = same_for_all(tolerance * tolerance * norms2(b).front());
  const KrylovProgress progress = [&](int, const double*) { return goes_on(); };
  const auto solve = [&](bool deflated) -> std::optional<BreakEven::Solve> {
    const double start = runtime::now_us();
    blas::submit<blas::Scale>({&r, &b}, {1.0});
    if (deflated) {
      known(x, b);
      a.apply(image, x, {}, false, {});
      blas::submit<blas::AddScaled>({&r, &image}, {-1.0});
    }
    const KrylovResult result = solve_by(conjugate_gradients(true).make, a, x, r, limits, progress).of_vectors.front();
    runtime::Session::current().wait_all();
    if (result.reason != StopReason::converged) return std::nullopt;
    return BreakEven::Solve{result.iterations, 1e-6 * (runtime::now_us() - start)};
  };
  if (!solve(true)) return std::nullopt;
  const auto with = solve(true), without = with ? solve(false) : std::nullopt;
  if (!without) return std::nullopt;
  return BreakEven{tolerance, *without, *with};
}

}  // namespace quarkstar
