// Between host order and padded blocks: boundary phases on the way in, staggered phases on the way out.
#include "codelets/smear/padded_links.hpp"
#include "codelets/smear/phases.hpp"
#include "runtime/codelet.hpp"
#include "runtime/error.hpp"

namespace quarkstar::smear {
namespace {

using runtime::Call;

/// Calls body(global coordinates, lexicographic index, offset in the block) for the sites inside the border.
template <class Body>
void for_sites(const runtime::Team& team, const PaddedShape& shape, const Coord& origin, const Coord& lattice, Body&& body) {
  team.for_range(shape.rows(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      Coord local = shape.row_start(row), global{};
      for (; local[0] < shape.extents[0]; ++local[0]) {
        for (int mu = 0; mu < 4; ++mu) global[mu] = origin[mu] + local[mu];
        body(global, lexicographic(global, lattice), shape.offset(local));
      }
    }
  });
}

struct LoadTask {
  PaddedShape shape;
  Coord origin;
  const HostGauge* gauge;
  std::complex<double> boundary[4];
};

void run_load(Call& call) {
  const auto& task = call.arguments<LoadTask>();
  double* links = call.buffer<double>(0);
  const LinkStrides strides = task.shape.strides();
  const Coord& lattice = task.gauge->extents;
  for_sites(call.team(), task.shape, task.origin, lattice, [&](const Coord& x, std::int64_t index, std::ptrdiff_t offset) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto from = task.gauge->link(index, mu);
      const std::complex<double> phase = x[mu] == lattice[mu] - 1 ? task.boundary[mu] : 1.0;
      double* to = links + offset + mu * strides.link;
      for (std::size_t i = 0; i < 18; i += 2) {
        to[static_cast<std::ptrdiff_t>(i) * strides.real] = phase.real() * from[i] - phase.imag() * from[i + 1];
        to[static_cast<std::ptrdiff_t>(i + 1) * strides.real] = phase.real() * from[i + 1] + phase.imag() * from[i];
      }
    }
  });
}

/// Buffers: the links, then the extra links (where there are any).
struct StoreTask {
  PaddedShape shape, extra_shape;
  Coord origin;
  HostGauge* gauge;
  double scale, extra_scale;
  bool has_extra;
};

void run_store(Call& call) {
  const auto& task = call.arguments<StoreTask>();
  const double* links = call.buffer<const double>(0);
  const double* extra = task.has_extra ? call.buffer<const double>(1) : nullptr;
  const LinkStrides strides = task.shape.strides(), extra_strides = task.extra_shape.strides();
  for_sites(call.team(), task.shape, task.origin, task.gauge->extents, [&](const Coord& x, std::int64_t index, std::ptrdiff_t offset) {
    Coord local{};
    for (int mu = 0; mu < 4; ++mu) local[mu] = x[mu] - task.origin[mu];
    for (int mu = 0; mu < 4; ++mu) {
      const auto to = task.gauge->link(index, mu);
      const double phase = staggered_phase(x, mu);
      const double* from = links + offset + mu * strides.link;
      for (std::ptrdiff_t i = 0; i < 18; ++i) to[static_cast<std::size_t>(i)] = phase * (task.scale * from[i * strides.real]);
      if (extra == nullptr) continue;
      const double* more = extra + task.extra_shape.offset(local) + mu * extra_strides.link;
      for (std::ptrdiff_t i = 0; i < 18; ++i)
        to[static_cast<std::size_t>(i)] += phase * (task.extra_scale * more[i * extra_strides.real]);
    }
  });
}

const runtime::Codelet load_codelet("smear.load", run_load);
const runtime::Codelet store_codelet("smear.store", run_store);

void require_extents(const char* where, const PaddedLinks& links, const HostGauge& gauge) {
  if (links.decomposition().lattice() != gauge.extents || gauge.data.size() != static_cast<std::size_t>(volume(gauge.extents)) * HostGauge::reals_per_site)
    throw ShapeError(where, "host field and blocks have other extents");
}

}  // namespace

void load(const PaddedLinks& links, const HostGauge& gauge, const BoundaryAngles& boundary) {
  require_extents("smear::load", links, gauge);
  LoadTask task{};
  task.gauge = &gauge;
  for (std::size_t mu = 0; mu < 4; ++mu) task.boundary[mu] = boundary_phase(boundary[mu]);
  for (const runtime::Block& block : links.decomposition().blocks()) {
    task.shape = links.shape(block.index);
    task.origin = block.origin;
    runtime::submit(load_codelet, task, {runtime::out(links.block(block.index))}, {}, {.owner = block.owner, .block = block.index});
  }
}

void store_with_phases(HostGauge& gauge, const PaddedLinks& links, double scale, const PaddedLinks* extra, double extra_scale) {
  require_extents("smear::store_with_phases", links, gauge);
  StoreTask task{};
  task.gauge = &gauge;
  task.scale = scale;
  task.extra_scale = extra_scale;
  task.has_extra = extra != nullptr;
  for (const runtime::Block& block : links.decomposition().blocks()) {
    task.shape = links.shape(block.index);
    task.origin = block.origin;
    runtime::AccessList accesses{runtime::in(links.block(block.index))};
    if (extra != nullptr) {
      task.extra_shape = extra->shape(block.index);
      accesses.push_back(runtime::in(extra->block(block.index)));
    }
    runtime::submit(store_codelet, task, accesses, {}, {.owner = block.owner, .block = block.index});
  }
}

}  // namespace quarkstar::smear
