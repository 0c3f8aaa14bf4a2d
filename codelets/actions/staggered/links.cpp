#include "codelets/actions/staggered/links.hpp"

#include "codelets/actions/staggered/stored_link.hpp"
#include "codelets/field/link_tasks.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace quarkstar::staggered {
namespace {

/// The largest |component| of the whole lattice, or 1 where all are zero.
double largest_component(const HostGauge& links, const runtime::Decomposition& decomposition) {
  const runtime::Team& team = runtime::Session::current().cpu_team();
  std::vector<double> of_threads(static_cast<std::size_t>(team.threads()), 0.0);
  team.for_range(static_cast<std::int64_t>(links.data.size()), [&](std::int64_t begin, std::int64_t end, int thread) {
    double& largest = of_threads[static_cast<std::size_t>(thread)];
    for (std::int64_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(links.data[static_cast<std::size_t>(i)]));
  });
  double largest = *std::max_element(of_threads.begin(), of_threads.end());
  if (decomposition.is_distributed()) runtime::mpi::Job::current().combine(std::span(&largest, 1), runtime::mpi::Combine::maximum);
  return largest > 0 ? largest : 1;
}

int checked(int long_reals) {
  if (std::find(std::begin(long_formats), std::end(long_formats), long_reals) == std::end(long_formats))
    throw Error(ErrorKind::input, Parameter("links"), fmt::format("{} reals a long link", long_reals), "use 18, 14, 13 or 9");
  return long_reals;
}

/// The largest component of a link of `Reals` reals, stored and loaded again, less the link.
template <int Reals>
double error_of(const site::Link<double>& m, double scale) {
  using V = site::Lane<double>;
  const StoredLink stored = stored_numbers(m, Reals, std::abs(scale));
  site::Link<V> loaded;
  site::load_long_link<double, Reals, site::PlainLoads>(loaded, V{site::long_link_factor(Reals, scale, false)}, stored.numbers, 1);
  double largest = 0;
  for (int i = 0; i < 9; ++i) {
    const site::Complex<V>& entry = loaded[i / 3][i % 3];
    const site::Complex<double> between = site::Complex<double>{entry.re.v, entry.im.v} - m[i / 3][i % 3];
    const double difference = portable::modulus(between.re, between.im);
    largest = std::isfinite(difference) ? std::max(largest, difference) : std::numeric_limits<double>::infinity();
  }
  return largest;
}

double error_of(const site::Link<double>& m, int reals, double scale) {
  switch (reals) {
    case 14:
      return error_of<14>(m, scale);
    case 13:
      return error_of<13>(m, scale);
    case 9:
      return error_of<9>(m, scale);
    default:
      return 0;
  }
}

void wait_until_loaded() {
  runtime::Turns::pass();
  runtime::Session::current().wait_all();
}

/// What the links of one hop, or three, are stored in units of.
double fat_size_of(Links& even, Links& odd, const smear::StaggeredLinks& host) {
  const LatticePointer& lattice = even.fat.lattice();
  if (lattice->precision() != Precision::half) return 1;
  const double size = largest_component(host.fat, lattice->decomposition());
  for (Links* links : {&even, &odd}) links->fat_unit = size * site::link_unit;
  return size;
}
double long_size_of(Links& even, Links& odd, const smear::StaggeredLinks& host) {
  const double size = std::abs(host.long_scale);
  for (Links* links : {&even, &odd}) {
    links->long_scale = host.long_scale;
    if (links->fat.lattice()->precision() == Precision::half) links->long_unit = size * site::link_unit;
  }
  return size;
}

// Not in chunks: the Dslash reads words of all lanes side by side.
void submit_load(const LinkField& even, const LinkField& odd, const HostGauge& host, int hops, double size) {
  transfer::submit_link_load("staggered.links", even, odd, host, hops, StoredForm{even.reals(), size}, false);
}
void submit_copy(const LinkField& to, const LinkField& from, double size) {
  transfer::submit_link_copy("staggered.copy_links", to, from, StoredForm{to.reals(), size}, false);
}

}  // namespace

double form_error(const smear::StaggeredLinks& host, int long_reals, const runtime::Team& team) {
  checked(long_reals);
  std::vector<double> errors(static_cast<std::size_t>(team.threads()), 0.0);
  const HostGauge& links = host.long_links;
  team.for_range(volume(links.extents), [&](std::int64_t begin, std::int64_t end, int thread) {
    double& largest = errors[static_cast<std::size_t>(thread)];
    for (std::int64_t site = begin; site < end; ++site)
      for (int mu = 0; mu < 4; ++mu)
        for (const bool forward : {true, false})
          largest = std::max(largest, error_of(multiplier(links.link(site, mu).data(), forward), long_reals, host.long_scale));
  });
  return *std::max_element(errors.begin(), errors.end()) / std::abs(host.long_scale);
}

Links::Links(const LatticePointer& lattice, int parity, int long_reals) : shared_fat(std::make_shared<LinkField>(lattice, parity, 18)) {
  if (long_reals == 0) return;
  far.emplace(lattice, parity, checked(long_reals));
  long_scale = 1;
}

Links::Links(const Links& near, int long_reals) : shared_fat(near.shared_fat), fat_unit(near.fat_unit) {
  far.emplace(near.fat.lattice(), near.fat.parity(), checked(long_reals));
}

void load(Links& even, Links& odd, const smear::StaggeredLinks& host) {
  const LatticePointer& lattice = even.fat.lattice();
  lattice->require_part("staggered::load", host.fat.box(), smear::longest_hop(false));
  if (host.has_long) lattice->require_part("staggered::load", host.long_links.box(), host.reach());
  submit_load(even.fat, odd.fat, host.fat, 1, fat_size_of(even, odd, host));
  if (host.has_long) submit_load(*even.far, *odd.far, host.long_links, host.reach(), long_size_of(even, odd, host));
  wait_until_loaded();
  for (Links* links : {&even, &odd}) {
    links->fat.freeze();
    if (host.has_long) links->far->freeze();
    else links->without_far();
  }
}

void copy(Links& even, Links& odd, const Links& wide_even, const Links& wide_odd, const smear::StaggeredLinks& host) {
  const bool shares_fat = even.shared_fat == wide_even.shared_fat;
  if (!shares_fat) {
    const double size = fat_size_of(even, odd, host);
    submit_copy(even.fat, wide_even.fat, size);
    submit_copy(odd.fat, wide_odd.fat, size);
  }
  if (host.has_long) {
    const double size = long_size_of(even, odd, host);
    submit_copy(*even.far, *wide_even.far, size);
    submit_copy(*odd.far, *wide_odd.far, size);
  }
  wait_until_loaded();
  for (Links* links : {&even, &odd}) {
    if (!shares_fat) links->fat.freeze();
    if (host.has_long) links->far->freeze();
    else links->without_far();
  }
}

}  // namespace quarkstar::staggered
