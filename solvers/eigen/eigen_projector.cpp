#include "solvers/eigen/eigen_projector.hpp"

#include "codelets/field/transfer.hpp"
#include "runtime/graph/batch.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace quarkstar {

EigenProjector::EigenProjector(const LatticePointer& lattice, int parity, int components, std::vector<double> values, Precision stored)
    : values_(std::move(values)),
      basis_(lattice, parity, components, block_for(modes(), lattice->slices()), vectors_for(modes(), lattice->slices()), stored) {}

void EigenProjector::add(std::span<const HostField> vectors) {
  const int fields = static_cast<int>(vectors.size()), n = fields / basis_.lattice()->slices();
  if (n < 1 || fields != n * basis_.lattice()->slices() || n != std::min(basis_.block(), modes() - basis_.count()))
    throw ShapeError("EigenProjector::add", "no such block of vectors");
  const runtime::Settled settled;
  const Field given = basis_.field(n);
  transfer::load(given, vectors);
  if (n == basis_.block()) {
    basis_.append(given);
  } else {
    const Field filled = basis_.field();  // with vectors that are zero
    SmallMatrix place = SmallMatrix::Zero(n, basis_.block());
    place.leftCols(n).setIdentity();
    multiply(filled, nullptr, given, place);
    basis_.append(filled);
  }
  runtime::Session::current().wait_all();  // the host's fields are free again
  if (basis_.count() >= modes()) make_groups();
}

/// How many fields of the basis a task reads at most.
std::size_t EigenProjector::most_fields() const {
  if (basis_.stored() != basis_.lattice()->precision()) return 1;  // they are made wide one at a time
  // A GPU whose memory is full must have room for all of them, and for those of the next task.
  const runtime::Session& session = runtime::Session::current();
  double room = 8.0 * (1 << 30);  // enough
  for (int gpu = 0; gpu < session.gpu_count(); ++gpu) room = std::min(room, static_cast<double>(session.device_memory(gpu)) / 4);
  double bytes = 0;  // of one field
  for (const int b : basis_.lattice()->local_blocks()) bytes += basis_.tiles()[0].block_bytes(b) / std::max(1, session.gpu_count());
  return static_cast<std::size_t>(std::clamp(room / bytes, 1.0, static_cast<double>(blas::most_tiles)));
}

void EigenProjector::make_groups() {
  const std::vector<Field>& fields = basis_.tiles();
  const auto room = static_cast<std::size_t>(fields[0].vectors());
  std::size_t groups = (fields.size() + most_fields() - 1) / most_fields();
  // Each has sums over ranks, which may have other parts and GPUs.
  if (basis_.lattice()->decomposition().is_distributed())
    groups = static_cast<std::size_t>(runtime::mpi::Job::current().combined(std::uint64_t{groups}, runtime::mpi::Combine::maximum));
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t first = fields.size() * g / groups, end = fields.size() * (g + 1) / groups, first_mode = first * room,
                      count = std::min(end * room, values_.size()) - first_mode;
    Group& group = groups_.emplace_back(Group{first, end - first, static_cast<int>(count), runtime::Handle(2 * count * sizeof(double))});
    std::vector<double> scales;
    for (std::size_t i = first; i < end; ++i) {
      const std::vector<double> of_field = blas::scales_of(basis_.wide(fields[i]));
      scales.insert(scales.end(), of_field.begin(), of_field.end());
    }
    const runtime::HostView<double> view(group.numbers, runtime::HostAccess::overwrite);
    std::copy_n(scales.begin(), count, view.get());
    std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(first_mode), count, view.get() + count);
  }
}

blas::VectorsInTiles EigenProjector::vectors_of(const Group& group) const {
  blas::VectorsInTiles vectors{{}, group.modes};
  for (std::size_t i = group.first; i < group.first + group.fields; ++i) vectors.fields.push_back(&basis_.wide(basis_.tiles()[i]));
  return vectors;
}

void EigenProjector::apply(const Field& out, const Field& in, const PerVector& shifts, bool exact) const {
  if (groups_.empty()) throw ShapeError("EigenProjector::apply", "eigenvectors are missing");
  if (in.vectors() != out.vectors() && in.vectors() != 1) throw ShapeError("EigenProjector::apply", "fields of other numbers of vectors");
  if (exact) {
    const SmallMatrix c = basis_.products(in);
    SmallMatrix weighted = SmallMatrix::Zero(basis_.count(), out.vectors());
    for (int v = 0; v < out.vectors(); ++v)
      for (int i = 0; i < modes(); ++i)
        weighted(i, v) = c(i, in.vectors() == 1 ? 0 : v) / (values_[static_cast<std::size_t>(i)] + shifts[static_cast<std::size_t>(v)]);
    return basis_.combine(out, weighted);
  }
  const std::shared_ptr<runtime::HandlePool> pool = runtime::HandlePool::in_use();
  const runtime::HandlePool::Use pooled(pool ? pool : pool_);
  // One task where all is of one worker, whose memory has room for all modes then. Sums over ranks go through tasks of their own.
  std::optional<runtime::Batch> batch;
  if (groups_.size() == 1 && runtime::Session::current().messages() == nullptr && runtime::Batch::current() == nullptr) batch.emplace();
  const int n = in.vectors(), blocks = static_cast<int>(in.lattice()->local_blocks().size());
  const runtime::Handle scales(static_cast<std::size_t>(n) * sizeof(double));
  const runtime::PartialSums magnitudes(blocks, 2 * n);
  blas::submit_scales(scales, in, magnitudes);
  std::deque<runtime::PartialSums> products;
  for (const Group& group : groups_) {
    products.emplace_back(blocks, 2 * group.modes * n);
    blas::rounded_products(vectors_of(group), group.numbers, in, scales, products.back());
  }
  std::deque<runtime::Handle> coefficients;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    coefficients.emplace_back(static_cast<std::size_t>(group.modes * out.vectors()) * sizeof(runtime::ComplexScalar));
    blas::submit_coefficients(coefficients.back(), products[g], group.numbers, group.modes, scales, n, out.vectors(), shifts,
                              in.lattice()->decomposition().first_owner());
    blas::combine(out, g == 0 ? nullptr : &out, vectors_of(group), coefficients.back());
  }
  if (batch) batch->submit();
}

/// Rounded products leave |in| times some 5e-7 / sqrt(n) along each mode, of vectors with n reals. A Krylov space finds what is left where
/// its square over the mode's eigenvalue becomes the rest of |r|^2 over the largest eigenvalue, which is 20 at most or near that: 5e-12 /
/// (n lambda), here with a factor of 40 for what modes share. Modes that are rounded to 24 and 15 bits leave more, where all their numbers
/// are rounded alike, as those of smooth modes are: five digits and two end before that. Smooth links of 8^4 sites, 24 modes, m = 0.002
/// take 56 iterations with exact products and modes, and 57 with rounded products where corrections end after 3.5 to 4.5 digits
/// (here: 4.1), but 294 where these end after five; modes in half precision take 59 after two, 72 after three and 294 after 3.5.
double EigenProjector::gain2(bool exact) const {
  constexpr double least_mode = 1e-300, most = 1e-4;
  const double n = static_cast<double>(volume(basis_.lattice()->decomposition().lattice())) * basis_.lattice()->slices() *
                   basis_.components(),
               lowest = std::max(*std::min_element(values_.begin(), values_.end()), least_mode);
  const double of_products = exact ? 0 : std::min(2e-10 / (n * lowest), most);
  switch (basis_.stored()) {
    case Precision::double_:
      return of_products;
    case Precision::single:
      return std::max(of_products, 1e-10);
    case Precision::half:
      break;
  }
  return 1e-4;
}

}  // namespace quarkstar
