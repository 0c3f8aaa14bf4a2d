#include "codelets/contract/spin_matrix.hpp"

#include "codelets/spin/spin.hpp"

namespace quarkstar {

SpinMatrix spin_unit() { return {{0, 1, 2, 3}, {1, 1, 1, 1}}; }

SpinMatrix spin_gamma(int mu) {
  constexpr std::complex<double> power_of_i[4] = {1, {0, 1}, -1, {0, -1}};
  SpinMatrix gamma;
  for (std::size_t row = 0; row < 4; ++row) {
    const site::GammaEntry entry = site::gamma_entry(mu, static_cast<int>(row));
    gamma.column[row] = entry.column;
    gamma.phase[row] = power_of_i[entry.power];
  }
  return gamma;
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
