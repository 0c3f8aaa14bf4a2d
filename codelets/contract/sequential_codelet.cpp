#include "codelets/contract/phases.hpp"
#include "codelets/contract/sequential.hpp"
#include "codelets/contract/sequential_site.hpp"
#include "codelets/field/places_of.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <numeric>

namespace quarkstar::contract {
namespace {

void require_spinors(const char* where, const Field& to, const FullField& from) {
  const Lattice &a = *to.lattice(), &b = *from.even.lattice();
  if (to.components() != spinor_components || from.even.components() != spinor_components || a.slices() != 1 || b.slices() != 1 ||
      a.precision() != Precision::double_ || b.precision() != Precision::double_)
    throw ShapeError(where, "fields that are not spinors in double precision");
  if (a.decomposition().lattice() != b.decomposition().lattice() || a.decomposition().grid() != b.decomposition().grid())
    throw ShapeError(where, "fields of another decomposition");
}

/// Of task what depends on the field and the block is filled in. flops: per site.
void submit(SequentialTask task, const Field& to, const FullField& from, const runtime::Handle& phases, int time, double flops) {
  task.to_places = places_of(to);
  task.from_places = places_of(from.even);
  task.parity = to.parity();
  task.lattice = to.lattice()->decomposition().lattice();
  for (const int b : to.lattice()->local_blocks()) {
    const BlockGeometry& block = to.lattice()->block(b);
    task.to = block.shape();
    task.from = from.even.lattice()->block(b).shape();
    task.origin = block.block().origin;
    task.time = time - task.origin[3];
    const bool here = task.time >= 0 && task.time < block.block().extents[3];
    const double sites = static_cast<double>(volume(block.block().extents)) / block.block().extents[3] / 2;
    runtime::submit(items_codelet<WriteSequential>(), task,
                    {runtime::out(to.block(b)), runtime::in(from.of(to.parity()).block(b)), runtime::in(phases)},
                    {here ? sites * flops : 0, 2 * to.block_bytes(b)}, placement_of(block));
  }
}

}  // namespace

void write_sequential(const FullField& b, const FullField& propagator, const HadronSink& sink, const Source& source) {
  require_spinors("write_sequential", b.even, propagator);
  if (b.even.vectors() != spinor_components || propagator.even.vectors() != spinor_components)
    throw ShapeError("write_sequential", "another number of columns than a propagator has");
  const Coord& lattice = b.even.lattice()->decomposition().lattice();
  check_sink(sink, lattice);
  const Momentum& p = sink.momentum;
  const runtime::Handle phases = make_phases({{-p[0], -p[1], -p[2]}}, lattice, origin_of(source));
  auto task = runtime::blank<SequentialTask>();
  task.wick = sink.hadron->wick;
  std::iota(task.column, task.column + spinor_components, 0);
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t column = 0; column < 4; ++column) {
      task.projector[row][column][0] = sink.hadron->projector[row][column].real();
      task.projector[row][column][1] = sink.hadron->projector[row][column].imag();
    }
  const double flops = task.wick == Wick::meson ? 200 : 180e3;
  for (const int parity : {0, 1}) submit(task, b.of(parity), propagator, phases, (source.time() + sink.separation) % lattice[3], flops);
}

void copy_vectors(const Field& to, const FullField& from, std::span<const int> vectors) {
  require_spinors("copy_vectors", to, from);
  if (vectors.size() != static_cast<std::size_t>(to.vectors()) ||
      std::any_of(vectors.begin(), vectors.end(), [&](int v) { return v < 0 || v >= from.even.vectors(); }))
    throw ShapeError("copy_vectors", "vectors that the fields have not");
  auto task = runtime::blank<SequentialTask>();
  task.wick = Wick::copy;
  std::copy(vectors.begin(), vectors.end(), task.column);
  submit(task, to, from, make_phases({{0, 0, 0}}, to.lattice()->decomposition().lattice(), {}), -1, 0);
}

}  // namespace quarkstar::contract
