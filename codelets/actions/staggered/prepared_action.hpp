#pragma once
// The staggered operator in one precision.
#include "codelets/actions/prepared_action.hpp"
#include "codelets/actions/staggered/even_odd.hpp"

namespace quarkstar::staggered {

/// What tuning must know of the Dslash. long_reals: 0 for none.
stencil::Subject tuning_subject(Precision precision, int long_reals);

class PreparedAction : public quarkstar::PreparedAction {
 public:
  /// links: with all phases, of this rank's part and of hops into it, or more. Throws ShapeError when one is missing. wide: the same in
  /// double precision, with links of 18 reals, from which they are copied, or nullptr.
  PreparedAction(const runtime::Decomposition& decomposition, Precision precision, const smear::StaggeredLinks& links, int long_reals,
                 const Speed& speed, double resident, const PreparedAction* wide = nullptr);

  /// The same with long links of `long_reals` reals: layout, order of sites and fat links are those of `other`, which has long links.
  PreparedAction(const PreparedAction& other, const smear::StaggeredLinks& links, int long_reals);

  std::unique_ptr<quarkstar::EvenOdd> system(int vectors, const PerVector& mass, std::optional<int> parity = {}) override {
    return std::make_unique<EvenOdd>(static_cast<Dslash&>(stencil(vectors)), mass, parity.value_or(EvenOdd::solved_parity));
  }
  void check_mass(double mass) const override;
  std::optional<double> shift_between(double mass, double base) const override { return 4 * (mass * mass - base * base); }
  bool normal_keeps_parity() const override { return true; }

 private:
  std::unique_ptr<stencil::Stencil> make_stencil(int vectors) override { return std::make_unique<Dslash>(even_, odd_, vectors); }

  Links even_, odd_;
};

}  // namespace quarkstar::staggered
