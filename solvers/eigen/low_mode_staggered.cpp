#include "solvers/eigen/low_mode_average.hpp"

#include "codelets/contract/contraction.hpp"
#include "codelets/contract/mode_products.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/field/source_field.hpp"
#include "codelets/quark_smear/colours.hpp"
#include "runtime/graph/binned_sum.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "solvers/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace quarkstar {
namespace {

constexpr int pair_columns = 2 * low_mode_group * low_mode_group;  ///< real and imaginary part of each product of two groups
constexpr int signs = 4;                                           ///< 1, (-1)^x, (-1)^y, (-1)^z; that of pion05 only tells the parities
static_assert(low_mode_group % contract::ModeProducts::vectors == 0 && Basis::most_block % low_mode_group == 0);

/// Below it is the rounding of D_eo D_oe, whose norm is of order 10.
constexpr double least_eigenvalue = 1e-14;

/// M_ij(t) of two groups, by sign and parity of the sites: a row for each t.
using PairProducts = std::array<std::array<Eigen::MatrixXd, 2>, signs>;
/// C_LL by sign and by whether the parities of source and sink are the same or not.
using LowModeSums = std::array<std::array<std::vector<double>, 2>, signs>;

const std::vector<contract::Choice>& all_mode_products() {
  static const std::vector<contract::Choice> choices =
      contract::choose({contract::ModeProducts::name}, {std::string(contract::ModeProducts::name)});
  return choices;
}

std::vector<int> numbers_from(int first, int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

double weight_of_mode(double value, double mass, bool sink_near, bool source_near) {
  const double n = 4 * mass * mass + value;
  if (sink_near != source_near) return 1 / n;
  return 2 * mass / (sink_near ? n : n * value);
}

int sign_at(const Coord& x, int sign) { return sign > 0 && x[static_cast<std::size_t>(sign - 1)] % 2 != 0 ? -1 : 1; }

class LowModeAverage {
 public:
  LowModeAverage(Solver& solver, const EigenProjector& modes, std::span<const double> masses, std::span<const Source> sources)
      : solver_(solver),
        modes_(modes),
        masses_(masses),
        sources_(sources),
        lattice_(solver.lattice()->decomposition().lattice()),
        all_(masses.size(), zeros()),
        of_sources_(sources.size(), all_) {
    for (int mu = 0; mu < 3; ++mu) {
      contract::Momentum half{};
      half[static_cast<std::size_t>(mu)] = lattice_[static_cast<std::size_t>(mu)] / 2;
      request_.momenta.push_back(half);
    }
  }

  void compute(const std::function<void(double)>& progress) {
    const int groups = (modes_.modes() + low_mode_group - 1) / low_mode_group;
    const FullField left = group_field(), right = group_field(), pair(solver_.lattice(), colour_components, 2 * low_mode_group);
    const std::vector<int> all = numbers_from(0, low_mode_group);
    for (int i = 0; i < groups; ++i) {
      load(left, i);
      keep_values_at_sources(left);
      for (int j = 0; j <= i; ++j) {
        if (progress) progress((i * (i + 1.0) / 2 + j) / (groups * (groups + 1.0) / 2));
        if (j < i) load(right, j);
        quark_smear::spread(pair, left, all);
        quark_smear::spread(pair, j < i ? right : left, all, low_mode_group);
        add(i, j, products_of(pair));
      }
    }
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
    const Basis& basis = modes_.vectors();
    const int first = group * low_mode_group, block = first / basis.block() * basis.block();
    const Field some = basis.field();
    basis.extract(some, block);
    SmallMatrix place = SmallMatrix::Zero(basis.block(), low_mode_group);
    for (int v = 0; v < std::min(low_mode_group, modes_.modes() - first); ++v) place(first - block + v, v) = 1;
    multiply(to.of(near()), nullptr, some, place);
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

  /// The group behind those that are there: for each source a row V_i^*(y) for each mode.
  void keep_values_at_sources(const FullField& group) {
    std::vector<SmallMatrix>& values = values_.emplace_back();
    for (const Source& source : sources_) {
      std::vector<SourceColumn> columns;
      for (int c = 0; c < colour_components; ++c) columns.push_back({source, c});
      const Field& of_parity = group.of(parity_of(source.position));
      const Field point = Field(solver_.lattice(), of_parity.parity(), colour_components, colour_components);
      SourceColumns(solver_.lattice()->decomposition(), std::move(columns)).submit(point);
      constexpr int sums = 2 * low_mode_group * colour_components;
      const runtime::PartialSums partials(static_cast<int>(solver_.lattice()->local_blocks().size()), sums);
      blas::products(of_parity, point, partials);
      values.push_back(matrix_of_products(runtime::values_of(partials, sums).data(), low_mode_group, colour_components));
    }
  }

  PairProducts products_of(const FullField& pair) const {
    constexpr int some = contract::ModeProducts::vectors;
    std::vector<contract::Contraction> parts;  // all are submitted before the first is waited for
    for (int i = 0; i < low_mode_group; i += some)
      for (int j = 0; j < low_mode_group; j += some) {
        std::vector<int> vectors = numbers_from(i, some);
        for (const int w : numbers_from(low_mode_group + j, some)) vectors.push_back(w);
        parts.emplace_back(all_mode_products(), request_, pair, vectors, Source{});
      }
    PairProducts products;
    for (auto& of_sign : products) of_sign.fill(Eigen::MatrixXd(lattice_[3], pair_columns));
    for (std::size_t part = 0; part < parts.size(); ++part) {
      constexpr int across = low_mode_group / some;
      const int first_i = static_cast<int>(part) / across * some, first_j = static_cast<int>(part) % across * some;
      const std::vector<double> sums = parts[part].sums().front();
      auto next = sums.begin();
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

  /// g_i g_j for each column; of pairs of two groups j <= i stand for both orders.
  Eigen::VectorXd weights_of(int i_group, int j_group, double mass, bool sink_near, bool source_near) const {
    Eigen::VectorXd of_group[2];
    for (const int side : {0, 1}) {
      of_group[side] = Eigen::VectorXd::Zero(low_mode_group);
      const int first = (side == 0 ? i_group : j_group) * low_mode_group;
      for (int v = 0; v < std::min(low_mode_group, modes_.modes() - first); ++v)
        of_group[side](v) = weight_of_mode(modes_.values()[static_cast<std::size_t>(first + v)], mass, sink_near, source_near);
    }
    Eigen::VectorXd weights(pair_columns);
    for (int column = 0; column < pair_columns; ++column)
      weights(column) = (i_group == j_group ? 1 : 2) * of_group[0](column / 2 / low_mode_group) * of_group[1](column / 2 % low_mode_group);
    return weights;
  }

  /// V_i^+(y) V_j(y) as the columns have it.
  Eigen::VectorXd at_source(std::size_t source, int i_group, int j_group) const {
    const SmallMatrix product =
        values_[static_cast<std::size_t>(i_group)][source] * values_[static_cast<std::size_t>(j_group)][source].adjoint();
    Eigen::VectorXd columns(pair_columns);
    for (int i = 0; i < low_mode_group; ++i)
      for (int j = 0; j < low_mode_group; ++j) {
        columns(2 * (low_mode_group * i + j)) = product(i, j).real();
        columns(2 * (low_mode_group * i + j) + 1) = product(i, j).imag();
      }
    return columns;
  }

  void add(int i_group, int j_group, const PairProducts& products) {
    const int count = lattice_[3];
    std::vector<Eigen::VectorXd> at_sources;
    for (std::size_t s = 0; s < sources_.size(); ++s) at_sources.push_back(at_source(s, i_group, j_group));
    for (std::size_t m = 0; m < masses_.size(); ++m)
      for (const int sink : {0, 1})
        for (const int source : {0, 1}) {
          const Eigen::VectorXd weights = weights_of(i_group, j_group, masses_[m], sink == near(), source == near());
          const std::size_t relation = sink == source ? 0 : 1;
          for (std::size_t sign = 0; sign < signs; ++sign) {
            const auto& of_parity = products[sign];
            const Eigen::MatrixXd weighted = of_parity[static_cast<std::size_t>(sink)] * weights.asDiagonal();
            const Eigen::MatrixXd slices = weighted * of_parity[static_cast<std::size_t>(source)].transpose();
            std::vector<double>& all = all_[m][sign][relation];
            for (int t = 0; t < count; ++t)
              for (int from = 0; from < count; ++from) all[static_cast<std::size_t>(t)] += slices((from + t) % count, from);
            for (std::size_t s = 0; s < sources_.size(); ++s) {
              const Coord& y = sources_[s].position;
              if (parity_of(y) != source) continue;
              const Eigen::VectorXd of_source = weighted * at_sources[s];
              for (int t = 0; t < count; ++t)
                of_sources_[s][m][sign][relation][static_cast<std::size_t>(t)] +=
                    sign_at(y, static_cast<int>(sign)) * of_source((y[3] + t) % count);
            }
          }
        }
  }

  MesonTimes channels_of(const LowModeSums& sums, double factor) const {
    MesonTimes channels;
    channels.fill(std::vector<double>(times()));
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
  const EigenProjector& modes_;
  std::span<const double> masses_;
  std::span<const Source> sources_;
  Coord lattice_;
  contract::Request request_;                         ///< the momenta whose phases are the signs
  std::vector<std::vector<SmallMatrix>> values_;      ///< [group][source]
  std::vector<LowModeSums> all_;                      ///< of each mass
  std::vector<std::vector<LowModeSums>> of_sources_;  ///< [source][mass]
};

}  // namespace

std::vector<LowModeMesons> low_mode_mesons(Solver& solver, const EigenProjector& modes, std::span<const double> masses,
                                           std::span<const Source> sources, const std::function<void(double)>& progress) {
  for (const Source& source : sources)
    if (source.kind != Source::Kind::point || source.smearing) throw ShapeError("low_mode_mesons", "sources that are no points");
  const std::vector<double>& values = modes.values();
  runtime::mpi::Job::current().together([&] {
    const auto zero = std::find_if(values.begin(), values.end(), [](double value) { return !(value > least_eigenvalue); });
    if (zero == values.end()) return;
    throw Error(ErrorKind::input, Parameter("low-mode-average"),
                fmt::format("mode {} has the eigenvalue {:.3g}, which is zero but for rounding, and says nothing of the other parity",
                            zero - values.begin(), *zero),
                "leave it out");
  });
  LowModeAverage average(solver, modes, masses, sources);
  average.compute(progress);
  return average.mesons();
}

double low_mode_bytes(const runtime::Block& block) {
  // Both parities of two groups, of the pair, and of what the solver applies M to and gets; of one a block of the basis and a point.
  constexpr int vectors = 2 * (2 + 2 + 2) * low_mode_group + Basis::most_block + colour_components;
  constexpr int parts = low_mode_group / contract::ModeProducts::vectors;
  return basis_bytes(block, colour_components, vectors) + parts * parts * low_mode_sum_bytes(block.extents[3]);
}

double low_mode_sum_bytes(int times) { return contract::sum_bytes(all_mode_products(), signs, times); }

}  // namespace quarkstar
