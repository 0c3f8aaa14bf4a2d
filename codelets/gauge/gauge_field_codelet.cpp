#include "codelets/gauge/gauge_cuda.hpp"
#include "codelets/gauge/gauge_field.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::gauge {
namespace {

using runtime::Call;

/// A block, and where it is in the lattice.
struct Place {
  LinkShape shape;
  Coord origin, lattice;
};

/// Calls body(coordinates in the lattice, coordinates in the block) for the sites inside the border.
template <class Body>
void for_sites(const runtime::Team& team, const Place& place, Body&& body) {
  const LinkShape& shape = place.shape;
  team.for_range(shape.rows(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const Coord start = shape.row_start(row);
      for (int i = 0; i < shape.extents[0]; ++i) {
        const Coord local{i, start[1], start[2], start[3]};
        Coord global{};
        for (int mu = 0; mu < 4; ++mu) global[mu] = (place.origin[mu] + local[mu]) % place.lattice[mu];
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

/// Copies on the low and the high side of a block, each between two of the task's buffers.
struct BorderTask {
  BoxCopy box[2];
  int to[2], from[2];
};

void run_copies(Call& call) {
  const auto& task = call.arguments<BorderTask>();
  for (int side = 0; side < 2; ++side)
    call.team().for_range(task.box[side].rows(), [&](std::int64_t begin, std::int64_t end, int) {
      const BoxCopy& box = task.box[side];
      for (std::int64_t row = begin; row < end; ++row)
        box.copy(call.buffer<double>(task.to[side]), call.buffer<const double>(task.from[side]), row, 0, box.extents[0]);
    });
}

#ifdef QUARKSTAR_CUDA
void run_copies_on_cuda(Call& call) {
  const auto& task = call.arguments<BorderTask>();
  for (int side = 0; side < 2; ++side)
    cuda::launch_copy(call.buffer<double>(task.to[side]), call.buffer<const double>(task.from[side]), task.box[side],
                      static_cast<runtime::CudaStream>(call.stream()));
}
#else
constexpr runtime::Implementation run_copies_on_cuda = nullptr;
#endif

const runtime::Codelet load_codelet("gauge.load", runtime::CodeletKind::copy, run_load);
const runtime::Codelet store_codelet("gauge.store", runtime::CodeletKind::copy, run_store);
const runtime::Codelet pack_codelet("gauge.border.pack", runtime::CodeletKind::pack, run_copies, run_copies_on_cuda);
const runtime::Codelet unpack_codelet("gauge.border.unpack", runtime::CodeletKind::copy, run_copies, run_copies_on_cuda);
const runtime::Codelet wrap_codelet("gauge.border.wrap", runtime::CodeletKind::copy, run_copies, run_copies_on_cuda);

/// Layers of a block at one side of direction mu: a part of the border, or what a neighbour's border repeats. With the border of the
/// directions before mu.
Box slab(const LinkShape& shape, int mu, bool high, bool border) {
  Box box({}, shape.extents);
  for (int nu = 0; nu < mu; ++nu) {
    box.origin[nu] = -shape.depth;
    box.extents[nu] = shape.padded(nu);
  }
  box.origin[mu] = border ? (high ? shape.extents[mu] : -shape.depth) : (high ? shape.extents[mu] - shape.depth : 0);
  box.extents[mu] = shape.depth;
  return box;
}

void submit_copies(const runtime::Codelet& codelet, BorderTask& task, int first, int last, const runtime::AccessList& accesses,
                   const runtime::Block& block) {
  for (BoxCopy& box : task.box) {
    box.first_real = first * LinkShape::link_reals;
    box.reals = (last - first) * LinkShape::link_reals;
  }
  const double reals = 4.0 * static_cast<double>(volume(task.box[0].extents)) * task.box[0].reals;
  runtime::submit(codelet, task, accesses, {0, reals * sizeof(double)}, {block.owner, block.index, &codelet == &pack_codelet});
}

void require_within(const char* where, const Box& outer, const Box& inner, const GaugeField& links, const HostGauge& host) {
  if (!contains(outer, inner, links.part().lattice) ||
      host.data.size() != static_cast<std::size_t>(volume(host.extents)) * HostGauge::reals_per_site)
    throw ShapeError(where, "host field and blocks have other extents");
}

Place place_of(const GaugeField& links, const runtime::Block& block) {
  return {links.shape(block), links.origin(block), links.part().lattice};
}

}  // namespace

Part::Part(const runtime::Decomposition& whole) : blocks(whole), lattice(whole.lattice()), box({}, whole.lattice()) {
  if (whole.is_distributed()) throw ShapeError("gauge::Part", "other ranks have parts of this decomposition");
}

GaugeField::GaugeField(const Part& part, int depth) : part_(part), depth_(depth) {
  for (const runtime::Block& block : blocks()) {
    for (int mu = 0; mu < 4; ++mu)
      if (block.extents[mu] < depth)
        throw Error(ErrorKind::input, Parameter("blocks"),
                    fmt::format("a block of extent {} along {} is thinner than the border of {} sites that links need", block.extents[mu],
                                "xyzt"[mu], depth),
                    "cut that direction into fewer blocks");
    handles_.emplace_back(shape(block).reals() * sizeof(double));
  }
}

Coord GaugeField::origin(const runtime::Block& block) const {
  Coord origin = part_.box.origin;
  for (int mu = 0; mu < 4; ++mu) origin[mu] += block.origin[mu];
  return origin;
}

void load(const GaugeField& links, const HostGauge& host, const BoundaryAngles& boundary) {
  require_within("gauge::load", host.box(), links.part().box, links, host);
  for (const runtime::Block& block : links.blocks()) {
    LoadTask task{place_of(links, block), &host, {}};
    for (std::size_t mu = 0; mu < 4; ++mu) task.boundary[mu] = boundary_phase(boundary[mu]);
    runtime::submit(load_codelet, task, {runtime::out(links.handle(block))}, {}, {.owner = block.owner, .block = block.index});
  }
}

void store(HostGauge& host, const GaugeField& links, const StoreOptions& options) {
  require_within("gauge::store", links.part().box, host.box(), links, host);
  const GaugeField* extra = options.extra;
  for (const runtime::Block& block : links.blocks()) {
    runtime::AccessList accesses{runtime::in(links.handle(block))};
    if (extra != nullptr) accesses.push_back(runtime::in(extra->handle(block)));
    const StoreTask task{place_of(links, block),
                         extra != nullptr ? extra->shape(block) : LinkShape{},
                         &host,
                         options.scale,
                         options.extra_scale,
                         extra != nullptr,
                         options.staggered_phases};
    runtime::submit(store_codelet, task, accesses, {}, {.owner = block.owner, .block = block.index});
  }
}

void exchange_border(const GaugeField& links, int first, int last) {
  if (links.depth() == 0) return;
  const runtime::Decomposition& decomposition = links.part().blocks;
  for (int mu = 0; mu < 4; ++mu) {
    const bool cut = decomposition.is_cut(mu);
    // faces[2 b + high]: the outermost layers of block b on that side, before any border of this direction is written.
    std::vector<runtime::Handle> faces;
    for (const runtime::Block& block : links.blocks()) {
      const LinkShape shape = links.shape(block);
      BorderTask task{};
      for (const bool high : {false, true}) {
        const Box source = slab(shape, mu, cut == high, false), border = slab(shape, mu, high, true);
        task.from[high] = cut ? 2 : 0;
        task.to[high] = cut ? high : 0;
        task.box[high] = cut ? BoxCopy{{source.extents, 0}, shape, {}, source.origin, source.extents}
                             : BoxCopy{shape, shape, border.origin, source.origin, source.extents};
        if (cut) faces.emplace_back(LinkShape{source.extents, 0}.reals() * sizeof(double));
      }
      if (cut)
        submit_copies(pack_codelet, task, first, last,
                      {runtime::out(*(faces.end() - 2)), runtime::out(faces.back()), runtime::in(links.handle(block))}, block);
      else submit_copies(wrap_codelet, task, first, last, {runtime::inout(links.handle(block))}, block);
    }
    if (!cut) continue;
    for (const runtime::Block& block : links.blocks()) {
      const LinkShape shape = links.shape(block);
      BorderTask task{};
      runtime::AccessList accesses{runtime::inout(links.handle(block))};
      for (const bool high : {false, true}) {
        const Box border = slab(shape, mu, high, true);
        task.from[high] = 1 + high;
        task.box[high] = {shape, {border.extents, 0}, border.origin, {}, border.extents};
        const int neighbour = decomposition.neighbour(block.index, high ? 2 * mu : 2 * mu + 1);
        accesses.push_back(runtime::in(faces[static_cast<std::size_t>(2 * neighbour + (high ? 0 : 1))]));
      }
      submit_copies(unpack_codelet, task, first, last, accesses, block);
    }
  }
}

}  // namespace quarkstar::gauge
