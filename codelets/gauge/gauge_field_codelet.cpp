#include "codelets/gauge/gauge_field.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::gauge {
namespace {

using runtime::Call;

/// Sites of a block, border included, and where the block is in the lattice.
struct Place {
  LinkShape shape;
  Coord origin, lattice;
  Box sites;  ///< in coordinates of the block
};

/// Calls body(coordinates in the lattice, coordinates in the block) for every site.
template <class Body>
void for_sites(const runtime::Team& team, const Place& place, Body&& body) {
  const Box& sites = place.sites;
  const Coord rows{1, sites.extents[1], sites.extents[2], sites.extents[3]};
  team.for_range(volume(rows), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      Coord local = site_of({sites.origin, rows}, row), global{};
      for (int i = 0; i < sites.extents[0]; ++i, ++local[0]) {
        for (int mu = 0; mu < 4; ++mu) global[mu] = (place.origin[mu] + local[mu] + place.lattice[mu]) % place.lattice[mu];
        body(global, local);
      }
    }
  });
}

struct LoadTask {
  Place place;
  const HostGauge* host;
  std::complex<double> boundary[4];
};

void run_load(Call& call) {
  const auto& task = call.arguments<LoadTask>();
  double* links = call.buffer<double>(0);
  const LinkStrides strides = task.place.shape.strides();
  const Coord& lattice = task.place.lattice;
  const Box box = task.host->box();
  for_sites(call.team(), task.place, [&](const Coord& x, const Coord& local) {
    const std::int64_t index = index_in(box, x, lattice);
    const std::ptrdiff_t offset = task.place.shape.offset(local);
    for (int mu = 0; mu < 4; ++mu) {
      const auto from = task.host->link(index, mu);
      const std::complex<double> phase = x[mu] == lattice[mu] - 1 ? task.boundary[mu] : 1.0;
      double* to = links + offset + mu * strides.link;
      for (std::size_t i = 0; i < 18; i += 2) {
        to[static_cast<std::ptrdiff_t>(i) * strides.real] = phase.real() * from[i] - phase.imag() * from[i + 1];
        to[static_cast<std::ptrdiff_t>(i + 1) * strides.real] = phase.real() * from[i + 1] + phase.imag() * from[i];
      }
    }
  });
}

/// MILC's staggered phases: eta_x = (-1)^t, eta_y = (-1)^(t+x), eta_z = (-1)^(t+x+y), eta_t = 1.
double staggered_phase(const Coord& x, int mu) {
  const int exponent[] = {x[3], x[3] + x[0], x[3] + x[0] + x[1], 0};
  return exponent[mu] % 2 == 0 ? 1.0 : -1.0;
}

/// Buffers: the links, then the extra links (where there are any).
struct StoreTask {
  Place place;
  LinkShape extra_shape;
  HostGauge* host;
  double scale, extra_scale;
  bool has_extra, staggered_phases;
};

void run_store(Call& call) {
  const auto& task = call.arguments<StoreTask>();
  const double* links = call.buffer<const double>(0);
  const double* extra = task.has_extra ? call.buffer<const double>(1) : nullptr;
  const LinkShape& shape = task.place.shape;
  const LinkStrides strides = shape.strides(), extra_strides = task.extra_shape.strides();
  const Coord& lattice = task.place.lattice;
  const Box box = task.host->box();
  for_sites(call.team(), task.place, [&](const Coord& x, const Coord& local) {
    if (!contains(box, x, lattice)) return;
    const std::int64_t index = index_in(box, x, lattice);
    for (int mu = 0; mu < 4; ++mu) {
      const auto to = task.host->link(index, mu);
      const double phase = task.staggered_phases ? staggered_phase(x, mu) : 1;
      const double* from = links + shape.offset(local) + mu * strides.link;
      for (std::ptrdiff_t i = 0; i < 18; ++i) to[static_cast<std::size_t>(i)] = phase * (task.scale * from[i * strides.real]);
      if (extra == nullptr) continue;
      const double* more = extra + task.extra_shape.offset(local) + mu * extra_strides.link;
      for (std::ptrdiff_t i = 0; i < 18; ++i) to[static_cast<std::size_t>(i)] += phase * (task.extra_scale * more[i * extra_strides.real]);
    }
  });
}

const runtime::Codelet load_codelet("gauge.load", runtime::CodeletKind::copy, run_load);
const runtime::Codelet store_codelet("gauge.store", runtime::CodeletKind::copy, run_store);

void require_within(const char* where, const Box& outer, const Box& inner, const GaugeField& links, const HostGauge& host) {
  if (!contains(outer, inner, links.lattice()) ||
      host.data.size() != static_cast<std::size_t>(volume(host.extents)) * HostGauge::reals_per_site)
    throw ShapeError(where, "host field and blocks have other extents");
}

}  // namespace

GaugeField::GaugeField(const runtime::Decomposition& decomposition, const Coord& depth) : decomposition_(decomposition), depth_(depth) {
  for (const runtime::Block& block : decomposition_.blocks())
    for (std::size_t mu = 0; mu < 4; ++mu)
      if (block.extents[mu] < depth[mu])
        throw Error(ErrorKind::input, Parameter("blocks"),
                    fmt::format("a block of extent {} along {} is thinner than the border of {} sites that links need", block.extents[mu],
                                "xyzt"[mu], depth[mu]),
                    "cut that direction into fewer blocks");
  for (const int index : decomposition_.local()) {
    blocks_.push_back(decomposition_.block(index));
    handles_.emplace_back(shape(blocks_.back()).reals() * sizeof(double));
  }
}

void GaugeField::require_border(int depth, const char* where) const {
  const int least = *std::min_element(depth_.begin(), depth_.end());
  if (least < depth) throw ShapeError(where, fmt::format("a border of {} sites, {} are read", least, depth));
}

std::array<int, 2> GaugeField::layers_around(std::size_t mu) const {
  const int others = lattice()[mu] - decomposition_.part().extents[mu];
  const int low = std::min(depth_[mu], others);
  return {low, std::min(depth_[mu], others - low)};
}

Box GaugeField::box() const {
  Box box = decomposition_.part();
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const auto [low, high] = layers_around(mu);
    box.origin[mu] -= low;
    box.extents[mu] += low + high;
  }
  return box;
}

Box GaugeField::sites_of(const runtime::Block& block) const {
  const Box part = decomposition_.part();
  Box sites({}, block.extents);
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const auto [low, high] = layers_around(mu);
    if (block.origin[mu] == part.origin[mu]) {
      sites.origin[mu] -= low;
      sites.extents[mu] += low;
    }
    if (block.origin[mu] + block.extents[mu] == part.origin[mu] + part.extents[mu]) sites.extents[mu] += high;
  }
  return sites;
}

void load(const GaugeField& links, const HostGauge& host, const BoundaryAngles& boundary) {
  require_within("gauge::load", host.box(), links.decomposition().part(), links, host);
  for (const runtime::Block& block : links.blocks()) {
    LoadTask task{{links.shape(block), block.origin, links.lattice(), {{}, block.extents}}, &host, {}};
    for (std::size_t mu = 0; mu < 4; ++mu) task.boundary[mu] = boundary_phase(boundary[mu]);
    runtime::submit(load_codelet, task, {runtime::out(links.handle(block))}, {}, {.owner = block.owner, .block = block.index});
  }
}

void store(HostGauge& host, const GaugeField& links, const StoreOptions& options) {
  require_within("gauge::store", links.box(), host.box(), links, host);
  const GaugeField* extra = options.extra;
  for (const runtime::Block& block : links.blocks()) {
    runtime::AccessList accesses{runtime::in(links.handle(block))};
    if (extra != nullptr) accesses.push_back(runtime::in(extra->handle(block)));
    const StoreTask task{{links.shape(block), block.origin, links.lattice(), links.sites_of(block)},
                         extra != nullptr ? extra->shape(block) : LinkShape{},
                         &host,
                         options.scale,
                         options.extra_scale,
                         extra != nullptr,
                         options.staggered_phases};
    runtime::submit(store_codelet, task, accesses, {}, {.owner = block.owner, .block = block.index});
  }
}

}  // namespace quarkstar::gauge
