#include "codelets/actions/staggered/links.hpp"

#include "codelets/arch/lane.hpp"
#include "codelets/lattice/placement.hpp"
#include "codelets/lattice/portable.hpp"
#include "codelets/su3/long_link.hpp"
#include "runtime/graph/codelet.hpp"
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

using Complex = site::Complex<double>;
using Matrix = site::Link<double>;

// Not std::arg and std::abs, whose last digits depend on the processor.
double argument_over_pi(const Complex& z) { return portable::argument_over_pi(z.im, z.re); }
double modulus(const Complex& z) { return portable::modulus(z.re, z.im); }

/// What multiplies the neighbour that a link leads to, forward: the link itself, or the one that it comes from: minus its adjoint.
Matrix multiplier(std::span<const double, 18> reals, bool forward) {
  const Matrix u = site::read_link(reals.data());
  if (forward) return u;
  return site::link_of<double>([&u](int row, int column) { return Complex{-u[column][row].re, u[column][row].im}; });
}

/// What is stored for a link (codelets/su3/long_link.hpp): `row_numbers` of the rows of c V, then numbers of size 1 at most.
struct Stored {
  std::array<double, 18> numbers{};
  int row_numbers = 18;
};

/// Numbers of a long link of 9 reals: m / |c| = e^{i pi t} S.
Stored stored_as_nine(const Matrix& m, double size) {
  // Not determinant(): the sign of a zero imaginary part decides between t = 1 and -1, and links in memory and files have had this one.
  const auto subdeterminant = [&m](int i, int j) { return multiply(m[1][i], m[2][j]) - multiply(m[1][j], m[2][i]); };
  const Complex det =
      multiply(m[0][0], subdeterminant(1, 2)) - multiply(m[0][1], subdeterminant(0, 2)) + multiply(m[0][2], subdeterminant(0, 1));
  const double cube = size * size * size, t = argument_over_pi({det.re / cube, det.im / cube}) / 3, over_size = 1 / size;
  const auto [sine, cosine] = portable::sine_cosine_of_turns(-t / 2);
  const Complex rotate{over_size * cosine, over_size * sine};
  const Complex a2 = multiply(rotate, m[1][1]), a3 = multiply(rotate, m[1][2]), b1 = multiply(rotate, m[0][0]);
  return {{a2.re, a2.im, a3.re, a3.im, b1.re, b1.im, argument_over_pi(multiply(rotate, m[1][0])),
           argument_over_pi(multiply({-rotate.re, -rotate.im}, m[2][0])), t},
          0};
}

Stored stored_numbers(const Matrix& m, int reals, double size) {
  if (reals == 9) return stored_as_nine(m, size);
  Stored stored;
  site::write_link(stored.numbers.data(), m);
  if (reals == 18) return stored;
  stored.row_numbers = 12;
  Complex along{};
  for (int c = 0; c < 3; ++c) {
    const int p = (c + 1) % 3, q = (c + 2) % 3;
    along = multiply_add(multiply(m[0][p], m[1][q]) - multiply(m[0][q], m[1][p]), m[2][c], along);
  }
  const double length = modulus(along);
  const Complex phase{along.re / length, along.im / length};
  stored.numbers[12] = reals == 14 ? phase.re : argument_over_pi(phase);
  stored.numbers[13] = phase.im;
  return stored;
}

/// size: the largest row number in half precision.
template <class F>
void write_link(F* to, const Stored& link, int reals, int lanes, double size) {
  if constexpr (is_half<F>) {
    using V = site::Lane<float>;
    const auto biased = [&](int i) {
      const double number = i < reals ? link.numbers[static_cast<std::size_t>(i)] / (i < link.row_numbers ? size : 1) : 0;
      return fma(V{static_cast<float>(number)}, V{site::fixed_point_most}, V{site::fixed_point_bias});
    };
    for (int i = 0; i < NumberFormat<F>::link_words(reals); ++i) V::store_pair(to + i * lanes, {biased(2 * i), biased(2 * i + 1)});
  } else {
    for (int i = 0; i < reals; ++i) to[i * lanes] = static_cast<F>(link.numbers[static_cast<std::size_t>(i)]);
  }
}

struct LoadTask {
  const BlockGeometry* block;
  const HostGauge* host;
  Coord lattice;
  int parity, reals, hops;
  double size;  ///< |c| of long links, the largest component of fat links
};

template <class F>
void run_load(runtime::Call& call) {
  const auto& task = call.arguments<LoadTask>();
  F* links = call.buffer<F>(0);
  const BlockGeometry& block = *task.block;
  const Box box = task.host->box();
  const int lanes = block.lanes().lanes, words = NumberFormat<F>::link_words(task.reals);
  call.team().for_range(block.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t outer = begin; outer < end; ++outer)
      for (int lane = 0; lane < lanes; ++lane) {
        Coord site = block.local_site({task.parity, static_cast<int>(outer), lane});
        for (int mu = 0; mu < 4; ++mu) site[mu] += block.block().origin[mu];
        for (int d = 0; d < 8; ++d) {
          const int mu = d / 2, extent = task.lattice[mu];
          const bool forward = d % 2 == 0;
          Coord from = site;
          if (!forward) from[mu] = ((site[mu] - task.hops) % extent + extent) % extent;
          const auto link = task.host->link(index_in(box, from, task.lattice), mu);
          const Stored stored = stored_numbers(multiplier(link, forward), task.reals, task.size);
          write_link(links + (outer * 8 + d) * words * lanes + lane, stored, task.reals, lanes, task.size);
        }
      }
  });
}

const runtime::Codelet& load_codelet(Precision precision) {
  return with_format(precision, [&](auto format) -> const runtime::Codelet& {
    static const runtime::Codelet codelet(fmt::format("staggered.links.{}", name_of(precision)), runtime::CodeletKind::copy,
                                          run_load<typename decltype(format)::type>);
    return codelet;
  });
}

void load(const LinkField& links, const HostGauge& host, int hops, double size) {
  const Lattice& lattice = *links.lattice();
  for (const int b : lattice.local_blocks())
    runtime::submit(load_codelet(lattice.precision()),
                    LoadTask{&lattice.block(b), &host, lattice.decomposition().lattice(), links.parity(), links.reals(), hops, size},
                    {runtime::out(links.block(b))}, {}, placement_of(lattice.block(b)));
}

/// The largest |component| of the whole lattice, or 1 where all are zero.
double largest_component(const HostGauge& links, const runtime::Decomposition& decomposition) {
  double largest = 0;
  for (const double component : links.data) largest = std::max(largest, std::abs(component));
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
double error_of(const Matrix& m, double scale) {
  using V = site::Lane<double>;
  const Stored stored = stored_numbers(m, Reals, std::abs(scale));
  site::Link<V> loaded;
  site::load_long_link<double, Reals, site::PlainLoads>(loaded, V{site::long_link_factor(Reals, scale, false)}, stored.numbers.data(), 1);
  double largest = 0;
  for (int i = 0; i < 9; ++i) {
    const site::Complex<V>& entry = loaded[i / 3][i % 3];
    const double difference = modulus(Complex{entry.re.v, entry.im.v} - m[i / 3][i % 3]);
    largest = std::isfinite(difference) ? std::max(largest, difference) : std::numeric_limits<double>::infinity();
  }
  return largest;
}

double error_of(const Matrix& m, int reals, double scale) {
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
          largest = std::max(largest, error_of(multiplier(links.link(site, mu), forward), long_reals, host.long_scale));
  });
  return *std::max_element(errors.begin(), errors.end()) / std::abs(host.long_scale);
}

void Links::load_far(const smear::StaggeredLinks& host, int long_reals) {
  const LatticePointer& lattice = fat.lattice();
  const double size = std::abs(host.long_scale);
  far.emplace(lattice, fat.parity(), checked(long_reals));
  long_scale = host.long_scale;
  if (lattice->precision() == Precision::half) long_unit = size * site::link_unit;
  load(*far, host.long_links, host.reach(), size);
}

Links::Links(const LatticePointer& lattice, int parity, const smear::StaggeredLinks& host, int long_reals)
    : shared_fat(std::make_shared<LinkField>(lattice, parity, 18)) {
  lattice->require_part("staggered::Links", host.fat.box(), smear::longest_hop(false));
  if (host.has_long) lattice->require_part("staggered::Links", host.long_links.box(), host.reach());
  const bool half = lattice->precision() == Precision::half;
  const double fat_size = half ? largest_component(host.fat, lattice->decomposition()) : 1;
  if (half) fat_unit = fat_size * site::link_unit;
  load(fat, host.fat, 1, fat_size);
  if (host.has_long) load_far(host, long_reals);
  wait_until_loaded();
  fat.freeze();
  if (far) far->freeze();
}

Links::Links(const Links& near, const smear::StaggeredLinks& host, int long_reals) : shared_fat(near.shared_fat), fat_unit(near.fat_unit) {
  load_far(host, long_reals);
  wait_until_loaded();
  far->freeze();
}

Links::Links(const LatticePointer& lattice, int parity, int long_reals) : shared_fat(std::make_shared<LinkField>(lattice, parity, 18)) {
  if (long_reals == 0) return;
  far.emplace(lattice, parity, checked(long_reals));
  long_scale = 1;
}

}  // namespace quarkstar::staggered
