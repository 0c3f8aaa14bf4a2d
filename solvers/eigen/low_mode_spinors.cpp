#include "solvers/eigen/low_mode_spinors.hpp"

#include "codelets/actions/linear_operator.hpp"
#include "codelets/contract/mesons.hpp"
#include "codelets/contract/mode_products.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/quark_smear/colours.hpp"
#include "solvers/solver.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <memory>

namespace quarkstar {
namespace {

using SpinFamily = contract::ModeProductsOfAllSites;
constexpr int spins = spinor_components / colour_components;
static_assert(spins == SpinFamily::vectors);
constexpr int spinors_at_once = most_vectors / 2 / spins;  ///< of each of two groups, as colour vectors of one field
static_assert(low_mode_group % spinors_at_once == 0);

/// [spin of i][spin of j] of v_i^+ v_j, colours summed: a matrix of pair_columns for each, a row for each time, or one for a site.
using SpinProducts = std::array<std::array<Eigen::MatrixXd, spins>, spins>;

/// What stands between the quarks at the sink and at the source of a meson.
struct Ends {
  contract::SpinMatrix sink, source;
};
Ends ends_of(int channel) {
  if (channel == 16) return {contract::spin_gamma(3), contract::spin_basis(0)};  // a4p
  const contract::SpinMatrix g = contract::spin_basis(contract::Mesons::gamma[channel]);
  return {contract::spin_gamma5 * g, g * contract::spin_gamma5};
}
/// 1 of a hermitian matrix, -1 of an antihermitian one.
int sign_of_adjoint(const contract::SpinMatrix& k) { return std::ranges::equal(k.adjoint().power, k.power) ? 1 : -1; }

/// v_i^+ K v_j from the products of spins.
Eigen::MatrixXd between(const SpinProducts& products, const contract::SpinMatrix& k) {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(products[0][0].rows(), pair_columns);
  for (int row = 0; row < spins; ++row) {
    const Eigen::MatrixXd& product = products[static_cast<std::size_t>(row)][static_cast<std::size_t>(row ^ k.flip)];
    const int power = k.power[row], minus_re = power == 1 || power == 2 ? -1 : 1, minus_im = power >= 2 ? -1 : 1;
    for (int column = 0; column < pair_columns; column += 2) {
      sum.col(column) += minus_re * product.col(power % 2 == 0 ? column : column + 1);
      sum.col(column + 1) += minus_im * product.col(power % 2 == 0 ? column + 1 : column);
    }
  }
  return sum;
}

class SpinorLowModes {
 public:
  SpinorLowModes(Solver& solver, const ModePairs& modes, double mass)
      : modes_(modes),
        lattice_(modes.lattice()->decomposition().lattice()),
        system_(solver.system(low_mode_group, mass)),
        image_(group_field()),
        pair_(modes.lattice(), colour_components, 2 * spinors_at_once * spins),
        all_(zeros()),
        of_sources_(modes.sources().size(), zeros()) {
    if (system_->parity() != modes.parity()) throw ShapeError("spinor_low_modes", "modes on the other parity than the system's");
    blas::submit<blas::Fill>({&image_.of(1 - modes.parity())}, {0.0});
  }

  void compute(const std::function<void(double)>& progress) {
    const Group left{group_field(), group_field()}, right{group_field(), group_field()};
    modes_.for_all(
        [&](int i) {
          load(left, i);
          values_.push_back(modes_.at_sources(left.b));
        },
        [&](int j) { load(right, j); },
        [&](int i, int j) {
          const Group& other = j < i ? right : left;
          add(i, j, products_of(left.a, other.a), products_of(left.b, other.b));
        },
        progress);
  }

  LowModeMesons mesons() const {
    LowModeMesons result{all_, of_sources_};
    for (std::vector<double>& of_channel : result.all)
      for (double& value : of_channel) value /= static_cast<double>(volume(lattice_));
    return result;
  }

 private:
  struct Group {
    FullField a, b;
  };
  FullField group_field() const { return {modes_.lattice(), spinor_components, low_mode_group}; }
  MesonTimes zeros() const { return MesonTimes(contract::Mesons::numbers, std::vector<double>(static_cast<std::size_t>(lattice_[3]))); }

  /// a_i and b_i of a group; zero where there are no more modes.
  void load(const Group& to, int group) const {
    const int near = modes_.parity(), far = 1 - near;
    modes_.load(to.a.of(near), group);
    system_->apply(image_.of(near), to.a.of(near), {}, false, {});
    system_->prepare(to.b.of(near), image_, true);
    // On q the right-hand sides of M a and M^+ b are zero, as image_ is there.
    system_->reconstruct(to.a.of(far), image_, to.a.of(near));
    system_->reconstruct(to.b.of(far), image_, to.b.of(near), true);
  }

  SpinProducts zero_products(int rows) const {
    SpinProducts products;
    for (auto& of_spin : products) of_spin.fill(Eigen::MatrixXd::Zero(rows, pair_columns));
    return products;
  }

  SpinProducts products_of(const FullField& left, const FullField& right) const {
    const int at_once = spinors_at_once * spins;
    SpinProducts products = zero_products(lattice_[3]);
    for (int first_i = 0; first_i < low_mode_group; first_i += spinors_at_once)
      for (int first_j = 0; first_j < low_mode_group; first_j += spinors_at_once) {
        quark_smear::spread(pair_, left, numbers_from(first_i, spinors_at_once));
        quark_smear::spread(pair_, right, numbers_from(first_j, spinors_at_once), at_once);
        const std::vector<std::vector<double>> of_pairs = products_by_fours(pair_, SpinFamily::name, {});
        for (int p = 0; p < static_cast<int>(of_pairs.size()); ++p) {
          const int i = first_i + p / spinors_at_once, j = first_j + p % spinors_at_once;
          auto next = of_pairs[static_cast<std::size_t>(p)].begin();
          for (int t = 0; t < lattice_[3]; ++t)
            for (auto& of_spin : products)
              for (Eigen::MatrixXd& of_spins : of_spin)
                for (int part = 0; part < 2; ++part) of_spins(t, 2 * (low_mode_group * i + j) + part) = *next++;
        }
      }
    return products;
  }

  /// b_i^+(y) b_j(y) of each pair of spins.
  SpinProducts at_source(std::size_t source, int i_group, int j_group) const {
    SpinProducts products = zero_products(1);
    const SmallMatrix &left = values_[static_cast<std::size_t>(i_group)][source],
                      &right = values_[static_cast<std::size_t>(j_group)][source];
    for (int a = 0; a < spins; ++a)
      for (int b = 0; b < spins; ++b)
        products[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)].row(0) =
            columns_of(left.middleCols(colour_components * a, colour_components) *
                       right.middleCols(colour_components * b, colour_components).adjoint())
                .transpose();
    return products;
  }

  void add(int i_group, int j_group, const SpinProducts& of_a, const SpinProducts& of_b) {
    const Eigen::VectorXd weights = modes_.weights(i_group, j_group, [](double value) { return 1 / value; });
    std::vector<SpinProducts> at_sources;
    for (std::size_t s = 0; s < of_sources_.size(); ++s) at_sources.push_back(at_source(s, i_group, j_group));
    for (int c = 0; c < contract::Mesons::numbers; ++c) {
      const auto channel = static_cast<std::size_t>(c);
      const Ends ends = ends_of(c);
      const Eigen::VectorXd signed_weights = sign_of_adjoint(ends.sink) * weights;
      const Eigen::MatrixXd sink = between(of_a, ends.sink) * signed_weights.asDiagonal();
      add_all_slices(all_[channel], sink, between(of_b, ends.source));
      for (std::size_t s = 0; s < of_sources_.size(); ++s)
        add_from(of_sources_[s][channel], sink, between(at_sources[s], ends.source).transpose(), modes_.sources()[s].position[3], 1);
    }
  }

  const ModePairs& modes_;
  Coord lattice_;
  std::unique_ptr<EvenOdd> system_;
  FullField image_;  ///< Mh v on p, zero on q
  FullField pair_;
  std::vector<std::vector<SmallMatrix>> values_;  ///< of b, [group][source]
  MesonTimes all_;                                ///< the sum
  std::vector<MesonTimes> of_sources_;
};

}  // namespace

LowModeMesons spinor_low_modes(Solver& solver, const ModePairs& modes, double mass, const std::function<void(double)>& progress) {
  SpinorLowModes average(solver, modes, mass);
  average.compute(progress);
  return average.mesons();
}

double spinor_low_mode_bytes(const runtime::Block& block) {
  // Both parities of a and b of two groups, of the image and of the pair, 8 spinors too; of one a block of the basis, a point, and what the
  // system keeps.
  constexpr int vectors = 2 * (4 + 1 + 1) * low_mode_group + Basis::most_block + spinor_components + 2 * low_mode_group;
  return basis_bytes(block, spinor_components, vectors) + spinors_at_once * spinors_at_once * spinor_low_mode_sum_bytes(block.extents[3]);
}

double spinor_low_mode_sum_bytes(int times) { return products_bytes(SpinFamily::name, 1, times); }

}  // namespace quarkstar
