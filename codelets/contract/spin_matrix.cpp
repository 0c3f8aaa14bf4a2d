#include "codelets/contract/spin_matrix.hpp"

namespace quarkstar {
namespace {
constexpr std::complex<double> i_unit{0, 1};
}

SpinMatrix spin_unit() { return {{0, 1, 2, 3}, {1, 1, 1, 1}}; }

SpinMatrix spin_gamma(int mu) {
  switch (mu) {
    case 0:
      return {{3, 2, 1, 0}, {i_unit, i_unit, -i_unit, -i_unit}};
    case 1:
      return {{3, 2, 1, 0}, {-1, 1, 1, -1}};
    case 2:
      return {{2, 3, 0, 1}, {i_unit, -i_unit, -i_unit, i_unit}};
    default:
      return {{2, 3, 0, 1}, {1, 1, 1, 1}};
  }
}

SpinMatrix spin_gamma5() { return {{0, 1, 2, 3}, {1, 1, -1, -1}}; }

SpinMatrix operator*(const SpinMatrix& a, const SpinMatrix& b) {
  SpinMatrix product;
  for (std::size_t row = 0; row < 4; ++row) {
    const auto between = static_cast<std::size_t>(a.column[row]);
    product.column[row] = b.column[between];
    product.phase[row] = a.phase[row] * b.phase[between];
  }
  return product;
}

}  // namespace quarkstar
