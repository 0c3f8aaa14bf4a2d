#include "codelets/arch/on_cuda.hpp"
#include "codelets/gauge/gauge_field.hpp"
#include "codelets/gauge/host_links.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::gauge {

QUARKSTAR_ON_CUDA(run_load_on_cuda)
QUARKSTAR_ON_CUDA(run_store_on_cuda)

namespace {

using runtime::Call;

/// Calls body(coordinates in the lattice, coordinates in the block) for every site.
template <class Body>
void for_sites(const runtime::Team& team, const LinkPlace& place, Body&& body) {
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

void run_load(Call& call) {
  const auto& task = call.arguments<LoadTask>();
  double* links = call.buffer<double>(0);
  const LinkPlace& place = task.loaded.place;
  const Box box = task.host->box();
  for_sites(call.team(), place, [&](const Coord& x, const Coord& local) {
    const std::int64_t index = index_in(box, x, place.lattice);
    for (int mu = 0; mu < 4; ++mu) task.loaded.write(links, local, mu, task.host->link(index, mu).data(), x);
  });
}

void run_store(Call& call) {
  const auto& task = call.arguments<StoreTask>();
  const LinkPlace& place = task.stored.place;
  const double *links = call.buffer<const double>(0), *extra = task.extra(call);
  const Box box = task.host->box();
  for_sites(call.team(), place, [&](const Coord& x, const Coord& local) {
    if (!contains(box, x, place.lattice)) return;
    const std::int64_t index = index_in(box, x, place.lattice);
    for (int mu = 0; mu < 4; ++mu) task.stored.read(task.host->link(index, mu).data(), links, extra, local, mu, x);
  });
}

const runtime::Codelet load_codelet("gauge.load", runtime::CodeletKind::copy, run_load, run_load_on_cuda);
/// For a block that has a small part of the box's time slices, in which links cross the bus.
const runtime::Codelet load_part_codelet("gauge.load.part", runtime::CodeletKind::copy, run_load);
const runtime::Codelet store_codelet("gauge.store", runtime::CodeletKind::copy, run_store, run_store_on_cuda);
/// Where rows of the box belong to several blocks.
const runtime::Codelet store_part_codelet("gauge.store.part", runtime::CodeletKind::copy, run_store);

/// Whether a block has all sites of the box that are at its times, so that they lie in one piece of the box's memory.
bool has_whole_slices(const LinkPlace& place, const Box& box) {
  Box at_its_times = box;
  at_its_times.origin[3] = place.origin[3] + place.sites.origin[3];
  at_its_times.extents[3] = place.sites.extents[3];
  Box sites = place.sites;
  for (std::size_t mu = 0; mu < 4; ++mu) sites.origin[mu] += place.origin[mu];
  return contains(sites, at_its_times, place.lattice);
}

/// Whether a block has a fourth of them or more.
bool has_large_part(const LinkPlace& place, const Box& box) {
  const auto slice = [](const Coord& extents) { return volume(extents) / extents[3]; };
  return 4 * slice(place.sites.extents) >= slice(box.extents);
}

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
    LoadTask task{{{links.shape(block), block.origin, links.lattice(), {{}, block.extents}}, {}}, &host};
    for (std::size_t mu = 0; mu < 4; ++mu) {
      const std::complex<double> phase = boundary_phase(boundary[mu]);
      task.loaded.boundary[mu] = {phase.real(), phase.imag()};
    }
    runtime::submit(has_large_part(task.loaded.place, host.box()) ? load_codelet : load_part_codelet, task,
                    {runtime::out(links.handle(block))}, {}, {.owner = block.owner, .block = block.index});
  }
}

void store(HostGauge& host, const GaugeField& links, const StoreOptions& options) {
  require_within("gauge::store", links.box(), host.box(), links, host);
  const GaugeField* extra = options.extra;
  for (const runtime::Block& block : links.blocks()) {
    runtime::AccessList accesses{runtime::in(links.handle(block))};
    if (extra != nullptr) accesses.push_back(runtime::in(extra->handle(block)));
    const LinkPlace place{links.shape(block), block.origin, links.lattice(), links.sites_of(block)};
    const StoreTask task{
        {place, extra != nullptr ? extra->shape(block) : LinkShape{}, options.scale, options.extra_scale, options.staggered_phases},
        &host,
        extra != nullptr};
    runtime::submit(has_whole_slices(place, host.box()) ? store_codelet : store_part_codelet, task, accesses, {},
                    {.owner = block.owner, .block = block.index});
  }
}

}  // namespace quarkstar::gauge
