#include "solvers/eigen/mode_pairs.hpp"

#include "codelets/contract/mode_products.hpp"
#include "codelets/field/gram.hpp"
#include "codelets/field/source_field.hpp"
#include "codelets/lattice/placement.hpp"

#include <algorithm>
#include <numeric>

namespace quarkstar {
namespace {

static_assert(low_mode_group % contract::ModeProducts::vectors == 0 && Basis::most_block % low_mode_group == 0);

std::vector<contract::Choice> all_of(std::string_view family) { return contract::choose({family}, {std::string(family)}); }

}  // namespace

std::vector<int> numbers_from(int first, int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

Eigen::VectorXd columns_of(const Eigen::Ref<const Eigen::MatrixXcd>& products) {
  Eigen::VectorXd columns(pair_columns);
  for (int i = 0; i < low_mode_group; ++i)
    for (int j = 0; j < low_mode_group; ++j) {
      columns(2 * (low_mode_group * i + j)) = products(i, j).real();
      columns(2 * (low_mode_group * i + j) + 1) = products(i, j).imag();
    }
  return columns;
}

void ModePairs::load(const Field& to, int group) const {
  const Basis& basis = modes_.vectors();
  const int first = group * low_mode_group, block = first / basis.block() * basis.block();
  const Field some = basis.field();
  basis.extract(some, block);
  SmallMatrix place = SmallMatrix::Zero(basis.block(), low_mode_group);
  for (int v = 0; v < std::min(low_mode_group, modes_.modes() - first); ++v) place(first - block + v, v) = 1;
  multiply(to, nullptr, some, place);
}

std::vector<SmallMatrix> ModePairs::at_sources(const FullField& group) const {
  std::vector<SmallMatrix> values;
  const int components = group.even.components(), vectors = group.even.vectors(), sums = 2 * vectors * components;
  for (const Source& source : sources_) {
    std::vector<SourceColumn> columns;
    for (int c = 0; c < components; ++c) columns.push_back({source, c});
    const Field& of_parity = group.of(parity_of(source.position));
    const Field point(lattice(), of_parity.parity(), components, components);
    SourceColumns(lattice()->decomposition(), std::move(columns)).submit(point);
    const runtime::PartialSums partials = partial_sums_on(*lattice(), sums);
    blas::products(of_parity, point, partials);
    values.push_back(matrix_of_products(runtime::values_of(partials, sums).data(), vectors, components));
  }
  return values;
}

void ModePairs::for_all(const std::function<void(int)>& load_left, const std::function<void(int)>& load_right,
                        const std::function<void(int, int)>& use, const std::function<void(double)>& progress) const {
  for (int i = 0; i < groups(); ++i) {
    load_left(i);
    for (int j = 0; j <= i; ++j) {
      if (progress) progress((i * (i + 1.0) / 2 + j) / (groups() * (groups() + 1.0) / 2));
      if (j < i) load_right(j);
      use(i, j);
    }
  }
}

Eigen::VectorXd ModePairs::weights(int i_group, int j_group, const std::function<double(double)>& weight) const {
  Eigen::VectorXd of_group[2];
  for (const int side : {0, 1}) {
    of_group[side] = Eigen::VectorXd::Zero(low_mode_group);
    const int first = (side == 0 ? i_group : j_group) * low_mode_group;
    for (int v = 0; v < std::min(low_mode_group, modes_.modes() - first); ++v)
      of_group[side](v) = weight(modes_.values()[static_cast<std::size_t>(first + v)]);
  }
  Eigen::VectorXd weights(pair_columns);
  for (int column = 0; column < pair_columns; ++column)
    weights(column) = (i_group == j_group ? 1 : 2) * of_group[0](column / 2 / low_mode_group) * of_group[1](column / 2 % low_mode_group);
  return weights;
}

std::vector<std::vector<double>> products_by_fours(const FullField& pair, std::string_view family, const contract::Request& request) {
  constexpr int some = contract::ModeProducts::vectors;
  const int half = pair.even.vectors() / 2;
  const std::vector<contract::Choice> choices = all_of(family);
  std::vector<contract::Contraction> parts;
  for (int i = 0; i < half; i += some)
    for (int j = 0; j < half; j += some) {
      std::vector<int> vectors = numbers_from(i, some);
      for (const int w : numbers_from(half + j, some)) vectors.push_back(w);
      parts.emplace_back(choices, request, pair, vectors, Source{});
    }
  std::vector<std::vector<double>> products;
  for (const contract::Contraction& part : parts) products.push_back(part.sums().front());
  return products;
}

double products_bytes(std::string_view family, int momenta, int times) {
  return contract::sum_bytes(all_of(family), static_cast<std::size_t>(momenta), times);
}

void add_all_slices(std::vector<double>& sums, const Eigen::MatrixXd& sink, const Eigen::MatrixXd& source) {
  const Eigen::MatrixXd slices = sink * source.transpose();
  const int count = static_cast<int>(sums.size());
  for (int t = 0; t < count; ++t)
    for (int from = 0; from < count; ++from) sums[static_cast<std::size_t>(t)] += slices((from + t) % count, from);
}

void add_from(std::vector<double>& sums, const Eigen::MatrixXd& sink, const Eigen::VectorXd& source, int time, double factor) {
  const Eigen::VectorXd of_source = sink * source;
  const int count = static_cast<int>(sums.size());
  for (int t = 0; t < count; ++t) sums[static_cast<std::size_t>(t)] += factor * of_source((time + t) % count);
}

}  // namespace quarkstar
