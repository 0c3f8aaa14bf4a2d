#pragma once
// Between four-dimensional fields and the walls of the fifth dimension.
#include "codelets/actions/domain_wall/parameters.hpp"
#include "codelets/actions/prepared_action.hpp"
#include "codelets/actions/wilson/hopping.hpp"

#include <functional>

namespace quarkstar::domain_wall {

/// b_0 = D_- P+ eta, b_{Ls-1} = D_- P- eta, D_- = 1 - c D_W, other slices 0;  q = P- x_0 + P+ x_{Ls-1};  q_mp = P+ x_{Ls/2-1} + P-
/// x_{Ls/2}. In double precision. Cost: a hop of all slices where c is not 0, else copies.
class Walls final : public PhysicalFields {
 public:
  /// four: as the layout of the operator's lattice, without slices (one lane where these are in lanes); hopping: for so many right-hand
  /// sides.
  Walls(LatticePointer four, const Parameters& parameters, std::function<wilson::Hopping&(int vectors)> hopping);

  const LatticePointer& lattice() const override { return four_; }
  void load(const FullField& b, const FullField& eta) override;
  void store(const FullField& q, const FullField& x) override;
  std::vector<std::vector<double>> midpoint(const FullField& x) override;

 private:
  LatticePointer four_;
  Parameters parameters_;
  std::function<wilson::Hopping&(int)> hopping_;
};

}  // namespace quarkstar::domain_wall
