#include "codelets/actions/clover/packed.hpp"
#include "codelets/actions/clover/site_matrices.hpp"
#include "codelets/arch/lane.hpp"
#include "codelets/field/storage.hpp"
#include "codelets/field/word_place.hpp"
#include "codelets/lattice/boxes.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/backend.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace quarkstar::clover {
namespace {

using runtime::Call;
using Complex = site::Complex<double>;

constexpr int rows = 6;

struct Block {
  Complex entries[rows][rows];
  Complex* operator[](int i) { return entries[i]; }
  const Complex* operator[](int i) const { return entries[i]; }
};

Block unpacked(const double* reals, double a, double c) {
  Block block;
  for (int i = 0; i < rows; ++i) {
    block[i][i] = {a - c * reals[i], 0};
    for (int j = 0; j < i; ++j) {
      block[i][j] = {-c * reals[packed_entry(i, j)], -c * reals[packed_entry(i, j) + 1]};
      block[j][i] = conj(block[i][j]);
    }
  }
  return block;
}

/// a^2 + shift.
Block squared(const Block& a, double shift) {
  Block square;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < rows; ++j) {
      Complex sum{i == j ? shift : 0, 0};
      for (int k = 0; k < rows; ++k) sum = multiply_add(a[i][k], a[k][j], sum);
      square[i][j] = sum;
    }
  return square;
}

/// Gauss and Jordan with the largest pivot of a column. Returns the inverse and log |det|, -infinity for a singular matrix.
std::pair<Block, double> inverse(Block a) {
  Block inverted{};
  for (int i = 0; i < rows; ++i) inverted[i][i] = {1, 0};
  double log_det = 0;
  for (int column = 0; column < rows; ++column) {
    int pivot = column;
    for (int i = column + 1; i < rows; ++i)
      if (norm2(a[i][column]) > norm2(a[pivot][column])) pivot = i;
    std::swap(a.entries[pivot], a.entries[column]);
    std::swap(inverted.entries[pivot], inverted.entries[column]);
    const double size2 = norm2(a[column][column]);
    log_det += 0.5 * std::log(size2);
    const Complex scale{a[column][column].re / size2, -a[column][column].im / size2};
    for (int j = 0; j < rows; ++j) {
      a[column][j] = multiply(scale, a[column][j]);
      inverted[column][j] = multiply(scale, inverted[column][j]);
    }
    for (int i = 0; i < rows; ++i) {
      if (i == column) continue;
      const Complex factor{-a[i][column].re, -a[i][column].im};
      for (int j = 0; j < rows; ++j) {
        a[i][j] = multiply_add(factor, a[column][j], a[i][j]);
        inverted[i][j] = multiply_add(factor, inverted[column][j], inverted[i][j]);
      }
    }
  }
  return {inverted, log_det};
}

/// The hermitian part, as a lane of a record of a SiteField.
template <class F>
void write_packed(F* record, int lane, int lanes, bool chunked, const Block& block) {
  double reals[block_reals];
  for (int i = 0; i < rows; ++i) {
    reals[i] = block[i][i].re;
    for (int j = 0; j < i; ++j) {
      reals[packed_entry(i, j)] = 0.5 * (block[i][j].re + block[j][i].re);
      reals[packed_entry(i, j) + 1] = 0.5 * (block[i][j].im - block[j][i].im);
    }
  }
  using V = site::Lane<Real<F>>;
  site::Complex<V> z[block_reals / 2];
  for (int k = 0; k < block_reals / 2; ++k) z[k] = {V{static_cast<Real<F>>(reals[2 * k])}, V{static_cast<Real<F>>(reals[2 * k + 1])}};
  constexpr int words = NumberFormat<F>::site_words(block_reals), head = site::head_words<F>;
  F stored[words];
  site::write_site<F>(stored, 1, z);
  const int chunk = chunked ? site::chunk_words<F>(words - head) : 1;
  for (int w = 0; w < words; ++w) record[site::word_place(w, lane, lanes, chunk, head)] = stored[w];
}

/// Buffers: A, the sum of log |det S|, then the inverse where there is one, without which the sum is zero.
struct PackTask {
  const BlockGeometry* block;
  const HostGauge* term;
  Coord lattice;
  Coefficients coefficients;
  int parity;
  bool has_inverse, chunked;
};

template <class F>
void run_pack(Call& call) {
  const auto& task = call.arguments<PackTask>();
  const auto [a, c, m] = task.coefficients;
  const int lanes = task.block->lanes().lanes;
  const std::size_t record_words = static_cast<std::size_t>(NumberFormat<F>::site_words(block_reals) * lanes);
  const Box box = task.term->box();
  F* matrix = call.buffer<F>(0);
  F* inverted = task.has_inverse ? call.buffer<F>(2) : nullptr;
  runtime::ThreadSums sums(call.team().threads(), 1);
  call.team().for_range(task.block->outer_sites(), [&](std::int64_t begin, std::int64_t end, int thread) {
    for (std::int64_t outer = begin; outer < end; ++outer)
      for (int lane = 0; lane < lanes; ++lane) {
        Coord x = task.block->local_site({task.parity, static_cast<int>(outer), lane});
        for (int mu = 0; mu < 4; ++mu) x[mu] += task.block->block().origin[mu];
        const double* reals = task.term->data.data() + static_cast<std::size_t>(index_in(box, x, task.lattice)) * HostGauge::reals_per_site;
        for (int b = 0; b < blocks_per_site; ++b) {
          const std::size_t at = (static_cast<std::size_t>(outer) * blocks_per_site + static_cast<std::size_t>(b)) * record_words;
          const Block of_site = unpacked(reals + b * block_reals, a, c);
          write_packed(matrix + at, lane, lanes, task.chunked, of_site);
          if (inverted == nullptr) continue;
          const auto [inverse_of_site, log_det] = m == 0 ? inverse(of_site) : inverse(squared(of_site, m * m));
          write_packed(inverted + at, lane, lanes, task.chunked, inverse_of_site);
          runtime::add(sums.of(thread)[0], m == 0 ? log_det : 0.5 * log_det);
        }
      }
  });
  sums.merge_into(call.buffer<runtime::BinnedSum>(1), 1);
}

const runtime::Codelet& pack_codelet(Precision precision) {
  return with_format(precision, [&](auto format) -> const runtime::Codelet& {
    static const runtime::Codelet codelet(fmt::format("clover.{}.matrices", name_of(precision)), runtime::CodeletKind::copy,
                                          run_pack<typename decltype(format)::type>);
    return codelet;
  });
}

}  // namespace

SiteMatrices::SiteMatrices(const LatticePointer& lattice, const HostTerm& term, const Coefficients& coefficients, bool inverse_on_odd)
    : coefficients_(coefficients),
      norm_(std::hypot(coefficients.a + std::abs(coefficients.c) * term.norm, coefficients.m)),
      matrix_{SiteField(lattice, 0, blocks_per_site, block_reals), SiteField(lattice, 1, blocks_per_site, block_reals)} {
  inverse_[0].emplace(lattice, 0, blocks_per_site, block_reals);
  if (inverse_on_odd) inverse_[1].emplace(lattice, 1, blocks_per_site, block_reals);
  lattice->require_part("clover::SiteMatrices", term.reals.box(), 0);
  for (const std::size_t parity : {0, 1}) {
    const bool has_inverse = inverse_[parity].has_value();
    const runtime::PartialSums sums = partial_sums_on(*lattice, 1);
    for (const int b : lattice->local_blocks()) {
      auto task = runtime::blank<PackTask>();
      task.block = &lattice->block(b);
      task.term = &term.reals;
      task.lattice = lattice->decomposition().lattice();
      task.coefficients = coefficients;
      task.parity = static_cast<int>(parity);
      task.has_inverse = has_inverse;
      task.chunked = lattice->chunked();
      runtime::AccessList accesses{runtime::out(matrix_[parity].block(b)),
                                   runtime::out(sums.task(lattice->decomposition().local_index(b)))};
      if (has_inverse) accesses.push_back(runtime::out(inverse_[parity]->block(b)));
      runtime::submit(pack_codelet(lattice->precision()), task, accesses, {}, placement_of(lattice->block(b)));
    }
    log_det_[parity] = runtime::values_of(sums, 1).front();  // the tasks read `term`, which they must not outlive
    if (runtime::backend::computes && !std::isfinite(log_det_[parity]))
      throw Error(ErrorKind::input, Parameter("csw"), "the clover term is singular on a site",
                  "give a smaller coefficient, or another kappa");
  }
  for (SiteField& field : matrix_) field.freeze();
  for (std::optional<SiteField>& field : inverse_)
    if (field) field->freeze();
}

wilson::SiteTerm SiteMatrices::site_term() const {
  wilson::SiteTerm term;
  term.norm = same_for_all(norm_);
  for (const std::size_t parity : {0, 1}) {
    wilson::SiteMatrix& matrix = term.matrix[parity];
    matrix.fields = {&matrix_[parity], nullptr};
    matrix.numbers = same_for_all(coefficients_.m);
    matrix.adjoint_numbers = same_for_all(-coefficients_.m);
    if (!inverse_[parity]) continue;
    wilson::SiteMatrix& inverse = term.inverse[parity];
    inverse.numbers = matrix.adjoint_numbers;
    inverse.adjoint_numbers = matrix.numbers;
    if (coefficients_.m == 0) inverse.fields = {&*inverse_[parity], nullptr};
    else inverse.fields = {&matrix_[parity], &*inverse_[parity]};
  }
  return term;
}

}  // namespace quarkstar::clover
