#pragma once
// Real matrices in the fifth dimension, one for each chirality, in host memory.
#include "codelets/actions/domain_wall/parameters.hpp"

#include <array>
#include <vector>

namespace quarkstar::domain_wall {

/// (T psi)_s = sum over s' of (T+_ss' P+ + T-_ss' P-) psi_s'.
class SliceMatrix {
 public:
  static constexpr int chiralities = 2;  ///< gamma_5 = +1, then -1
  explicit SliceMatrix(int slices);
  static SliceMatrix diagonal(const std::vector<double>& values);
  static SliceMatrix identity(int slices) { return diagonal(std::vector<double>(static_cast<std::size_t>(slices), 1)); }

  int slices() const { return slices_; }
  double& at(int chirality, int row, int column) { return numbers_[static_cast<std::size_t>(chirality)][place(row, column)]; }
  double at(int chirality, int row, int column) const { return numbers_[static_cast<std::size_t>(chirality)][place(row, column)]; }

  SliceMatrix transposed() const;
  friend SliceMatrix operator*(const SliceMatrix& a, const SliceMatrix& b);
  /// By elimination with exchanges of rows; of a singular matrix not finite.
  SliceMatrix inverse() const;
  /// sqrt(|T|_1 |T|_infinity), which no |T psi| / |psi| exceeds.
  double norm() const;
  bool is_diagonal() const;

 private:
  std::size_t place(int row, int column) const { return static_cast<std::size_t>(row * slices_ + column); }
  int slices_;
  std::array<std::vector<double>, chiralities> numbers_;
};

/// diag(d) + diag(e) L, whose mass is m.
SliceMatrix with_neighbours(const std::vector<double>& d, const std::vector<double>& e, double mass);

/// The operator's matrices for one mass: M_ee = M_oo = site, M_eo = -H_eo hops (with the factor 1/2 in it).
struct SiteMatrices {
  SliceMatrix site, hops;
};
SiteMatrices site_matrices(const Parameters& parameters, double mass);

}  // namespace quarkstar::domain_wall
