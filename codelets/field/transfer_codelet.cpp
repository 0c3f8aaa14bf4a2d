#include "codelets/arch/implementations.hpp"
#include "codelets/field/convert_cuda.hpp"
#include "codelets/field/convert_site.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/field/write_link.hpp"
#include "codelets/gauge/observables.hpp"
#include "codelets/lattice/lanes_in_a_row.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/simulate/simulate.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace quarkstar::transfer {
namespace {

using runtime::Call;
using runtime::Codelet;

Coord global_site(const BlockGeometry& block, const SitePosition& position) {
  Coord site = block.local_site(position);
  for (int mu = 0; mu < 4; ++mu) site[mu] += block.block().origin[mu];
  return site;
}

/// Calls body(outer, lane, global coordinates of the site) over one block, split over the team.
template <class Body>
void for_sites(const runtime::Team& team, const BlockGeometry& block, int parity, Body&& body) {
  team.for_range(block.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (auto outer = static_cast<int>(begin); outer < end; ++outer)
      for (int lane = 0; lane < block.lanes().lanes; ++lane) body(outer, lane, global_site(block, {parity, outer, lane}));
  });
}

struct LinkTask {
  const BlockGeometry* block;
  const HostGauge* gauge;
  Coord lattice;
  int parity, reals;
};

template <class F>
void run_load_links(Call& call) {
  const auto& task = call.arguments<LinkTask>();
  F* links = call.buffer<F>(0);
  const int link_words = NumberFormat<F>::link_words(task.reals);
  const Box box = task.gauge->box();
  const int lanes = task.block->lanes().lanes;
  for_sites(call.team(), *task.block, task.parity, [&](int outer, int lane, const Coord& site) {
    for (int d = 0; d < 8; ++d) {
      const int mu = d / 2;
      Coord start = site;
      if (d % 2 == 1) start[mu] = (start[mu] + task.lattice[mu] - 1) % task.lattice[mu];
      const auto link = task.gauge->link(index_in(box, start, task.lattice), mu);
      F* to =
          links + (static_cast<std::size_t>(outer) * 8 + static_cast<std::size_t>(d)) * static_cast<std::size_t>(link_words * lanes) + lane;
      write_link(to, link.data(), task.reals, lanes);
    }
  });
}

struct SpinorTask {
  const BlockGeometry* block;
  HostSpinor* host;
  Coord lattice;
  int parity;
};

template <class F, bool Load>
void run_spinor(Call& call) {
  const auto& task = call.arguments<SpinorTask>();
  F* field = call.buffer<F>(0);
  const int lanes = task.block->lanes().lanes;
  const Box box = task.host->box();
  for_sites(call.team(), *task.block, task.parity, [&](int outer, int lane, const Coord& x) {
    F* site = field + spinor_offset<F>(outer, lane, lanes);
    std::complex<double>* host = &task.host->data[static_cast<std::size_t>(index_in(box, x, task.lattice)) * HostSpinor::components];
    site::Complex<SiteLane<F>> z[HostSpinor::components];
    if constexpr (Load) {
      for (int c = 0; c < HostSpinor::components; ++c)
        z[c] = {{static_cast<Real<F>>(host[c].real())}, {static_cast<Real<F>>(host[c].imag())}};
      site::write_site<F>(site, lanes, z);
    } else {
      const site::SiteReader<F, SiteLane<F>> reader(site, lanes);
      for (int c = 0; c < HostSpinor::components; ++c) {
        const auto value = reader.component(c);
        host[c] = {static_cast<double>(value.re.v), static_cast<double>(value.im.v)};
      }
    }
  });
}

struct ConvertTask {
  BlockShape to,
      from;  ///< not pointers to them: equal bytes of arguments must mean equal work, because graphs are kept by them
  int parity;
  bool has_state;
  runtime::When when;
};

const std::int32_t* idle_flag_of(Call& call, const ConvertTask& task) {
  return task.has_state ? idle_flag(call.buffer<const runtime::GraphStatus>(2), task.when) : nullptr;
}

template <class To, class From>
void run_convert(Call& call) {
  const auto& task = call.arguments<ConvertTask>();
  if (const std::int32_t* idle = idle_flag_of(call, task); idle != nullptr && *idle != 0) return call.skip();
  To* to = call.buffer<To>(0);
  const From* from = call.buffer<const From>(1);
  const int to_lanes = task.to.lanes, from_lanes = task.from.lanes, in_a_row = lanes_in_a_row(task.to, task.from);
  call.team().for_range(task.to.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (auto outer = static_cast<int>(begin); outer < end; ++outer)
      for (int first = 0; first < to_lanes; first += in_a_row) {
        const SitePosition source = task.from.locate(task.to.local_site({task.parity, outer, first}));
        for (int i = 0; i < in_a_row; ++i)
          convert_site<To, From>(to + spinor_offset<To>(outer, first + i, to_lanes), to_lanes,
                                 from + spinor_offset<From>(source.outer, source.lane + i, from_lanes), from_lanes);
      }
  });
}

#ifdef QUARKSTAR_CUDA
template <class To, class From>
void run_convert_on_cuda(Call& call) {
  const auto& task = call.arguments<ConvertTask>();
  cuda::launch_convert(call.buffer<To>(0), call.buffer<const From>(1), task.to, task.from, task.parity, idle_flag_of(call, task),
                       static_cast<runtime::CudaStream>(call.stream()));
}
#endif

const Codelet& load_links_codelet(Precision precision) {
  return with_format(precision, [&](auto format) -> const Codelet& {
    static const Codelet codelet(fmt::format("transfer.links.{}", name_of(precision)), runtime::CodeletKind::copy,
                                 run_load_links<typename decltype(format)::type>);
    return codelet;
  });
}

template <bool Load>
const Codelet& spinor_codelet(Precision precision) {
  return with_format(precision, [&](auto format) -> const Codelet& {
    static const Codelet codelet(fmt::format("transfer.{}.{}", Load ? "load" : "store", name_of(precision)), runtime::CodeletKind::copy,
                                 run_spinor<typename decltype(format)::type, Load>);
    return codelet;
  });
}

const Codelet& convert_codelet(Precision to, Precision from) {
  return with_format(to, [&](auto to_format) -> const Codelet& {
    return with_format(from, [&](auto from_format) -> const Codelet& {
      using To = typename decltype(to_format)::type;
      using From = typename decltype(from_format)::type;
      static const Codelet codelet(fmt::format("transfer.{}_to_{}", name_of(from), name_of(to)), runtime::CodeletKind::copy,
                                   QUARKSTAR_BOTH(run_convert, To, From));
      return codelet;
    });
  });
}

/// 12 and 8 reals cannot hold what is not SU(3). The same verdict on all ranks that have parts of the lattice.
void require_special_unitary(const HostGauge& gauge, int reals, bool distributed) {
  constexpr double largest_deviation = 1e-4;  // single-precision files stay far below
  const gauge::UnitarityDeviation mine = gauge::unitarity_deviation(gauge, runtime::Session::current().cpu_team());
  double deviation[] = {mine.unitarity, mine.determinant};
  if (distributed) runtime::mpi::Job::current().combine(std::span<double>(deviation), runtime::mpi::Combine::maximum);
  if (!(std::max(deviation[0], deviation[1]) <= largest_deviation))
    throw Error(ErrorKind::input, "--links",
                fmt::format("{} reals store SU(3) matrices only, and these links are not (|U U^+ - 1| = {:.1e}, |det U - 1| = {:.1e})",
                            reals, deviation[0], deviation[1]),
                "use 18, or reunitarize the configuration");
}

runtime::Placement placement_of(const BlockGeometry& block) { return {.owner = block.block().owner, .block = block.block().index}; }

}  // namespace

void load_links(LinkField& even, LinkField& odd, const HostGauge& gauge) {
  const Lattice& lattice = *even.lattice();
  if (even.parity() != 0 || odd.parity() != 1 || odd.lattice().get() != &lattice || even.reals() != odd.reals())
    throw ShapeError("load_links", "the two link fields do not belong together");
  lattice.require_part("load_links", gauge.box(), 1);
  if (even.reals() < 18 && !runtime::simulate::active)
    require_special_unitary(gauge, even.reals(), lattice.decomposition().is_distributed());
  const Codelet& codelet = load_links_codelet(lattice.precision());
  for (const LinkField* links : {&even, &odd})
    for (const int b : lattice.local_blocks())
      runtime::submit(codelet, LinkTask{&lattice.block(b), &gauge, lattice.decomposition().lattice(), links->parity(), links->reals()},
                      {runtime::out(links->block(b))}, {}, placement_of(lattice.block(b)));
  even.freeze();
  odd.freeze();
}

void load_spinor(const SpinorField& field, const HostSpinor& host) {
  const Lattice& lattice = *field.lattice();
  lattice.require_part("load_spinor", host.box(), 0);
  const Codelet& codelet = spinor_codelet<true>(lattice.precision());
  for (const int b : lattice.local_blocks())
    runtime::submit(codelet,
                    SpinorTask{&lattice.block(b), const_cast<HostSpinor*>(&host), lattice.decomposition().lattice(), field.parity()},
                    {runtime::out(field.block(b))}, {}, placement_of(lattice.block(b)));
}

void store_spinor(HostSpinor& host, const SpinorField& field) {
  const Lattice& lattice = *field.lattice();
  lattice.require_part("store_spinor", host.box(), 0);
  const Codelet& codelet = spinor_codelet<false>(lattice.precision());
  for (const int b : lattice.local_blocks())
    runtime::submit(codelet, SpinorTask{&lattice.block(b), &host, lattice.decomposition().lattice(), field.parity()},
                    {runtime::in(field.block(b))}, {}, placement_of(lattice.block(b)));
}

void convert(const SpinorField& to, const SpinorField& from, const runtime::Guard& guard) {
  const Lattice &a = *to.lattice(), &b = *from.lattice();
  if (to.parity() != from.parity() || a.decomposition().grid() != b.decomposition().grid() ||
      a.decomposition().lattice() != b.decomposition().lattice())
    throw ShapeError("convert", "fields of another parity or decomposition");
  const Codelet& codelet = convert_codelet(a.precision(), b.precision());
  for (const int i : a.local_blocks()) {
    runtime::AccessList accesses{guard.keeps ? runtime::inout(to.block(i)) : runtime::out(to.block(i)), runtime::in(from.block(i))};
    if (guard.state != nullptr) accesses.push_back(runtime::in(*guard.state));
    auto task = runtime::blank<ConvertTask>();
    task.to = a.block(i).shape();
    task.from = b.block(i).shape();
    task.parity = to.parity();
    task.has_state = guard.state != nullptr;
    task.when = guard.when;
    const double bytes = static_cast<double>(to.block_reals(i)) / SpinorField::reals *
                         static_cast<double>(site_bytes(a.precision(), SpinorField::reals) + site_bytes(b.precision(), SpinorField::reals));
    runtime::Placement placement = placement_of(a.block(i));
    placement.role = runtime::role_of(guard.when);
    runtime::submit(codelet, task, accesses, {0, bytes}, placement);
  }
}

}  // namespace quarkstar::transfer
