#include "solvers/eigen/eigen_projector.hpp"

#include "codelets/field/transfer.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/graph/batch.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace quarkstar {

namespace {

/// The same cut, with this rank's blocks given to workers one after the other.
runtime::Decomposition given_to(const std::vector<int>& workers, const runtime::Decomposition& given) {
  runtime::SlabCuts cuts;
  for (std::size_t mu = 0; mu < cuts.size(); ++mu) {
    int rank = -1;
    for (const runtime::Block& block : given.blocks()) {
      Coord row = block.position;  // of blocks along mu, from the corner on
      row[mu] = 0;
      if (row != Coord{0, 0, 0, 0}) continue;
      if (block.rank != rank) cuts[mu].emplace_back();
      rank = block.rank;
      cuts[mu].back().push_back(block.extents[mu]);
    }
  }
  std::size_t next = 0;
  return {given.lattice(), cuts, given.rank(), [&](const Coord&) { return workers[next++ % workers.size()]; }};
}

/// The same blocks on CPUs.
LatticePointer on_cpus(const Lattice& lattice) {
  const std::vector<int> workers = runtime::Session::current().cpu_workers();
  if (workers.empty())
    throw Error(ErrorKind::environment, "eigenvectors in host memory", "there are no CPU workers to project", "leave them cores");
  return std::make_shared<Lattice>(given_to(workers, lattice.decomposition()), lattice.precision(), lattice.boundary(),
                                   LayoutRequest{.slices = lattice.slices()});
}

}  // namespace

int EigenProjector::vectors_in_doubles(int modes, int components, Precision stored, int slices, ModesMemory where) {
  const int block = block_for(modes, slices), vectors = vectors_for(modes, slices), tile = Basis::tile_for(block, slices);
  const auto of = [tile](std::size_t fields) { return static_cast<int>(fields) * tile; };
  const bool streams = where == ModesMemory::streamed;
  // Fields of a task that are copied for it, and those of the next, which arrive meanwhile.
  const int held =
      basis_in_doubles(streams ? std::min(vectors, of(2 * Basis::streamed_together)) : vectors, block, components, stored, slices);
  // One wide field is among these.
  const int wide = std::min(of(streams ? Basis::streamed_together : Basis::widened_together), vectors) - tile;
  return held + (stored == Precision::double_ ? 0 : std::max(0, wide));
}

EigenProjector::EigenProjector(const LatticePointer& lattice, int parity, int components, std::vector<double> values, Precision stored,
                               ModesMemory where)
    : values_(std::move(values)),
      lattice_(lattice),
      where_(where),
      basis_(where == ModesMemory::on_cpus ? on_cpus(*lattice) : lattice, parity, components, block_for(modes(), lattice->slices()),
             vectors_for(modes(), lattice->slices()), stored, where == ModesMemory::streamed) {}

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

void EigenProjector::make_groups() {
  const std::vector<Field>& fields = basis_.tiles();
  const auto room = static_cast<std::size_t>(fields[0].vectors());
  const std::size_t groups = (fields.size() + basis_.fields_together() - 1) / basis_.fields_together();
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t first = fields.size() * g / groups, end = fields.size() * (g + 1) / groups, first_mode = first * room,
                      count = std::min(end * room, values_.size()) - first_mode;
    Group& group = groups_.emplace_back(Group{first, end - first, static_cast<int>(count), runtime::Handle(2 * count * sizeof(double))});
    std::vector<double> scales;
    for (const Field* field : vectors_of(group).fields) {
      const std::vector<double> of_field = blas::scales_of(*field);
      scales.insert(scales.end(), of_field.begin(), of_field.end());
    }
    const runtime::HostView<double> view(group.numbers, runtime::HostAccess::overwrite);
    std::copy_n(scales.begin(), count, view.get());
    std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(first_mode), count, view.get() + count);
  }
}

blas::VectorsInTiles EigenProjector::vectors_of(const Group& group) const {
  return {basis_.wide(std::span(basis_.tiles()).subspan(group.first, group.fields)), group.modes};
}

void EigenProjector::apply(const Field& out, const Field& in, const PerVector& shifts, bool exact) const {
  if (groups_.empty()) throw ShapeError("EigenProjector::apply", "eigenvectors are missing");
  if (in.vectors() != out.vectors() && in.vectors() != 1) throw ShapeError("EigenProjector::apply", "fields of other numbers of vectors");
  if (where_ != ModesMemory::on_cpus) return project(out, in, shifts, exact);
  const std::shared_ptr<runtime::HandlePool> pool = runtime::HandlePool::in_use();
  const runtime::HandlePool::Use pooled(pool ? pool : pool_);
  const Field here(basis_.lattice(), in.parity(), in.components(), in.vectors()),
      result(basis_.lattice(), out.parity(), out.components(), out.vectors());
  transfer::convert(here, in);
  project(result, here, shifts, exact);
  transfer::convert(out, result);
}

void EigenProjector::project(const Field& out, const Field& in, const PerVector& shifts, bool exact) const {
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
  const int n = in.vectors();
  const runtime::Handle scales(static_cast<std::size_t>(n) * sizeof(double));
  const runtime::PartialSums magnitudes = partial_sums_on(*in.lattice(), 2 * n);
  blas::submit_scales(scales, in, magnitudes);
  // From the last group back: the sums begin with those that are on the device still, where not all are.
  std::deque<runtime::PartialSums> products;
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    products.push_front(partial_sums_on(*in.lattice(), 2 * group->modes * n));
    blas::rounded_products(vectors_of(*group), group->numbers, in, scales, products.front());
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
