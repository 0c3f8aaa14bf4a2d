#pragma once
// What low-mode averages of all actions do with modes: a group of them with each other group, and products at each time.
#include "codelets/contract/contraction.hpp"
#include "codelets/field/source.hpp"
#include "solvers/eigen/eigen_projector.hpp"

#include <Eigen/Core>

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace quarkstar {

/// Modes whose products with as many others are computed together, and that M is applied to.
inline constexpr int low_mode_group = 8;
/// Products of two groups as real numbers: the real and the imaginary part of that of mode i with mode j at 2 (low_mode_group i + j).
inline constexpr int pair_columns = 2 * low_mode_group * low_mode_group;

/// first, first + 1, ...
std::vector<int> numbers_from(int first, int count);

/// The products of two groups, as real numbers.
Eigen::VectorXd columns_of(const Eigen::Ref<const Eigen::MatrixXcd>& products);

/// Modes in groups of low_mode_group, and what points are to them.
class ModePairs {
 public:
  /// Both outlive this. sources: points.
  ModePairs(const EigenProjector& modes, std::span<const Source> sources) : modes_(modes), sources_(sources) {}

  int groups() const { return (modes_.modes() + low_mode_group - 1) / low_mode_group; }
  int parity() const { return modes_.parity(); }
  const LatticePointer& lattice() const { return modes_.vectors().lattice(); }
  std::span<const Source> sources() const { return sources_; }

  /// The modes of a group, zero where there are no more.
  void load(const Field& to, int group) const;
  /// For each source y a row V_i^*(y) for each vector of a field that modes make. Waits.
  std::vector<Eigen::MatrixXcd> at_sources(const FullField& group) const;

  /// load_left(i), then load_right(j) and use(i, j) for each j <= i; where j = i nothing is loaded anew. progress: may be empty.
  void for_all(const std::function<void(int)>& load_left, const std::function<void(int)>& load_right,
               const std::function<void(int, int)>& use, const std::function<void(double done)>& progress) const;
  /// weight(lambda_i) weight(lambda_j) for each of pair_columns; of pairs of two groups j < i stand for both orders.
  Eigen::VectorXd weights(int i_group, int j_group, const std::function<double(double)>& weight) const;

 private:
  const EigenProjector& modes_;
  std::span<const Source> sources_;
};

/// Of each four colour vectors of the first half of `pair` with each four of the second the sums of a family, contract::ModeProducts or
/// ModeProductsOfAllSites by name, [t][momentum][channel][re, im]: those of the first four come first. All are submitted before the first
/// is waited for.
std::vector<std::vector<double>> products_by_fours(const FullField& pair, std::string_view family, const contract::Request& request);
/// Bytes of the sums of so many momenta that each thread keeps.
double products_bytes(std::string_view family, int momenta, int times);

/// sums[t] += sum_t' sink.row(t' + t) source.row(t')^T.
void add_all_slices(std::vector<double>& sums, const Eigen::MatrixXd& sink, const Eigen::MatrixXd& source);
/// sums[t] += factor sink.row(time + t) source.
void add_from(std::vector<double>& sums, const Eigen::MatrixXd& sink, const Eigen::VectorXd& source, int time, double factor);

}  // namespace quarkstar
