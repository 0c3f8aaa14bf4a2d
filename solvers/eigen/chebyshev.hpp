#pragma once
// Polynomials of an operator that raise one end of its spectrum.
#include "codelets/actions/linear_operator.hpp"

namespace quarkstar {

/// The part of a spectrum that a filter presses down.
struct SpectralWindow {
  double low = 0, high = 0;
};

/// p(A) = (-1)^d T_d((A - c) / e) of a hermitian A, c and e the middle and half the width of a window, T_d Chebyshev's polynomial: at most
/// 1 in the window, and growing fast and monotonically below it, at 0 about cosh(2 d sqrt(low / high)). Eigenvectors of p(A) are those of
/// A. Cost: d applications of A, and d passes over three vectors. Degree 0: A itself. Source: Y. Saad, Numerical Methods for Large
/// Eigenvalue Problems (2011), section 7.4.
class ChebyshevFilter {
 public:
  /// a: outlives this. Throws ShapeError unless degree >= 0 and 0 <= low < high.
  ChebyshevFilter(LinearOperator& a, int degree, const SpectralWindow& window);
  int degree() const { return degree_; }
  const SpectralWindow& window() const { return window_; }
  /// Submits out = p(A) in.
  void apply(const Field& out, const Field& in) const;

 private:
  LinearOperator& a_;
  int degree_;
  SpectralWindow window_;
  Field z_[2], image_;
};

/// The degree with which modes at 0 grow by about 1500: so that a few restarts single out what is below the window, and rounding costs
/// no more than three digits of the modes at its edge.
int filter_degree(const SpectralWindow& window);

}  // namespace quarkstar
