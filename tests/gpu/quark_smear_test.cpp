// Smeared sources, solutions and links on GPUs have the bits of those on CPUs.
#include "codelets/field/source_field.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/quark_smear/smearers.hpp"
#include "runtime/graph/session.hpp"
#include "tests/battery/support.hpp"
#include "tests/gpu/support.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace quark_smear_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 141421;
const Coord lattice{8, 4, 4, 8};
const QuarkSmearing plain{QuarkSmearing::Form::gaussian, 2.0, 10}, on_ape{QuarkSmearing::Form::wuppertal, 0.15, 5, 0.6, 3};

/// Twelve random spinors smeared both ways, one after the other, and columns of smeared points.
std::vector<HostField> on(const runtime::SessionOptions& options, const Coord& blocks, const LayoutRequest& layout = {}) {
  runtime::Session session(options);
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.3);
  const runtime::Decomposition decomposition(lattice, blocks, session.block_owners());
  const QuarkSmearers smearers(decomposition, gauge, std::vector{plain, on_ape});
  const auto of_solutions = std::make_shared<Lattice>(decomposition, Precision::double_, antiperiodic_in_time, layout);
  std::vector<HostField> host;
  for (std::uint64_t v = 0; v < 12; ++v) host.push_back(battery::to_host(reference::random_field(lattice, 4, seed + v)));
  std::vector<int> all(12);
  std::iota(all.begin(), all.end(), 0);
  const FullField from(of_solutions, spinor_components, 12), to(smearers.lattice(), spinor_components, 12);
  for (const int parity : {0, 1}) transfer::load(from.of(parity), host);
  smearers.smear(plain, to, from, all);
  smearers.smear(on_ape, to, to, all);
  std::vector<HostField> smeared(12, HostField(spinor_components, lattice)), columns = smeared;
  Source point{Source::Kind::point, {3, 1, 2, 6}}, other{Source::Kind::point, {0, 3, 1, 6}};
  point.smearing = on_ape;
  other.smearing = plain;
  std::vector<SourceColumn> wanted;
  for (int column = 0; column < 12; ++column) wanted.push_back({column % 3 == 1 ? point : other, column});
  const SourceColumns sources(decomposition, wanted, &smearers);
  for (const int parity : {0, 1}) {
    transfer::store(smeared, to.of(parity));
    sources.submit(from.of(parity));
    transfer::store(columns, from.of(parity));
  }
  session.wait_all();
  smeared.insert(smeared.end(), columns.begin(), columns.end());
  return smeared;
}

}  // namespace

TEST_CASE("smeared fields and sources have the same bits on CPUs and GPUs, in every layout") {
  QUARKSTAR_NEEDS_GPU("quark smearing");
  MESSAGE("seed " << seed);
  const std::vector<HostField> expected = on({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0}, {1, 1, 1, 1});
  const auto check = [&](const std::vector<HostField>& got) {
    for (std::size_t v = 0; v < expected.size(); ++v) CHECK(battery::same_bits(got[v], expected[v]));
  };
  for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{2, 1, 1, 2}}) {
    check(on({.cuda_workers = 1}, blocks));
    check(on({.cuda_workers = 1}, blocks, {.most_lanes = 4}));
    check(on({.cuda_workers = 1, .devices = "all"}, blocks));
  }
  check(on({.cuda_workers = 1}, {1, 1, 1, 1}, {.vectors_in_lanes = 12}));
}

}  // namespace quark_smear_test
