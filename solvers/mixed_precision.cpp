#include "solvers/mixed_precision.hpp"

#include "codelets/field/blas.hpp"
#include "codelets/field/transfer.hpp"

#include <algorithm>
#include <cmath>

namespace quarkstar {

KrylovResult solve_below_double(LinearOperator& outer, LinearOperator& inner, KrylovSolver krylov, const SolverSettings& settings,
                                const SpinorField& y, const SpinorField& rhs, KrylovLimits limits, double rhs_norm2,
                                const KrylovProgress& progress) {
  const bool half = inner.lattice()->precision() == Precision::half;
  const bool reliable = settings.updates == Updates::reliable;
  // What one solve without refreshes can gain: five digits in single precision, two in half; asking for more would end
  // in stagnation.
  const double gain2 = half ? 1e-4 : 1e-10;
  limits.patience = 200;
  // A power of two brings |r| near 1, away from where single precision underflows; it changes no digit.
  const double scale = std::exp2(-std::round(0.5 * std::log2(rhs_norm2)));
  limits.target_norm2 = (reliable ? limits.target_norm2 : std::max(limits.target_norm2, gain2 * rhs_norm2)) * scale * scale;
  const SpinorField x(inner.lattice(), inner.parity()), r(inner.lattice(), inner.parity());
  const SpinorField wide(outer.lattice(), outer.parity()), scaled(outer.lattice(), outer.parity());
  blas::submit<blas::Fill>({&y}, {{{0, 0}}});
  blas::submit<blas::Fill>({&scaled}, {{{0, 0}}});  // a refresh that is not due keeps what is there, so something must be
  blas::submit<blas::Scale>({&wide, &rhs}, {{{scale, 0}}});
  transfer::convert(r, wide);
  if (reliable) {
    limits.refresh.drop = settings.refresh_drop > 0 ? settings.refresh_drop : half ? 0.1 : 1e-3;
    limits.refresh.submit = [&](const SpinorField& inner_x, const SpinorField& inner_r, const runtime::Guard& guard) {
      transfer::convert(wide, inner_x, guard);
      blas::submit<blas::AddScaled>({&y, &wide}, {{{1 / scale, 0}}}, guard);
      blas::submit<blas::Fill>({&inner_x}, {{{0, 0}}}, guard);
      outer.apply(wide, y, {}, false, guard);
      blas::submit<blas::AddScaled>({&wide, &rhs}, {{{-1, 0}}}, guard);
      blas::submit<blas::Scale>({&scaled, &wide}, {{{-scale, 0}}}, guard);
      transfer::convert(inner_r, scaled, guard);
    };
  }
  const KrylovProgress unscaled = [&](int iterations, double norm2) { return progress(iterations, norm2 / (scale * scale)); };
  KrylovResult result = krylov(inner, x, r, limits, progress ? unscaled : KrylovProgress{});
  for (double& norm2 : result.norm2) norm2 /= scale * scale;
  transfer::convert(wide, x);
  blas::submit<blas::AddScaled>({&y, &wide}, {{{1 / scale, 0}}});
  return result;
}

}  // namespace quarkstar
