#include "solvers/eigen/chebyshev.hpp"

#include "codelets/field/blas.hpp"
#include "runtime/graph/batch.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <cmath>

namespace quarkstar {

int filter_degree(const SpectralWindow& window) {
  constexpr double exponent = 4;  // cosh(2 * 4) = 1490
  constexpr int most = 2000;
  return std::clamp(static_cast<int>(std::ceil(exponent / std::sqrt(window.low / window.high))), 4, most);
}

ChebyshevFilter::ChebyshevFilter(LinearOperator& a, int degree, const SpectralWindow& window)
    : a_(a), degree_(degree), window_(window), z_{a.field(), a.field()}, image_(a.field()) {
  if (degree < 0 || (degree > 0 && !(window.low >= 0 && window.low < window.high)))
    throw ShapeError("ChebyshevFilter", "a degree below 0, or no window");
}

void ChebyshevFilter::apply(const Field& out, const Field& in) const {
  if (degree_ == 0) return a_.apply(out, in, {}, false, {});
  const double middle = (window_.high + window_.low) / 2, half = (window_.high - window_.low) / 2;
  // T_k = s_k z_k with signs s_0 = s_1 = 1, s_(k+1) = -s_(k-1), so that z_(k+1) = z_(k-1) + s_k s_(k+1) 2 (A - c) / e z_k in one pass.
  const auto sign = [](int k) { return k % 4 < 2 ? 1.0 : -1.0; };
  blas::submit<blas::Scale>({&z_[0], &in}, {1.0});
  a_.apply(image_, in, {}, false, {});
  blas::submit<blas::Scale>({&z_[1], &image_}, {1 / half});
  blas::submit<blas::AddScaled>({&z_[1], &in}, {-middle / half});
  for (int k = 1; k < degree_;) {
    runtime::Batch batch;  // four steps are alike every time
    for (int i = 0; i < 4 && k < degree_; ++i, ++k) {
      const double factor = 2 * sign(k) * sign(k + 1) / half;
      const Field &latest = z_[k % 2], &next = z_[(k + 1) % 2];
      a_.apply(image_, latest, {}, false, {});
      blas::submit<blas::AddScaledPair>({&next, &image_, &latest}, {factor, -factor * middle});
    }
    batch.submit();
  }
  blas::submit<blas::Scale>({&out, &z_[degree_ % 2]}, {sign(degree_) * (degree_ % 2 == 0 ? 1.0 : -1.0)});
}

}  // namespace quarkstar
