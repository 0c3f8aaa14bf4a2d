#include "codelets/transfer/transfer.hpp"

#include "codelets/transfer/convert_cuda.hpp"
#include "runtime/codelet.hpp"
#include "runtime/error.hpp"

namespace quarkstar::transfer {
namespace {

using runtime::Call;
using runtime::Codelet;

Coord global_site(const BlockGeometry& block, const SitePosition& position) {
  Coord site = block.local_site(position);
  for (int mu = 0; mu < 4; ++mu) site[mu] += block.block().origin[mu];
  return site;
}

/// Calls body(outer, lane, lexicographic index of the site in the whole lattice) over one block, split over the team.
template <class Body>
void for_sites(const runtime::Team& team, const BlockGeometry& block, int parity, const Coord& lattice, Body&& body) {
  team.for_range(block.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (auto outer = static_cast<int>(begin); outer < end; ++outer)
      for (int lane = 0; lane < block.lanes().lanes; ++lane)
        body(outer, lane, lexicographic(global_site(block, {parity, outer, lane}), lattice));
  });
}

struct LinkTask {
  const BlockGeometry* block;
  const HostGauge* gauge;
  int parity, reals;
};

template <class T>
void run_load_links(Call& call) {
  const auto& task = call.arguments<LinkTask>();
  T* links = call.buffer<T>(0);
  const Coord& lattice = task.gauge->extents;
  const int lanes = task.block->lanes().lanes;
  for_sites(call.team(), *task.block, task.parity, lattice, [&](int outer, int lane, std::int64_t index) {
    const Coord site = coordinates(index, lattice);
    for (int d = 0; d < 8; ++d) {
      const int mu = d / 2;
      Coord start = site;
      if (d % 2 == 1) start[mu] = (start[mu] + lattice[mu] - 1) % lattice[mu];
      const auto link = task.gauge->link(lexicographic(start, lattice), mu);
      T* to = links + (static_cast<std::size_t>(outer) * 8 + static_cast<std::size_t>(d)) * static_cast<std::size_t>(task.reals * lanes) + lane;
      for (int i = 0; i < task.reals; ++i) to[i * lanes] = static_cast<T>(link[static_cast<std::size_t>(i)]);
    }
  });
}

struct SpinorTask {
  const BlockGeometry* block;
  HostSpinor* host;
  int parity;
};

/// Offset of a site's first real in a block of spinors.
std::size_t spinor_offset(int outer, int lane, int lanes) {
  return static_cast<std::size_t>(outer) * static_cast<std::size_t>(SpinorField::reals * lanes) + static_cast<std::size_t>(lane);
}

template <class T, bool Load>
void run_spinor(Call& call) {
  const auto& task = call.arguments<SpinorTask>();
  T* field = call.buffer<T>(0);
  const int lanes = task.block->lanes().lanes;
  for_sites(call.team(), *task.block, task.parity, task.host->extents, [&](int outer, int lane, std::int64_t index) {
    T* reals = field + spinor_offset(outer, lane, lanes);
    for (int c = 0; c < HostSpinor::components; ++c) {
      auto& value = task.host->data[static_cast<std::size_t>(index) * HostSpinor::components + static_cast<std::size_t>(c)];
      if constexpr (Load) {
        reals[2 * c * lanes] = static_cast<T>(value.real());
        reals[(2 * c + 1) * lanes] = static_cast<T>(value.imag());
      } else {
        value = {static_cast<double>(reals[2 * c * lanes]), static_cast<double>(reals[(2 * c + 1) * lanes])};
      }
    }
  });
}

struct ConvertTask {
  const BlockGeometry *to, *from;
  int parity;
};

template <class To, class From>
void run_convert(Call& call) {
  const auto& task = call.arguments<ConvertTask>();
  To* to = call.buffer<To>(0);
  const From* from = call.buffer<const From>(1);
  const int to_lanes = task.to->lanes().lanes, from_lanes = task.from->lanes().lanes;
  call.team().for_range(task.to->outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (auto outer = static_cast<int>(begin); outer < end; ++outer)
      for (int lane = 0; lane < to_lanes; ++lane) {
        const SitePosition source = task.from->locate(task.to->local_site({task.parity, outer, lane}));
        To* t = to + spinor_offset(outer, lane, to_lanes);
        const From* f = from + spinor_offset(source.outer, source.lane, from_lanes);
        for (int i = 0; i < SpinorField::reals; ++i) t[i * to_lanes] = static_cast<To>(f[i * from_lanes]);
      }
  });
}

template <class To, class From>
constexpr runtime::Implementation convert_on_cuda() {
#ifdef QUARKSTAR_CUDA
  return [](Call& call) {
    const auto& task = call.arguments<ConvertTask>();
    cuda::launch_convert(call.buffer<To>(0), call.buffer<const From>(1), task.to->shape(), task.from->shape(), task.parity,
                         static_cast<runtime::CudaStream>(call.stream()));
  };
#else
  return nullptr;
#endif
}

const Codelet load_links_single("transfer.links.single", run_load_links<float>);
const Codelet load_links_double("transfer.links.double", run_load_links<double>);
const Codelet load_single("transfer.load.single", run_spinor<float, true>);
const Codelet load_double("transfer.load.double", run_spinor<double, true>);
const Codelet store_single("transfer.store.single", run_spinor<float, false>);
const Codelet store_double("transfer.store.double", run_spinor<double, false>);
const Codelet narrow("transfer.double_to_single", run_convert<float, double>, convert_on_cuda<float, double>());
const Codelet widen("transfer.single_to_double", run_convert<double, float>, convert_on_cuda<double, float>());
const Codelet copy_single("transfer.copy.single", run_convert<float, float>, convert_on_cuda<float, float>());
const Codelet copy_double("transfer.copy.double", run_convert<double, double>, convert_on_cuda<double, double>());

const Codelet& pick(Precision precision, const Codelet& single, const Codelet& both) {
  return precision == Precision::single ? single : both;
}

void require_extents(const char* where, const Lattice& lattice, const Coord& extents) {
  if (lattice.decomposition().lattice() != extents) throw ShapeError(where, "host field and lattice have other extents");
}

runtime::Placement placement_of(const BlockGeometry& block) { return {.owner = block.block().owner, .block = block.block().index}; }

}  // namespace

void load_links(const LinkField& links, const HostGauge& gauge) {
  const Lattice& lattice = *links.lattice();
  require_extents("load_links", lattice, gauge.extents);
  const Codelet& codelet = pick(lattice.precision(), load_links_single, load_links_double);
  for (int b = 0; b < lattice.block_count(); ++b)
    runtime::submit(codelet, LinkTask{&lattice.block(b), &gauge, links.parity(), links.reals()}, {runtime::out(links.block(b))}, {},
                    placement_of(lattice.block(b)));
}

void load_spinor(const SpinorField& field, const HostSpinor& host) {
  const Lattice& lattice = *field.lattice();
  require_extents("load_spinor", lattice, host.extents);
  const Codelet& codelet = pick(lattice.precision(), load_single, load_double);
  for (int b = 0; b < lattice.block_count(); ++b)
    runtime::submit(codelet, SpinorTask{&lattice.block(b), const_cast<HostSpinor*>(&host), field.parity()},
                    {runtime::out(field.block(b))}, {}, placement_of(lattice.block(b)));
}

void store_spinor(HostSpinor& host, const SpinorField& field) {
  const Lattice& lattice = *field.lattice();
  require_extents("store_spinor", lattice, host.extents);
  const Codelet& codelet = pick(lattice.precision(), store_single, store_double);
  for (int b = 0; b < lattice.block_count(); ++b)
    runtime::submit(codelet, SpinorTask{&lattice.block(b), &host, field.parity()}, {runtime::in(field.block(b))}, {},
                    placement_of(lattice.block(b)));
}

void convert(const SpinorField& to, const SpinorField& from) {
  const Lattice &a = *to.lattice(), &b = *from.lattice();
  if (to.parity() != from.parity() || a.decomposition().grid() != b.decomposition().grid() ||
      a.decomposition().lattice() != b.decomposition().lattice())
    throw ShapeError("convert", "fields of another parity or decomposition");
  const Codelet& codelet = a.precision() == b.precision() ? pick(a.precision(), copy_single, copy_double)
                                                          : pick(a.precision(), narrow, widen);
  for (int i = 0; i < a.block_count(); ++i)
    runtime::submit(codelet, ConvertTask{&a.block(i), &b.block(i), to.parity()}, {runtime::out(to.block(i)), runtime::in(from.block(i))},
                    {}, placement_of(a.block(i)));
}

}  // namespace quarkstar::transfer
