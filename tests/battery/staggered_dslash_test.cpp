// The staggered Dslash of every architecture, precision, long-link format, lane layout, cut and number of vectors against the reference.
#include "tests/battery/staggered_support.hpp"

#include <algorithm>
#include <cmath>

namespace staggered_dslash_test {

using namespace quarkstar;
using battery::DslashCase;
using battery::DslashHarness;

namespace {

constexpr std::uint64_t seed = 20261124;
constexpr double scale = -1 / 24.;

/// max |a - b| over max |b|.
double relative_difference(const HostField& a, const reference::Field& b) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < b.data.size(); ++i) {
    difference = std::max(difference, std::abs(a.data[i] - b.data[i]));
    largest = std::max(largest, std::abs(b.data[i]));
  }
  return difference / largest;
}

/// 9 reals lose digits where a link is near the formulas' singularity, as some random ones are.
double limit(Precision precision, int long_reals) {
  if (long_reals == 9) return precision == Precision::double_ ? 1e-8 : precision == Precision::single ? 1e-3 : 1e-2;
  return precision == Precision::double_ ? 1e-14 : precision == Precision::single ? 2e-6 : 3e-4;
}

constexpr Precision precisions[] = {Precision::double_, Precision::single, Precision::half};

const Coord lattices[] = {{8, 8, 8, 8}, {4, 4, 4, 8}, {8, 6, 4, 8}};
const Coord cuts[] = {{1, 1, 1, 1}, {1, 1, 1, 2}, {2, 2, 1, 2}};

/// Three-hop links need blocks of three sites at least, and halves of 8 are sure to have them.
bool too_thin(const Coord& lattice, const Coord& blocks, int long_reals) {
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (long_reals > 0 && blocks[mu] > 1 && lattice[mu] < 8) return true;
  return false;
}

}  // namespace

TEST_CASE("staggered Dslash equals the reference") {
  MESSAGE("seed " << seed);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const Coord& lattice : lattices) {
    const reference::StaggeredLinks links = battery::random_links(lattice, seed, scale);
    const std::vector<HostField> chi = battery::random_vectors(lattice, 8, seed + 10);
    for (const int long_reals : {0, 18, 14, 13, 9}) {
      reference::StaggeredLinks known = links;
      if (long_reals == 0) std::fill(known.naik.data.begin(), known.naik.data.end(), 0.0);
      std::vector<reference::Field> expected;
      for (const HostField& vector : chi) expected.push_back(reference::staggered_dslash(known, battery::to_reference(vector)));
      const smear::StaggeredLinks host = battery::with_phases(links, long_reals == 0 ? 0 : scale);
      for (const Coord& blocks : cuts) {
        if (too_thin(lattice, blocks, long_reals)) continue;
        const auto check = [&](const DslashCase& c, std::size_t n) {
          INFO(c.text());
          const std::vector<HostField> result = DslashHarness(c, host).apply({chi.data(), n});
          for (std::size_t v = 0; v < n; ++v) CHECK(relative_difference(result[v], expected[v]) < limit(c.precision, long_reals));
        };
        for (const Precision precision : precisions)
          battery::for_architectures([&] {
            for (const int most_lanes : {16, 8, 1}) check({lattice, blocks, precision, long_reals, most_lanes}, 3);
            if (long_reals % 18 == 0)
              check({.lattice = lattice, .blocks = blocks, .precision = precision, .long_reals = long_reals, .vectors_in_lanes = 8}, 8);
          });
      }
    }
  }
}

TEST_CASE("staggered Dslash has the same bits for every cut, lane layout, architecture and number of vectors") {
  const Coord lattice{8, 8, 8, 8};
  MESSAGE("seed " << seed);
  const smear::StaggeredLinks links = battery::with_phases(battery::random_links(lattice, seed + 20, scale), scale);
  const std::vector<HostField> chi = battery::random_vectors(lattice, 32, seed + 30);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  for (const Precision precision : precisions)
    for (const int long_reals : {18, 14, 13, 9}) {
      std::vector<HostField> first;  // each vector alone
      {
        DslashHarness harness({lattice, {1, 1, 1, 1}, precision, long_reals}, links);
        for (const HostField& vector : chi) first.push_back(harness.apply({&vector, 1})[0]);
      }
      const auto check = [&](const DslashCase& c, std::size_t n) {
        INFO(c.text() << " vectors " << n);
        const std::vector<HostField> result = DslashHarness(c, links).apply({chi.data(), n});
        for (std::size_t v = 0; v < n; ++v) CHECK(battery::same_bits(result[v], first[v]));
      };
      for (const Coord& blocks : cuts)
        for (const int most_lanes : {16, 8, 1})
          if (long_reals == 18 || (blocks[0] == 2 && most_lanes == 16))
            battery::for_architectures([&] { check({lattice, blocks, precision, long_reals, most_lanes}, 3); });
      for (const std::size_t n : {1, 2, 3, 4, 5, 8, 12, 16, 32}) check({lattice, {1, 1, 1, 2}, precision, long_reals}, n);
      if (long_reals != 18) continue;
      for (const Coord& blocks : cuts)
        for (const auto& [lanes, n] : {std::pair{8, 8}, {8, 24}, {16, 16}, {16, 32}})
          battery::for_architectures([&] {
            check({.lattice = lattice, .blocks = blocks, .precision = precision, .vectors_in_lanes = lanes}, static_cast<std::size_t>(n));
          });
    }
}

TEST_CASE("staggered Dslash: unequal blocks and odd extents give the same bits") {
  const Coord lattice{8, 6, 6, 14};
  MESSAGE("seed " << seed);
  const smear::StaggeredLinks links = battery::with_phases(battery::random_links(lattice, seed + 40, scale), scale);
  const std::vector<HostField> chi = battery::random_vectors(lattice, 8, seed + 50);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const std::vector<HostField> whole = DslashHarness({lattice, {1, 1, 1, 1}}, links).apply(chi);
  const std::array<std::vector<int>, 4> cuts_by_hand[] = {
      {{{8}, {6}, {6}, {9, 5}}}, {{{4, 4}, {3, 3}, {6}, {14}}}, {{{8}, {6}, {6}, {3, 4, 7}}}};
  for (const auto& parts : cuts_by_hand) {
    std::size_t blocks = 1;
    for (const std::vector<int>& extents : parts) blocks *= extents.size();
    std::vector<int> owners(blocks);
    for (std::size_t b = 0; b < blocks; ++b) owners[b] = static_cast<int>(b % 2);
    const runtime::Decomposition decomposition(lattice, parts, owners);
    INFO(decomposition.describe());
    for (const int vectors_in_lanes : {1, 8}) {
      const std::vector<HostField> result =
          DslashHarness(decomposition, {.lattice = lattice, .blocks = {}, .vectors_in_lanes = vectors_in_lanes}, links).apply(chi);
      for (std::size_t v = 0; v < chi.size(); ++v) CHECK(battery::same_bits(result[v], whole[v]));
    }
  }
}

TEST_CASE("staggered Dslash: fused output and sums equal separate steps") {
  const Coord lattice{8, 8, 4, 8};
  constexpr int n = 8;
  MESSAGE("seed " << seed);
  const reference::StaggeredLinks links = battery::random_links(lattice, seed + 60, scale);
  const std::vector<HostField> chi = battery::random_vectors(lattice, n, seed + 70), other = battery::random_vectors(lattice, n, seed + 80);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const auto& [blocks, vectors_in_lanes] :
       {std::pair{Coord{1, 1, 1, 1}, 1}, {{2, 1, 1, 2}, 1}, {{1, 1, 1, 1}, 8}, {{2, 1, 1, 2}, 8}}) {
    DslashHarness harness({.lattice = lattice, .blocks = blocks, .vectors_in_lanes = vectors_in_lanes}, battery::with_phases(links, scale));
    staggered::Dslash dslash(harness.even(), harness.odd(), n);
    const Field in(harness.lattice(), 1, colour_components, n), x(harness.lattice(), 0, colour_components, n),
        y(harness.lattice(), 0, colour_components, n), out(harness.lattice(), 0, colour_components, n);
    transfer::load(in, chi);
    transfer::load(x, chi);
    transfer::load(y, other);
    PerVector diagonal{};
    for (std::size_t v = 0; v < n; ++v) diagonal[v] = 1.5 + static_cast<double>(v);
    dslash.apply(out, in, {.x = &x, .diagonal = diagonal, .scale = same_for_all(-0.25), .y = &y, .sums = {.norm = true, .dot = true}});
    std::vector<HostField> result(n, HostField(colour_components, lattice));
    transfer::store(result, out);
    session.wait_all();
    for (std::size_t v = 0; v < n; ++v) {
      const reference::Field psi = battery::to_reference(chi[v]);
      const reference::Field expected = reference::restrict_to_parity(
          reference::Complex(diagonal[v]) * psi - reference::Complex(0.25) * reference::staggered_dslash(links, psi), 0);
      CHECK(relative_difference(result[v], expected) < 1e-14);
      double sums[2];
      for (std::size_t s = 0; s < 2; ++s) {
        runtime::BinnedSum total = runtime::BinnedSum::zero();
        for (int p = 0; p < dslash.sums().tasks(); ++p)
          total.merge(runtime::HostView<runtime::BinnedSum>(dslash.sums().task(p))[s * n + v]);
        sums[s] = runtime::value_of(total);
      }
      CHECK(sums[0] == doctest::Approx(reference::norm2(expected)).epsilon(1e-13));
      CHECK(sums[1] == doctest::Approx(reference::inner(battery::to_reference(other[v]), expected).real()).epsilon(1e-11));
    }
  }
}

TEST_CASE("staggered Dslash is antihermitian") {
  const Coord lattice{4, 4, 4, 8};
  MESSAGE("seed " << seed);
  const reference::StaggeredLinks links = battery::random_links(lattice, seed + 90, scale);
  const std::vector<HostField> a = battery::random_vectors(lattice, 1, seed + 91), b = battery::random_vectors(lattice, 1, seed + 92);
  runtime::Session session({.cpu_workers = 1, .cuda_workers = 0});
  DslashHarness harness({lattice, {1, 1, 1, 2}}, battery::with_phases(links, scale));
  const auto inner = [](const HostField& left, const HostField& right) {
    return reference::inner(battery::to_reference(left), battery::to_reference(right));
  };
  const reference::Complex left = inner(b[0], harness.apply(a)[0]), right = -inner(harness.apply(b)[0], a[0]);
  CHECK(std::abs(left - right) / std::abs(left) < 1e-12);
}

}  // namespace staggered_dslash_test
