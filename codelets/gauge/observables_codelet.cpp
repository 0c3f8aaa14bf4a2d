#include "codelets/arch/on_cuda.hpp"
#include "codelets/gauge/observables.hpp"
#include "codelets/gauge/site_sums.hpp"
#include "codelets/lattice/portable.hpp"
#include "codelets/su3/unitarize.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

namespace quarkstar::gauge {

QUARKSTAR_ON_CUDA(run_sums_on_cuda)

namespace {

using site::Complex, site::Link, site::read_link;

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

/// A product of four entries of this size still fits into a double.
constexpr double largest_entry = 1e50;

void keep_smallest(std::atomic<std::int64_t>& smallest, std::int64_t value) {
  std::int64_t seen = smallest.load();
  while (value < seen && !smallest.compare_exchange_weak(seen, value)) {
  }
}

std::string name_of_link(const HostGauge& gauge, std::int64_t link) {
  return fmt::format("link U_{} at (x,y,z,t) = ({})", "xyzt"[link % 4], fmt::join(coordinates(link / 4, gauge.extents), ","));
}

void require_usable(const HostGauge& gauge, const runtime::Team& team) {
  const std::int64_t sites = volume(gauge.extents);
  if (*std::min_element(gauge.extents.begin(), gauge.extents.end()) < 1 ||
      gauge.data.size() != static_cast<std::size_t>(sites * HostGauge::reals_per_site))
    throw ShapeError("gauge configuration",
                     fmt::format("{} numbers for a lattice of {} sites ({})", gauge.data.size(), sites, fmt::join(gauge.extents, "x")));
  std::atomic<std::int64_t> bad{none};
  team.for_range(static_cast<std::int64_t>(gauge.data.size()), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i)
      if (!(std::abs(gauge.data[static_cast<std::size_t>(i)]) <= largest_entry)) return keep_smallest(bad, i);
  });
  if (bad == none) return;
  const std::int64_t entry = bad % 18 / 2;
  throw Error(ErrorKind::input, "gauge configuration",
              fmt::format("{}, row {}, column {}: {} is not an entry of a gauge link", name_of_link(gauge, bad / 18), entry / 3, entry % 3,
                          gauge.data[static_cast<std::size_t>(bad)]),
              "the file is damaged or of another format: fetch it again and check its checksum");
}

/// Adds a site's summands (site_sums).
template <class LinkAt>
void add_site(runtime::BinnedSum* sum, LinkAt&& link) {
  double summands[3];
  site_sums(summands, link);
  for (int i = 0; i < 3; ++i) runtime::add(sum[i], summands[i]);
}

/// body(sum, i) for i < items, over the team.
template <class Body>
LinkSums sums_over(std::int64_t items, const runtime::Team& team, Body&& body) {
  runtime::ThreadSums sums(team.threads(), 3);
  team.for_range(items, [&](std::int64_t begin, std::int64_t end, int thread) {
    for (std::int64_t i = begin; i < end; ++i) body(sums.of(thread), i);
  });
  runtime::BinnedSum total[3];
  sums.merge_into(total, 3);
  return {total[0], total[1], total[2]};
}

void merge(LinkSums& total, const LinkSums& part) {
  total.spatial.merge(part.spatial);
  total.temporal.merge(part.temporal);
  total.trace.merge(part.trace);
}

void merge(UnitarityDeviation& largest, const UnitarityDeviation& here) {
  largest.unitarity = std::max(largest.unitarity, here.unitarity);
  largest.determinant = std::max(largest.determinant, here.determinant);
}

UnitarityDeviation over_ranks(const UnitarityDeviation& mine) {
  std::array<double, 2> largest{mine.unitarity, mine.determinant};
  runtime::mpi::Job::current().combine(largest, runtime::mpi::Combine::maximum);
  return {largest[0], largest[1]};
}

UnitarityDeviation deviation(const Link<double>& u) {
  const auto size = [](double re, double im) {
    const double modulus = portable::modulus(re, im);
    return std::isnan(modulus) ? std::numeric_limits<double>::infinity() : modulus;
  };
  const Link<double> product = multiply_adjoint(u, u);
  double largest = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) largest = std::max(largest, size(product[i][j].re - (i == j ? 1.0 : 0.0), product[i][j].im));
  Link<double> completed = u;
  reconstruct_row(completed);
  Complex<double> det{};
  for (int j = 0; j < 3; ++j) det = conjugate_multiply_add(completed[2][j], u[2][j], det);
  return {largest, size(det.re - 1.0, det.im)};
}

/// Largest deviation of link(i), i < items.
template <class LinkAt>
UnitarityDeviation largest_deviation(std::int64_t items, const runtime::Team& team, LinkAt&& link) {
  std::vector<UnitarityDeviation> of_thread(static_cast<std::size_t>(team.threads()));
  team.for_range(items, [&](std::int64_t begin, std::int64_t end, int thread) {
    UnitarityDeviation largest;
    for (std::int64_t i = begin; i < end; ++i) merge(largest, deviation(link(i)));
    of_thread[static_cast<std::size_t>(thread)] = largest;
  });
  UnitarityDeviation all;
  for (const UnitarityDeviation& largest : of_thread) merge(all, largest);
  return all;
}

// Buffers: the result of a block, its links.

void run_sums(runtime::Call& call) {
  const auto& shape = call.arguments<LinkShape>();
  const LinkStrides strides = shape.strides();
  const StridedLinks<double> links(call.buffer<const double>(1), strides);
  *call.buffer<LinkSums>(0) = sums_over(shape.rows(), call.team(), [&](runtime::BinnedSum* sum, std::int64_t row) {
    const std::ptrdiff_t first = shape.offset(shape.row_start(row));
    for (std::ptrdiff_t p = first; p < first + shape.extents[0]; ++p) add_site(sum, LinksOfSite{links, p});
  });
}

void run_deviation(runtime::Call& call) {
  const auto& shape = call.arguments<LinkShape>();
  const LinkStrides strides = shape.strides();
  const StridedLinks<double> links(call.buffer<const double>(1), strides);
  *call.buffer<UnitarityDeviation>(0) = largest_deviation(4 * volume(shape.extents), call.team(), [&](std::int64_t i) {
    return links.load(shape.offset(coordinates(i / 4, shape.extents)), static_cast<int>(i % 4));
  });
}

const runtime::Codelet sums_codelet("gauge.sums", runtime::CodeletKind::stencil, run_sums, run_sums_on_cuda);
const runtime::Codelet deviation_codelet("gauge.deviation", runtime::CodeletKind::vector, run_deviation);

template <class Result>
Result over_blocks(const runtime::Codelet& codelet, const GaugeField& links, double flops_per_site) {
  std::vector<runtime::Handle> results;
  for (const runtime::Block& block : links.blocks()) {
    const auto sites = static_cast<double>(volume(block.extents));
    results.emplace_back(sizeof(Result));
    runtime::submit(codelet, links.shape(block), {runtime::out(results.back()), runtime::in(links.handle(block))},
                    {flops_per_site * sites, sites * LinkShape::site_reals * sizeof(double)}, {block.owner, block.index, false});
  }
  Result total;
  for (const runtime::Handle& result : results) merge(total, *runtime::HostView<const Result>(result));
  return total;
}

}  // namespace

Plaquettes LinkSums::plaquettes(const Coord& lattice) const {
  const double normalisation = 9.0 * static_cast<double>(volume(lattice));
  return {runtime::value_of(spatial) / normalisation, runtime::value_of(temporal) / normalisation};
}

double LinkSums::link_trace(const Coord& lattice) const { return runtime::value_of(trace) / (12.0 * static_cast<double>(volume(lattice))); }

void UnitarityDeviation::require_small(const char* remedy, std::string_view where, std::string_view what) const {
  constexpr double largest = 1e-4;
  if (!(unitarity <= largest && determinant <= largest))
    throw Error(ErrorKind::input, where, fmt::format("{} (|U U^+ - 1| = {:.1e}, |det U - 1| = {:.1e})", what, unitarity, determinant),
                remedy);
}

LinkSums link_sums(const HostGauge& gauge, const Coord& lattice, const Box& part, const runtime::Team& team) {
  require_usable(gauge, team);
  return sums_over(volume(part.extents), team, [&](runtime::BinnedSum* sum, std::int64_t i) {
    add_site(sum, [&, x = site_of(part, i)](int nu, int mu = -1) {
      Coord at = x;
      if (mu >= 0) at[mu] = (x[mu] + 1) % lattice[mu];
      return read_link(gauge.link(index_in(gauge.box(), at, lattice), nu).data());
    });
  });
}

LinkSums link_sums(const GaugeField& links) {
  links.require_border(1, "gauge::link_sums");
  const LinkSums mine = over_blocks<LinkSums>(sums_codelet, links, 6 * 432);
  if (!links.decomposition().is_distributed()) return mine;
  std::array<runtime::BinnedSum, 3> sums{mine.spatial, mine.temporal, mine.trace};
  runtime::mpi::Job::current().combine(sums);
  return {sums[0], sums[1], sums[2]};
}

double place_summand(const HostGauge& gauge, std::int64_t index, std::int64_t site) {
  double sum = 0;
  for (int mu = 0; mu < 4; ++mu) {
    const std::span<const double, 18> u = gauge.link(index, mu);
    // 32 bits of a product with 2^64 over the golden ratio: unlike for links that lie near each other.
    const std::uint64_t weight = static_cast<std::uint64_t>(4 * site + mu) * 0x9e3779b97f4a7c15u >> 32;
    sum += (1 + 0x1p-32 * static_cast<double>(weight)) * (u[0] + u[8] + u[16] + (u[1] + u[9] + u[17]));
  }
  return sum;
}

runtime::BinnedSum place_sum(const HostGauge& gauge, const Coord& lattice, const Box& part, const runtime::Team& team) {
  runtime::ThreadSums sums(team.threads(), 1);
  team.for_range(volume(part.extents), [&](std::int64_t begin, std::int64_t end, int thread) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Coord x = site_of(part, i);
      runtime::add(*sums.of(thread), place_summand(gauge, index_in(gauge.box(), x, lattice), lexicographic(x, lattice)));
    }
  });
  runtime::BinnedSum total;
  sums.merge_into(&total, 1);
  return total;
}

Plaquettes plaquettes(const GaugeField& links) { return link_sums(links).plaquettes(links.lattice()); }

Plaquettes plaquettes(const HostGauge& gauge, const runtime::Team& team) {
  return link_sums(gauge, gauge.extents, {{}, gauge.extents}, team).plaquettes(gauge.extents);
}

double link_trace(const HostGauge& gauge, const runtime::Team& team) {
  return link_sums(gauge, gauge.extents, {{}, gauge.extents}, team).link_trace(gauge.extents);
}

UnitarityDeviation unitarity_deviation(const HostGauge& gauge, const runtime::Team& team) {
  require_usable(gauge, team);
  return largest_deviation(4 * volume(gauge.extents), team, [&](std::int64_t i) { return read_link(gauge.data.data() + 18 * i); });
}

UnitarityDeviation unitarity_deviation_of_all_ranks(const HostGauge& part, const runtime::Team& team) {
  UnitarityDeviation mine;
  runtime::mpi::Job::current().together([&] { mine = unitarity_deviation(part, team); });
  return over_ranks(mine);
}

UnitarityDeviation unitarity_deviation(const GaugeField& links) {
  const UnitarityDeviation mine = over_blocks<UnitarityDeviation>(deviation_codelet, links, 4 * 320);
  return links.decomposition().is_distributed() ? over_ranks(mine) : mine;
}

void reunitarize(HostGauge& gauge, const runtime::Team& team) {
  require_usable(gauge, team);
  std::atomic<std::int64_t> bad{none};
  team.for_range(volume(gauge.extents) * 4, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t link = begin; link < end; ++link) {
      double* reals = gauge.data.data() + link * 18;
      Link<double> u = read_link(reals);
      if (!site::reunitarize(u)) return keep_smallest(bad, link);
      write_link(reals, u);
    }
  });
  if (bad == none) return;
  throw Error(ErrorKind::input, "gauge configuration",
              fmt::format("{}: its first two rows are linearly dependent, no SU(3) matrix is near", name_of_link(gauge, bad)),
              "the file is damaged or of another format: fetch it again and check its checksum");
}

}  // namespace quarkstar::gauge
