#include "solvers/eigen/low_mode_staggered.hpp"

#include "codelets/contract/mode_products.hpp"
#include "codelets/contract/staggered_mesons.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/quark_smear/colours.hpp"
#include "solvers/solver.hpp"

#include <array>

namespace quarkstar {
namespace {

constexpr int signs = 4;  ///< 1, (-1)^x, (-1)^y, (-1)^z; that of pion05 only tells the parities

/// M_ij(t) of two groups, by sign and parity of the sites: a row for each t.
using PairProducts = std::array<std::array<Eigen::MatrixXd, 2>, signs>;
/// C_LL by sign and by whether the parities of source and sink are the same or not.
using LowModeSums = std::array<std::array<std::vector<double>, 2>, signs>;

double weight_of_mode(double value, double mass, bool sink_near, bool source_near) {
  const double n = 4 * mass * mass + value;
  if (sink_near != source_near) return 1 / n;
  return 2 * mass / (sink_near ? n : n * value);
}

int sign_at(const Coord& x, int sign) { return sign > 0 && x[static_cast<std::size_t>(sign - 1)] % 2 != 0 ? -1 : 1; }

class StaggeredLowModes {
 public:
  StaggeredLowModes(Solver& solver, const ModePairs& modes, std::span<const double> masses)
      : solver_(solver),
        modes_(modes),
        masses_(masses),
        lattice_(solver.lattice()->decomposition().lattice()),
        all_(masses.size(), zeros()),
        of_sources_(modes.sources().size(), all_) {
    for (int mu = 0; mu < 3; ++mu) {
      contract::Momentum half{};
      half[static_cast<std::size_t>(mu)] = lattice_[static_cast<std::size_t>(mu)] / 2;
      request_.momenta.push_back(half);
    }
  }

  void compute(const std::function<void(double)>& progress) {
    const FullField left = group_field(), right = group_field(), pair(solver_.lattice(), colour_components, 2 * low_mode_group);
    const std::vector<int> all = numbers_from(0, low_mode_group);
    modes_.for_all(
        [&](int i) {
          load(left, i);
          values_.push_back(modes_.at_sources(left));
        },
        [&](int j) { load(right, j); },
        [&](int i, int j) {
          quark_smear::spread(pair, left, all);
          quark_smear::spread(pair, j < i ? right : left, all, low_mode_group);
          add(i, j, products_of(pair));
        },
        progress);
  }

  std::vector<LowModeMesons> mesons() const {
    const double sites = static_cast<double>(volume(lattice_));
    std::vector<LowModeMesons> result;
    for (std::size_t m = 0; m < masses_.size(); ++m) {
      LowModeMesons& of_mass = result.emplace_back(LowModeMesons{channels_of(all_[m], 1 / sites), {}});
      for (const std::vector<LowModeSums>& of_source : of_sources_) of_mass.of_sources.push_back(channels_of(of_source[m], 1));
    }
    return result;
  }

 private:
  std::size_t times() const { return static_cast<std::size_t>(lattice_[3]); }
  LowModeSums zeros() const {
    LowModeSums sums;
    for (auto& of_sign : sums) of_sign.fill(std::vector<double>(times()));
    return sums;
  }
  FullField group_field() const { return {solver_.lattice(), colour_components, low_mode_group}; }
  int near() const { return modes_.parity(); }

  /// V_i of a group; zero where there are no more modes.
  void load(const FullField& to, int group) const {
    modes_.load(to.of(near()), group);
    // On the other parity than that where a vector is zero M is D, whatever the mass.
    const std::vector<double> any_mass(low_mode_group, masses_.front());
    solver_.apply(
        [&](const Field& field) {
          if (field.parity() == near()) blas::submit<blas::Scale>({&field, &to.of(near())}, {1.0});
          else blas::submit<blas::Fill>({&field}, {0.0});
        },
        any_mass,
        [&](const Field& field) {
          if (field.parity() != near()) blas::submit<blas::Scale>({&to.of(field.parity()), &field}, {1.0});
        });
  }

  PairProducts products_of(const FullField& pair) const {
    constexpr int some = contract::ModeProducts::vectors, across = low_mode_group / some;
    const std::vector<std::vector<double>> fours = products_by_fours(pair, contract::ModeProducts::name, request_);
    PairProducts products;
    for (auto& of_sign : products) of_sign.fill(Eigen::MatrixXd(lattice_[3], pair_columns));
    for (std::size_t part = 0; part < fours.size(); ++part) {
      const int first_i = static_cast<int>(part) / across * some, first_j = static_cast<int>(part) % across * some;
      auto next = fours[part].begin();
      for (int t = 0; t < lattice_[3]; ++t)
        for (auto& of_sign : products)
          for (Eigen::MatrixXd& of_parity : of_sign)
            for (int i = first_i; i < first_i + some; ++i)
              for (int j = first_j; j < first_j + some; ++j)
                for (int part_of_number = 0; part_of_number < 2; ++part_of_number)
                  of_parity(t, 2 * (low_mode_group * i + j) + part_of_number) = *next++;
    }
    return products;
  }

  /// V_i^+(y) V_j(y) as the columns have it.
  Eigen::VectorXd at_source(std::size_t source, int i_group, int j_group) const {
    return columns_of(values_[static_cast<std::size_t>(i_group)][source] * values_[static_cast<std::size_t>(j_group)][source].adjoint());
  }

  void add(int i_group, int j_group, const PairProducts& products) {
    std::vector<Eigen::VectorXd> at_sources;
    for (std::size_t s = 0; s < of_sources_.size(); ++s) at_sources.push_back(at_source(s, i_group, j_group));
    for (std::size_t m = 0; m < masses_.size(); ++m)
      for (const int sink : {0, 1})
        for (const int source : {0, 1}) {
          const Eigen::VectorXd weights = modes_.weights(
              i_group, j_group, [&](double value) { return weight_of_mode(value, masses_[m], sink == near(), source == near()); });
          const std::size_t relation = sink == source ? 0 : 1;
          for (std::size_t sign = 0; sign < signs; ++sign) {
            const auto& of_parity = products[sign];
            const Eigen::MatrixXd weighted = of_parity[static_cast<std::size_t>(sink)] * weights.asDiagonal();
            add_all_slices(all_[m][sign][relation], weighted, of_parity[static_cast<std::size_t>(source)]);
            for (std::size_t s = 0; s < of_sources_.size(); ++s) {
              const Coord& y = modes_.sources()[s].position;
              if (parity_of(y) == source)
                add_from(of_sources_[s][m][sign][relation], weighted, at_sources[s], y[3], sign_at(y, static_cast<int>(sign)));
            }
          }
        }
  }

  MesonTimes channels_of(const LowModeSums& sums, double factor) const {
    MesonTimes channels(contract::StaggeredMesons::numbers, std::vector<double>(times()));
    for (std::size_t t = 0; t < times(); ++t) {
      const double same = sums[0][0][t], other = sums[0][1][t];
      channels[0][t] = factor * (same + other);
      channels[1][t] = factor * (same - other);
      for (std::size_t mu = 0; mu < 3; ++mu) channels[2 + mu][t] = factor * (sums[1 + mu][0][t] + sums[1 + mu][1][t]);
      channels[5][t] = (channels[2][t] + channels[3][t] + channels[4][t]) / 3;
    }
    return channels;
  }

  Solver& solver_;
  const ModePairs& modes_;
  std::span<const double> masses_;
  Coord lattice_;
  contract::Request request_;                         ///< the momenta whose phases are the signs
  std::vector<std::vector<SmallMatrix>> values_;      ///< [group][source]
  std::vector<LowModeSums> all_;                      ///< of each mass
  std::vector<std::vector<LowModeSums>> of_sources_;  ///< [source][mass]
};

}  // namespace

std::vector<LowModeMesons> staggered_low_modes(Solver& solver, const ModePairs& modes, std::span<const double> masses,
                                               const std::function<void(double)>& progress) {
  StaggeredLowModes average(solver, modes, masses);
  average.compute(progress);
  return average.mesons();
}

double staggered_low_mode_bytes(const runtime::Block& block) {
  // Both parities of two groups, of the pair, and of what the solver applies M to and gets; of one a block of the basis and a point.
  constexpr int vectors = 2 * (2 + 2 + 2) * low_mode_group + Basis::most_block + colour_components;
  constexpr int parts = low_mode_group / contract::ModeProducts::vectors;
  return basis_bytes(block, colour_components, vectors) + parts * parts * staggered_low_mode_sum_bytes(block.extents[3]);
}

double staggered_low_mode_sum_bytes(int times) { return products_bytes(contract::ModeProducts::name, signs, times); }

}  // namespace quarkstar
