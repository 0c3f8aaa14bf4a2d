#include "codelets/actions/wilson/schwarz.hpp"
#include "codelets/actions/wilson/schwarz_cuda.hpp"
#include "codelets/actions/wilson/schwarz_kernels.hpp"
#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace quarkstar::wilson {
namespace {

using runtime::Call;
using runtime::Codelet;

constexpr std::int64_t most_domain_sites = 16384;  // 48 MiB of working memory per thread (schwarz_thread_bytes)

/// Buffers: tables, links of even and of odd sites, in, out, then the state where there is one.
struct SchwarzTask {
  int lanes, link_reals, steps, domain_sites;
  std::int64_t outer_sites;  ///< of one parity
  double diagonal, scale;
  int vectors;
  bool has_state, chunked;
  Obedience obedience;

  const VectorStatus* status(Call& call) const { return has_state ? call.buffer<const VectorStatus>(5) : nullptr; }

  /// Of the first vector.
  template <class F>
  SchwarzArguments<F> unpack(Call& call) const {
    SchwarzArguments<F> a{};
    const auto* tables = call.buffer<const std::uint32_t>(0);
    for (int parity = 0; parity < 2; ++parity) {
      a.sites[parity] = tables + parity * outer_sites;
      a.neighbours[parity] = tables + 2 * outer_sites + parity * 8 * domain_sites;
      a.links[parity] = call.buffer<const F>(1 + parity);
    }
    a.in = call.buffer<const F>(3);
    a.out = call.buffer<F>(4);
    a.diagonal = static_cast<Real<F>>(diagonal);
    a.scale = static_cast<Real<F>>(scale);
    a.vectors = vectors;
    a.domain_sites = domain_sites;
    a.steps = steps;
    return a;
  }
};

/// A thread's working memory, kept from task to task, on a cache line's start.
template <class T>
T* working_memory(std::int64_t reals) {
  constexpr std::size_t line = 64 / sizeof(T);
  thread_local std::vector<T> memory;
  if (memory.size() < static_cast<std::size_t>(reals) + line) memory.resize(static_cast<std::size_t>(reals) + line);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  return memory.data() + (64 - address % 64) % 64 / sizeof(T);
}

template <class F>
void run_schwarz(Call& call) {
  const auto& task = call.arguments<SchwarzTask>();
  const VectorStatus* status = task.status(call);
  if (const std::int32_t* idle = task.obedience.idle(status); idle != nullptr && *idle != 0) return call.skip();
  const std::int32_t* left_out = task.obedience.left_out(status);
  SchwarzArguments<F> a = task.unpack<F>(call);
  static constexpr arch::KernelTable<SchwarzKernel<F> (*)(int, int)> kernels = QUARKSTAR_KERNEL_TABLE(schwarz_kernel<F>);
  const SchwarzKernel<F> kernel = kernels.current()(task.lanes, task.link_reals);
  for (int v = 0; v < task.vectors; ++v) {
    if (left_out != nullptr && left_out[v] != 0) continue;
    const auto of_vector = static_cast<std::ptrdiff_t>(v) * task.lanes * spinor_words<F>;
    a.in = call.buffer<const F>(3) + of_vector;
    a.out = call.buffer<F>(4) + of_vector;
    call.team().for_range(task.outer_sites / task.domain_sites * kernel.groups, [&](std::int64_t begin, std::int64_t end, int) {
      if (begin < end) kernel.run(a, begin, end, working_memory<Real<F>>(schwarz_memory(task.domain_sites, task.lanes / kernel.groups)));
    });
  }
}

#ifdef QUARKSTAR_CUDA
template <class F>
void run_schwarz_on_cuda(Call& call) {
  const auto& task = call.arguments<SchwarzTask>();
  cuda::launch_schwarz<F>({task.lanes, task.link_reals, task.chunked}, task.unpack<F>(call), task.outer_sites, task.status(call),
                          task.obedience, static_cast<runtime::CudaStream>(call.stream()));
}
#endif

const Codelet& schwarz_codelet(Precision precision) {
  return with_format(precision, [&](auto format) -> const Codelet& {
    using F = typename decltype(format)::type;
    static const Codelet codelet(fmt::format("wilson.{}.schwarz", name_of(precision)), runtime::CodeletKind::stencil,
                                 QUARKSTAR_BOTH(run_schwarz, F));
    return codelet;
  });
}

/// The neighbours of a domain's sites of one parity; sites are counted by parity, in lexicographic order.
std::vector<std::uint32_t> domain_neighbours(const Coord& domain, int parity) {
  std::vector<std::uint32_t> table;
  for (std::int64_t index = 0; index < volume(domain); ++index) {
    const Coord site = coordinates(index, domain);
    if (parity_of(site) != parity) continue;
    for (int d = 0; d < 8; ++d) {
      Coord next = site;
      next[static_cast<std::size_t>(d / 2)] += d % 2 == 0 ? 1 : -1;
      const int position = next[static_cast<std::size_t>(d / 2)];
      const bool inside = position >= 0 && position < domain[static_cast<std::size_t>(d / 2)];
      table.push_back(inside ? static_cast<std::uint32_t>(lexicographic(next, domain) / 2) : outside_domain);
    }
  }
  return table;
}

/// Outer sites of one parity, domain by domain.
void append_sites(std::vector<std::uint32_t>& table, const BlockShape& shape, const Coord& domain, int parity) {
  Coord domains{};
  for (std::size_t mu = 0; mu < 4; ++mu) domains[mu] = shape.outer[mu] / domain[mu];
  for (std::int64_t number = 0; number < volume(domains); ++number) {
    const Coord place = coordinates(number, domains);
    for (std::int64_t index = 0; index < volume(domain); ++index) {
      Coord site = coordinates(index, domain);
      if (parity_of(site) != parity) continue;
      for (std::size_t mu = 0; mu < 4; ++mu) site[mu] += place[mu] * domain[mu];
      table.push_back(static_cast<std::uint32_t>(shape.outer_index(site)));
    }
  }
}

}  // namespace

void require_domains(const runtime::Decomposition& decomposition, const Coord& domain, Precision precision) {
  const auto refuse = [](const std::string& what, const std::string& remedy) {
    throw Error(ErrorKind::input, Parameter("schwarz-block"), what, remedy);
  };
  if (volume(domain) > most_domain_sites)
    refuse(fmt::format("domains of {} sites", volume(domain)), fmt::format("give at most {}, e.g. 8,8,8,8", most_domain_sites));
  if (const auto bytes = gpu_domain_bytes(static_cast<int>(volume(domain) / 2), computed_bytes(precision));
      runtime::Session::current().gpu_count() > 0 && bytes > most_gpu_domain_bytes)
    refuse(fmt::format("domains of {} sites take {} KiB in {} precision, and a GPU's multiprocessor has {}", volume(domain), bytes / 1024,
                       name_of(precision), most_gpu_domain_bytes / 1024),
           "give smaller domains, e.g. 4,4,4,4, or use CPUs alone (devices cpu)");
  for (std::size_t mu = 0; mu < 4; ++mu) {
    const char direction = "xyzt"[mu];
    if (domain[mu] < 2 || domain[mu] % 2 != 0)
      refuse(fmt::format("{} sites in {}", domain[mu], direction), "give even numbers, so that all domains are alike");
    if (decomposition.lattice()[mu] % domain[mu] != 0)
      refuse(fmt::format("{} = {} is no whole number of domains of {} sites", direction, decomposition.lattice()[mu], domain[mu]),
             "give a divisor of the lattice's extent");
    for (const runtime::Block& block : decomposition.blocks())
      if (block.origin[mu] % domain[mu] != 0 || block.extents[mu] % domain[mu] != 0)
        refuse(fmt::format("a block of {} sites in {} from {} on would cut domains of {}", block.extents[mu], direction, block.origin[mu],
                           domain[mu]),
               "cut that direction into fewer blocks or ranks, or give smaller domains");
  }
}

double schwarz_thread_bytes(const Coord& domain) {
  constexpr int widest_register = 64;  // bytes: lanes times the bytes of a real
  return static_cast<double>(schwarz_memory(static_cast<int>(volume(domain) / 2), widest_register));
}

Schwarz::Schwarz(const LinkField& even, const LinkField& odd, const Coord& domain, int steps, double diagonal, double scale)
    : links_{&even, &odd}, domain_(domain), steps_(steps), diagonal_(diagonal), scale_(scale) {
  if (even.parity() != 0 || odd.parity() != 1 || even.lattice() != odd.lattice() || even.reals() != odd.reals())
    throw ShapeError("Schwarz", "the two link fields do not belong together");
  if (even.lattice()->vectors_in_lanes() > 1) throw ShapeError("Schwarz", "vectors are in lanes");
  require_domains(even.lattice()->decomposition(), domain, even.lattice()->precision());
  for (const int b : even.lattice()->local_blocks())
    for (std::size_t mu = 0; mu < 4; ++mu)
      if (even.lattice()->block(b).shape().outer[mu] % domain[mu] != 0) throw ShapeError("Schwarz", "the lattice's lanes cut a domain");
  make_tables();
}

void Schwarz::make_tables() {
  const Lattice& lattice = *links_[0]->lattice();
  for (const int b : lattice.local_blocks()) {
    const BlockShape& shape = lattice.block(b).shape();
    std::vector<std::uint32_t> table;
    table.reserve(static_cast<std::size_t>(schwarz_table_words(shape.outer_sites(), domain_)));
    for (const int parity : {0, 1}) append_sites(table, shape, domain_, parity);
    for (const int parity : {0, 1}) {
      const std::vector<std::uint32_t> neighbours = domain_neighbours(domain_, parity);
      table.insert(table.end(), neighbours.begin(), neighbours.end());
    }
    runtime::Handle handle(table.size() * sizeof(std::uint32_t));
    {
      const runtime::HostView<std::uint32_t> view(handle, runtime::HostAccess::overwrite);
      std::copy(table.begin(), table.end(), view.get());
    }
    handle.freeze();
    tables_.push_back(std::move(handle));
  }
}

runtime::Cost Schwarz::cost(std::int64_t outer_sites, int vectors) const {
  const Lattice& lattice = *links_[0]->lattice();
  const double sites = static_cast<double>(outer_sites) * lattice.lanes().lanes;
  double hops = 8;  // of a site, on average, that stay inside
  for (const int extent : domain_) hops -= 2.0 / extent;
  const double flops = steps_ * (2 * 165 * hops + 72 + 144 + 192);
  const double link_bytes = links_bytes(lattice.precision(), links_[0]->reals());
  return {sites * flops * vectors,
          sites * vectors * (2 * link_bytes + 2 * static_cast<double>(site_bytes(lattice.precision(), 2 * spinor_components)))};
}

void Schwarz::apply(const Field& out, const Field& in, const runtime::Guard& guard) const {
  const Lattice& lattice = *links_[0]->lattice();
  out.require_alike("Schwarz::apply", in);
  if (out.lattice().get() != &lattice || out.parity() != 1 || out.components() != spinor_components || out.vectors() != in.vectors())
    throw ShapeError("Schwarz::apply", "fields of another lattice, parity or kind");
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const int b = lattice.local_blocks()[i];
    const BlockGeometry& geometry = lattice.block(b);
    auto task = runtime::blank<SchwarzTask>();
    task.lanes = lattice.lanes().lanes;
    task.link_reals = links_[0]->reals();
    task.steps = steps_;
    task.domain_sites = static_cast<int>(volume(domain_) / 2);
    task.outer_sites = geometry.outer_sites();
    task.diagonal = diagonal_;
    task.scale = scale_;
    task.has_state = guard.state != nullptr;
    task.chunked = lattice.chunked();
    task.vectors = out.vectors();
    task.obedience.masked = guard.masked;
    task.obedience.when = guard.when;
    runtime::AccessList accesses{runtime::in(tables_[i]), runtime::in(links_[0]->block(b)), runtime::in(links_[1]->block(b)),
                                 runtime::in(in.block(b)), guard.keeps ? runtime::inout(out.block(b)) : runtime::out(out.block(b))};
    if (guard.state != nullptr) accesses.push_back(runtime::in(*guard.state));
    runtime::submit(schwarz_codelet(lattice.precision()), task, accesses, cost(geometry.outer_sites(), out.vectors()),
                    placement_of(geometry, runtime::role_of(guard.when)));
  }
}

}  // namespace quarkstar::wilson
