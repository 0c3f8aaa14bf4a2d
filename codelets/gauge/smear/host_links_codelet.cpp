// Between host order and padded blocks: boundary phases on the way in, staggered phases on the way out.
#include "codelets/gauge/smear/padded_links.hpp"
#include "codelets/gauge/smear/phases.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar::smear {
namespace {

using runtime::Call;

/// A block of a region, and where it is in the lattice.
struct Place {
  PaddedShape shape;
  Coord origin;  ///< may be beyond the lattice's edge
  Coord lattice;

  Place(const PaddedLinks& links, const runtime::Block& block)
      : shape(links.shape(block.index)), origin(links.region().box.origin), lattice(links.region().lattice) {
    for (int mu = 0; mu < 4; ++mu) origin[mu] += block.origin[mu];
  }
};

/// Calls body(global coordinates, coordinates in the block) for the sites inside the border.
template <class Body>
void for_sites(const runtime::Team& team, const Place& place, Body&& body) {
  const PaddedShape& shape = place.shape;
  team.for_range(shape.rows(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      Coord local = shape.row_start(row), global{};
      for (; local[0] < shape.extents[0]; ++local[0]) {
        for (int mu = 0; mu < 4; ++mu) global[mu] = (place.origin[mu] + local[mu]) % place.lattice[mu];
        body(global, local);
      }
    }
  });
}

struct LoadTask {
  Place place;
  const HostGauge* gauge;
  std::complex<double> boundary[4];
};

void run_load(Call& call) {
  const auto& task = call.arguments<LoadTask>();
  double* links = call.buffer<double>(0);
  const PaddedShape& shape = task.place.shape;
  const LinkStrides strides = shape.strides();
  const Coord& lattice = task.place.lattice;
  const Box box = task.gauge->box();
  for_sites(call.team(), task.place, [&](const Coord& x, const Coord& local) {
    const std::int64_t index = index_in(box, x, lattice);
    const std::ptrdiff_t offset = shape.offset(local);
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
  Place place;
  PaddedShape extra_shape;
  HostGauge* gauge;
  double scale, extra_scale;
  bool has_extra;
};

void run_store(Call& call) {
  const auto& task = call.arguments<StoreTask>();
  const double* links = call.buffer<const double>(0);
  const double* extra = task.has_extra ? call.buffer<const double>(1) : nullptr;
  const PaddedShape& shape = task.place.shape;
  const LinkStrides strides = shape.strides(), extra_strides = task.extra_shape.strides();
  const Coord& lattice = task.place.lattice;
  const Box box = task.gauge->box();
  for_sites(call.team(), task.place, [&](const Coord& x, const Coord& local) {
    if (!contains(box, x, lattice)) return;
    const std::int64_t index = index_in(box, x, lattice);
    const std::ptrdiff_t offset = shape.offset(local);
    for (int mu = 0; mu < 4; ++mu) {
      const auto to = task.gauge->link(index, mu);
      const double phase = staggered_phase(x, mu);
      const double* from = links + offset + mu * strides.link;
      for (std::ptrdiff_t i = 0; i < 18; ++i) to[static_cast<std::size_t>(i)] = phase * (task.scale * from[i * strides.real]);
      if (extra == nullptr) continue;
      const double* more = extra + task.extra_shape.offset(local) + mu * extra_strides.link;
      for (std::ptrdiff_t i = 0; i < 18; ++i) to[static_cast<std::size_t>(i)] += phase * (task.extra_scale * more[i * extra_strides.real]);
    }
  });
}

const runtime::Codelet load_codelet("smear.load", runtime::CodeletKind::copy, run_load);
const runtime::Codelet store_codelet("smear.store", runtime::CodeletKind::copy, run_store);

void require_within(const char* where, const Box& outer, const Box& inner, const PaddedLinks& links, const HostGauge& gauge) {
  if (!contains(outer, inner, links.region().lattice) ||
      gauge.data.size() != static_cast<std::size_t>(volume(gauge.extents)) * HostGauge::reals_per_site)
    throw ShapeError(where, "host field and blocks have other extents");
}

}  // namespace

void load(const PaddedLinks& links, const HostGauge& gauge, const BoundaryAngles& boundary) {
  require_within("smear::load", gauge.box(), links.region().box, links, gauge);
  for (const runtime::Block& block : links.decomposition().blocks()) {
    LoadTask task{Place(links, block), &gauge, {}};
    for (std::size_t mu = 0; mu < 4; ++mu) task.boundary[mu] = boundary_phase(boundary[mu]);
    runtime::submit(load_codelet, task, {runtime::out(links.block(block.index))}, {}, {.owner = block.owner, .block = block.index});
  }
}

void store_with_phases(HostGauge& gauge, const PaddedLinks& links, double scale, const PaddedLinks* extra, double extra_scale) {
  require_within("smear::store_with_phases", links.region().box, gauge.box(), links, gauge);
  for (const runtime::Block& block : links.decomposition().blocks()) {
    StoreTask task{Place(links, block), {}, &gauge, scale, extra_scale, extra != nullptr};
    runtime::AccessList accesses{runtime::in(links.block(block.index))};
    if (extra != nullptr) {
      task.extra_shape = extra->shape(block.index);
      accesses.push_back(runtime::in(extra->block(block.index)));
    }
    runtime::submit(store_codelet, task, accesses, {}, {.owner = block.owner, .block = block.index});
  }
}

}  // namespace quarkstar::smear
