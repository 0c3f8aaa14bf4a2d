#include "solvers/eigen/basis.hpp"

#include "codelets/field/blas.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/graph/handle_pool.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace quarkstar {
namespace {

/// Matrices as tasks read them, behind a status that never stops: one copy to a device serves all products with them. Tasks keep it.
class MatricesOfTasks {
 public:
  static constexpr std::size_t begin = (sizeof(runtime::GraphStatus) + alignof(runtime::ComplexScalar) - 1) /
                                       alignof(runtime::ComplexScalar) * alignof(runtime::ComplexScalar);  ///< of the first one's numbers

  explicit MatricesOfTasks(std::span<const SmallMatrix> matrices) {
    std::size_t bytes = begin;
    for (const SmallMatrix& m : matrices) {
      offsets_.push_back(bytes);
      bytes += static_cast<std::size_t>(m.size()) * sizeof(runtime::ComplexScalar);
    }
    const runtime::HandlePool::Use anew(nullptr);  // one that was given up must wait for the product that still reads it
    handle_.emplace(bytes);
    const runtime::HostView<char> view(*handle_, runtime::HostAccess::overwrite);
    *reinterpret_cast<runtime::GraphStatus*>(view.get()) = {};
    for (std::size_t i = 0; i < matrices.size(); ++i)
      store(reinterpret_cast<runtime::ComplexScalar*>(view.get() + offsets_[i]), matrices[i]);
  }
  /// out = base + in m, m the matrix of that number.
  void multiply(const Field& out, const Field* base, const Field& in, std::size_t number) const {
    blas::multiply(out, base, in, blas::VectorMatrix{static_cast<std::int32_t>(offsets_[number])}, *handle_);
  }

 private:
  std::vector<std::size_t> offsets_;
  std::optional<runtime::Handle> handle_;
};

bool is_identity(const SmallMatrix& m) { return m.rows() == m.cols() && m == SmallMatrix::Identity(m.rows(), m.cols()); }

}  // namespace

void multiply(const Field& out, const Field* base, const Field& in, const SmallMatrix& m) {
  if (m.rows() != in.vectors() || m.cols() != out.vectors()) throw ShapeError("multiply", "a matrix of another shape than the fields");
  MatricesOfTasks({&m, 1}).multiply(out, base, in, 0);
}

double multiplication_bytes() {
  return static_cast<double>(MatricesOfTasks::begin + blas::VectorMatrix::most * sizeof(runtime::ComplexScalar));
}

int basis_in_doubles(int vectors, int block, int components, Precision stored, int slices) {
  if (stored == Precision::double_) return vectors;
  const double part =
      static_cast<double>(site_bytes(stored, 2 * components)) / static_cast<double>(site_bytes(Precision::double_, 2 * components));
  return static_cast<int>(std::ceil(vectors * part)) + Basis::tile_for(block, slices);
}

int basis_on_device(int vectors, int block, int components, Precision stored, int slices) {
  constexpr int read = 4, sums = Basis::rotated_together;  // read: now, and for the next tasks
  const int tile = Basis::tile_for(block, slices);
  const int held = basis_in_doubles(std::min((read + sums) * tile, vectors), block, components, stored, slices);
  return held + (stored == Precision::double_ ? 0 : sums * tile);
}

double basis_bytes(const runtime::Block& block, int components, int vectors) {
  return static_cast<double>(vectors) * static_cast<double>(volume(block.extents)) / 2 *
         static_cast<double>(site_bytes(Precision::double_, 2 * components));
}

SmallMatrix gram_of(const Field& v) {
  const int n = v.vectors();
  const runtime::PartialSums sums = partial_sums_on(*v.lattice(), n * n);
  const runtime::Handle running(sizeof(runtime::GraphStatus));
  *runtime::HostView<runtime::GraphStatus>(running, runtime::HostAccess::overwrite) = {};
  blas::gram(v, v, sums, running);
  return hermitian_of_gram(runtime::values_of(sums, n * n).data(), n);
}

Basis::Basis(LatticePointer lattice, int parity, int components, int block, int capacity, Precision stored, bool in_host_memory)
    : lattice_(std::move(lattice)),
      stored_(stored == lattice_->precision() ? lattice_
                                              : std::make_shared<Lattice>(lattice_->decomposition(), stored, lattice_->boundary(),
                                                                          LayoutRequest{.slices = lattice_->slices()})),
      parity_(parity),
      components_(components),
      block_(block),
      tile_(block < 1 ? 0 : tile_for(block, lattice_->slices())),
      capacity_(capacity),
      together_(in_host_memory ? rotated_together : 1) {
  if (tile_ == 0 || capacity < block || capacity % block != 0)
    throw ShapeError("Basis", "blocks of 1 to 16 vectors, or as many as a site has room for, a whole number of them");
  if (lattice_->vectors_in_lanes() > 1) throw ShapeError("Basis", "vectors are in lanes");
  if (stored_ != lattice_) wide_.push_back(field(tile_));
  // Ranks sum over the same groups.
  fields_together_ = blas::most_tiles - static_cast<std::size_t>(runtime::mpi::Job::current().combined(
                                            std::uint64_t{blas::most_tiles - most_fields(in_host_memory)}, runtime::mpi::Combine::maximum));
}

std::vector<const Field*> Basis::wide(std::span<const Field> tiles) const {
  std::vector<const Field*> fields;
  for (const Field& tile : tiles) {
    if (is_wide()) {
      fields.push_back(&tile);
      continue;
    }
    if (fields.size() == wide_.size()) wide_.push_back(field(tile_));
    transfer::convert(wide_[fields.size()], tile);
    fields.push_back(&wide_[fields.size()]);
  }
  return fields;
}

std::size_t Basis::most_fields(bool in_host_memory) const {
  if (in_host_memory) return streamed_together;
  if (!is_wide()) return widened_together;
  // A GPU whose memory is full must have room for all of them, and for those of the next task.
  const runtime::Session& session = runtime::Session::current();
  double room = 8.0 * (1 << 30);  // enough
  for (int gpu = 0; gpu < session.gpu_count(); ++gpu) room = std::min(room, static_cast<double>(session.device_memory(gpu)) / 4);
  double bytes = 0;  // of one field
  const Field tile = make_tile();
  for (const int b : lattice_->local_blocks()) bytes += tile.block_bytes(b) / std::max(1, session.gpu_count());
  return static_cast<std::size_t>(std::clamp(room / bytes, 1.0, static_cast<double>(blas::most_tiles)));
}

std::vector<blas::VectorsInTiles> Basis::groups() const {
  std::vector<blas::VectorsInTiles> all;
  for (std::size_t first = 0; first < tiles_.size(); first += fields_together_) {
    blas::VectorsInTiles& group = all.emplace_back();
    const std::size_t end = std::min(first + fields_together_, tiles_.size());
    for (std::size_t i = first; i < end; ++i) group.fields.push_back(&tiles_[i]);
    group.count = std::min(static_cast<int>(end) * tile_, count_) - static_cast<int>(first) * tile_;
  }
  return all;
}

void Basis::clear() {
  count_ = 0;
  tiles_.clear();
  scales_.clear();
  magnitudes_.reset();
}

void Basis::append(const Field& vectors) {
  if (vectors.vectors() != block_ || count_ + block_ > capacity_) throw ShapeError("Basis::append", "no such block, or no room for it");
  const int column = count_ % tile_;
  SmallMatrix place = SmallMatrix::Zero(block_, tile_);
  place.middleCols(column, block_).setIdentity();
  if (column == 0) tiles_.push_back(make_tile());
  const Field &tile = tiles_.back(), &sum = is_wide() ? tile : column == 0 ? wide_.front() : wide(tile);
  multiply(sum, column == 0 ? nullptr : &sum, vectors, place);
  if (!is_wide()) transfer::convert(tile, sum);
  magnitudes_.reset();
  if (is_wide() && scales_.size() == static_cast<std::size_t>(count_)) {
    magnitudes_ = partial_sums_on(*vectors.lattice(), 2 * block_);
    blas::submit<blas::Magnitudes>({&vectors}, {}, {}, &*magnitudes_);
  }
  count_ += block_;
}

void Basis::extract(const Field& to, int first) const {
  if (to.vectors() != block_ || first < 0 || first % block_ != 0 || first + block_ > count_)
    throw ShapeError("Basis::extract", "no such block");
  SmallMatrix place = SmallMatrix::Zero(tile_, block_);
  place.middleRows(first % tile_, block_).setIdentity();
  multiply(to, nullptr, wide(tiles_[static_cast<std::size_t>(first / tile_)]), place);
}

SmallMatrix Basis::products(const Field& w) const {
  const int n = w.vectors(), count = 2 * tile_ * n;
  // All are submitted before the first is waited for. From the last field back: of a basis that is partly in host memory add(), which
  // follows, begins with those that are still on the device, and ends with those that the next products begin with.
  std::vector<runtime::PartialSums> sums;
  for (auto tile = tiles_.rbegin(); tile != tiles_.rend(); ++tile) {
    sums.push_back(partial_sums_on(*w.lattice(), count));
    blas::products(wide(*tile), w, sums.back());
  }
  SmallMatrix c(count_, n);
  int row = 0;
  for (auto of_tile = sums.rbegin(); of_tile != sums.rend(); ++of_tile) {
    const int rows = std::min(tile_, count_ - row);
    c.middleRows(row, rows) = matrix_of_products(runtime::values_of(*of_tile, count).data(), tile_, n).topRows(rows);
    row += rows;
  }
  return c;
}

void Basis::find_scales() const {
  if (magnitudes_) {
    const std::vector<double> of_block = blas::scales_of(*magnitudes_, block_);
    scales_.insert(scales_.end(), of_block.begin(), of_block.end());
    magnitudes_.reset();
  }
  while (scales_.size() < static_cast<std::size_t>(count_)) {  // behind a rotation
    const std::size_t number = scales_.size() / static_cast<std::size_t>(tile_);
    scales_.resize(number * static_cast<std::size_t>(tile_));
    const std::vector<double> of_tile = blas::scales_of(tiles_[number]);
    scales_.insert(scales_.end(), of_tile.begin(), of_tile.end());
  }
  scales_.resize(static_cast<std::size_t>(count_));
}

SmallMatrix Basis::rough_products(const Field& w) const {
  if (!is_wide()) return products(w);
  find_scales();
  const runtime::HandlePool::Use anew(nullptr);  // what was given up must wait for the tasks that still read it
  const int n = w.vectors();
  const std::vector<blas::VectorsInTiles> all = groups();
  const runtime::Handle of_w(static_cast<std::size_t>(n) * sizeof(double));
  const runtime::PartialSums magnitudes = partial_sums_on(*w.lattice(), 2 * n);
  blas::submit_scales(of_w, w, magnitudes);
  std::deque<runtime::PartialSums> sums;
  int end = count_;
  for (auto group = all.rbegin(); group != all.rend(); ++group) {  // backward, as products()
    const auto count = static_cast<std::size_t>(group->count);
    const runtime::Handle scales(count * sizeof(double));
    end -= group->count;
    std::copy_n(scales_.begin() + end, count, runtime::HostView<double>(scales, runtime::HostAccess::overwrite).get());
    sums.push_front(partial_sums_on(*w.lattice(), 2 * group->count * n));
    blas::rounded_products(*group, scales, w, of_w, sums.front());
  }
  SmallMatrix c(count_, n);
  int row = 0;
  for (std::size_t g = 0; g < all.size(); ++g) {
    const std::vector<double> values = runtime::values_of(sums[g], 2 * all[g].count * n);
    const runtime::HostView<double> scale(of_w);
    for (int i = 0; i < all[g].count; ++i, ++row)
      for (int v = 0; v < n; ++v) {
        const auto at = static_cast<std::size_t>(2 * (i * n + v));
        c(row, v) = std::complex<double>(values[at], values[at + 1]) /
                    (scales_[static_cast<std::size_t>(row)] * scale[static_cast<std::size_t>(v)]);
      }
  }
  return c;
}

void Basis::add(const Field& w, const SmallMatrix& c) const {
  if (is_wide()) add_to(w, &w, c);
  else add_narrow(w, c);
}

void Basis::add_to(const Field& to, const Field* base, const SmallMatrix& c) const {
  const runtime::HandlePool::Use anew(nullptr);
  const auto n = static_cast<std::size_t>(to.vectors());
  int row = 0;
  for (const blas::VectorsInTiles& group : groups()) {
    const runtime::Handle coefficients(static_cast<std::size_t>(group.count) * n * sizeof(runtime::ComplexScalar));
    {
      const runtime::HostView<runtime::ComplexScalar> view(coefficients, runtime::HostAccess::overwrite);
      store(view.get(), c.middleRows(row, group.count));
    }
    blas::combine(to, row == 0 ? base : &to, group, coefficients);
    row += group.count;
  }
}

void Basis::add_narrow(const Field& w, const SmallMatrix& c) const {
  std::vector<SmallMatrix> parts;
  for (int row = 0; row < count_; row += tile_) {
    const int rows = std::min(tile_, count_ - row);
    parts.push_back(SmallMatrix::Zero(tile_, c.cols()));
    parts.back().topRows(rows) = c.middleRows(row, rows);
  }
  const MatricesOfTasks matrices(parts);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!parts[i].isZero(0)) matrices.multiply(w, &w, wide(tiles_[i]), i);
}

void Basis::combine(const Field& out, const SmallMatrix& c) const {
  if (is_wide() && count_ > 0) return add_to(out, nullptr, c);
  blas::submit<blas::Fill>({&out}, {0.0});
  add(out, c);
}

void Basis::rotate(const SmallMatrix& r) {
  const int left = static_cast<int>(r.cols());
  if (r.rows() != count_ || left < block_ || left % block_ != 0 || left > count_) throw ShapeError("Basis::rotate", "no such rotation");
  const auto rows_from = [&](int row) { return std::min(tile_, count_ - row); };
  const auto is_kept = [&](int column) {  // whole fields that the rotation leaves alone
    if (left - column < tile_) return false;
    for (int row = 0; row < count_; row += tile_) {
      const SmallMatrix part = r.block(row, column, rows_from(row), tile_);
      if (row == column ? !is_identity(part) : !part.isZero(0)) return false;
    }
    return true;
  };
  std::vector<std::optional<Field>> made(static_cast<std::size_t>((left + tile_ - 1) / tile_));
  std::vector<int> columns;
  for (int column = 0; column < left; column += tile_)
    if (!is_kept(column)) columns.push_back(column);
  const auto together = std::min(static_cast<std::size_t>(together_), columns.size());
  std::vector<Field> wide_sums;
  for (std::size_t i = 0; !is_wide() && i < together; ++i) wide_sums.push_back(field(tile_));
  for (std::size_t begin = 0; begin < columns.size(); begin += together) {
    const std::span<const int> some = std::span(columns).subspan(begin, std::min(together, columns.size() - begin));
    const auto out = [&](std::size_t i) -> std::optional<Field>& { return made[static_cast<std::size_t>(some[i] / tile_)]; };
    for (std::size_t i = 0; i < some.size(); ++i) out(i).emplace(make_tile());
    for (int row = 0; row < count_; row += tile_) {
      const Field* in = nullptr;
      for (std::size_t i = 0; i < some.size(); ++i) {
        SmallMatrix part = SmallMatrix::Zero(tile_, tile_);
        const int width = std::min(tile_, left - some[i]);
        part.topLeftCorner(rows_from(row), width) = r.block(row, some[i], rows_from(row), width);
        if (row > 0 && part.isZero(0)) continue;
        if (in == nullptr) in = &wide(tiles_[static_cast<std::size_t>(row / tile_)]);
        const Field& sum = is_wide() ? *out(i) : wide_sums[i];
        multiply(sum, row == 0 ? nullptr : &sum, *in, part);
      }
    }
    for (std::size_t i = 0; !is_wide() && i < some.size(); ++i) transfer::convert(*out(i), wide_sums[i]);
  }
  std::vector<Field> rotated;
  for (std::size_t i = 0; i < made.size(); ++i) rotated.push_back(made[i] ? std::move(*made[i]) : std::move(tiles_[i]));
  tiles_ = std::move(rotated);
  count_ = left;
  scales_.clear();
  magnitudes_.reset();
}

}  // namespace quarkstar
