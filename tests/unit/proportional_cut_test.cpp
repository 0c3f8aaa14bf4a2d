// Blocks as thick as their owners are fast, and the choice of who owns what.
#include "runtime/cut/proportional_cut.hpp"

#include "apps/run/device_plan.hpp"
#include "runtime/system/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace proportional_cut_test {

using namespace quarkstar;
using namespace quarkstar::app;
using runtime::Share;

namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

/// 32^3 x 64, 1 GiB a slice in t.
PlanningProblem problem(const Coord& lattice = {32, 32, 32, 64}) {
  const auto slice = [lattice](int direction) { return 64 * gib / lattice[static_cast<std::size_t>(direction)]; };
  return {lattice, slice, [](int) { return 1e6; }};
}

std::vector<Owner> machine(int gpus, double memory_gib, int cpus = 1) {
  std::vector<Owner> owners;
  for (int g = 0; g < gpus; ++g) owners.push_back({g, "GPU", true, memory_gib * gib});
  for (int c = 0; c < cpus; ++c) owners.push_back({gpus + c, "CPU", false, 0});
  return owners;
}

std::vector<int> thickness(const PlannedLattice& planned, int mu = 3) {
  std::vector<int> list;
  for (const runtime::Block& block : planned.decomposition.blocks()) list.push_back(block.extents[static_cast<std::size_t>(mu)]);
  return list;
}

/// GPU workers come first.
MeasureOwner speeds(int gpus, double gpu, double cpu) {
  return [=](int worker) { return worker < gpus ? gpu : cpu; };
}

MeasureOwner none() {
  return [](int) -> double { throw Error(ErrorKind::internal, "test", "nothing to measure", ""); };
}

}  // namespace

TEST_CASE("parts that must not be too thin") {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const int unit = 1 << (random() % 3), thinnest = 1 + static_cast<int>(random() % 4), extent = unit * static_cast<int>(4 + random() % 9);
    std::vector<Share> shares;
    for (int i = 0; i < 3; ++i)
      shares.push_back({i, 0.1 + static_cast<double>(random() % 100), random() % 2 == 0 ? 1 << 30 : static_cast<int>(random() % 40)});
    const std::vector<int> parts = runtime::proportional_parts(extent, shares, unit, thinnest);
    if (parts.empty()) continue;
    CHECK(std::accumulate(parts.begin(), parts.end(), 0) == extent);
    for (std::size_t i = 0; i < 3; ++i) {
      const bool fits = parts[i] == 0 || (parts[i] >= thinnest && parts[i] % unit == 0 && parts[i] <= shares[i].most);
      CHECK_MESSAGE(fits, parts[i] << " of " << extent << ", unit " << unit << ", thinnest " << thinnest << ", most " << shares[i].most);
    }
  }
  // Two layers are left that are too thin for a part: a third one comes along.
  CHECK(runtime::proportional_parts(16, {{0, 100, 14}, {1, 1}}, 1, 3) == std::vector<int>{13, 3});
  CHECK(runtime::proportional_parts(16, {{0, 100, 14}, {1, 1}}, 1, 1) == std::vector<int>{14, 2});
  CHECK(runtime::proportional_parts(5, {{0, 1, 4}, {1, 1, 4}}, 1, 3).empty());
}

TEST_CASE("parts are the best that any cut in units can be") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int unit = 1 << (random() % 3), extent = unit * static_cast<int>(4 + random() % 9);
    std::vector<Share> shares;
    for (int i = 0; i < 3; ++i) shares.push_back({i, 0.1 + static_cast<double>(random() % 100)});
    if (round % 3 == 0) shares[0].most = extent / 2;
    const std::vector<int> parts = runtime::proportional_parts(extent, shares, unit);
    REQUIRE(parts.size() == 3);
    CHECK(std::accumulate(parts.begin(), parts.end(), 0) == extent);
    CHECK(parts[0] <= shares[0].most);
    double best = 1e300;
    for (int a = 0; a <= extent; a += unit)
      for (int b = 0; a + b <= extent; b += unit)
        if (a <= shares[0].most) best = std::min(best, runtime::slowest({a, b, extent - a - b}, shares));
    CHECK(runtime::slowest(parts, shares) == doctest::Approx(best));
  }
  CHECK(runtime::proportional_parts(8, {{0, 1, 3}, {1, 1, 3}}, 1).empty());
  CHECK(runtime::proportional_parts(8, {{0, 1, 3}, {1, 0, 100}}, 1).empty());
}

TEST_CASE("parts that all owners must have are nearly the best that can be") {
  std::mt19937 random(13);
  for (int round = 0; round < 300; ++round) {
    const int multiple = 1 + static_cast<int>(random() % 3), thinnest = 1 + static_cast<int>(random() % 4),
              extent = multiple * static_cast<int>(4 + random() % 12);
    const std::vector<double> weights{0.1 + static_cast<double>(random() % 100), 0.1 + static_cast<double>(random() % 100), 1};
    INFO(extent << " for " << weights[0] << ", " << weights[1] << ", 1; multiples of " << multiple << ", thinnest " << thinnest);
    const auto allowed = [&](int part) { return part >= thinnest && part % multiple == 0; };
    const auto time = [&](int a, int b, int c) { return std::max({a / weights[0], b / weights[1], static_cast<double>(c)}); };
    double best = 0;
    for (int a = 1; a < extent; ++a)
      for (int b = 1; a + b < extent; ++b)
        if (const int c = extent - a - b; allowed(a) && allowed(b) && allowed(c))
          if (const double t = time(a, b, c); best == 0 || t < best) best = t;
    const std::vector<int> parts = runtime::parts_for_all(extent, weights, thinnest, multiple);
    REQUIRE(parts.empty() == (best == 0));
    if (parts.empty()) continue;
    REQUIRE(parts.size() == 3);
    CHECK(parts[0] + parts[1] + parts[2] == extent);
    CHECK(std::all_of(parts.begin(), parts.end(), allowed));
    // A finer cut is left out where it gains less than a tenth.
    CHECK(time(parts[0], parts[1], parts[2]) <= best / 0.9 * (1 + 1e-12));
  }
  CHECK(runtime::parts_for_all(64, {1, 1, 1}) == std::vector<int>{24, 20, 20});
  CHECK(runtime::parts_for_all(6, {1, 1}) == std::vector<int>{4, 2});
  CHECK(runtime::parts_for_all(6, {1, 1}, 3) == std::vector<int>{3, 3});
  CHECK(runtime::parts_for_all(8, {1, 1, 1}, 3).empty());
}

TEST_CASE("without a wish for CPUs, GPUs own everything that fits") {
  const PlannedLattice one = plan_devices(machine(1, 100), {}, problem(), none());
  CHECK(thickness(one) == std::vector<int>{64});
  CHECK(one.plan.cpu_share == 0);
  CHECK(one.plan.reason.empty());
  CHECK(thickness(plan_devices(machine(4, 100), {}, problem(), none())) == std::vector<int>{16, 16, 16, 16});
  // 40 GiB hold 37 slices and a reserve.
  const PlannedLattice spilled = plan_devices(machine(1, 40), {}, problem(), none());
  CHECK(thickness(spilled) == std::vector<int>{37, 27});
  CHECK(spilled.decomposition.block(1).owner == 1);
  CHECK(spilled.plan.reason.find("memory") != std::string::npos);
  CHECK(spilled.plan.cpu_share == doctest::Approx(27.0 / 64));
}

TEST_CASE("a lattice that GPUs alone cannot hold is refused with numbers and remedies") {
  for (const runtime::SessionOptions& wish : {runtime::SessionOptions{.devices = "cuda"}, runtime::SessionOptions{.cpu_share = 0.0}}) {
    try {
      plan_devices(machine(1, 40), wish, problem(), none());
      FAIL("not refused");
    } catch (const Error& error) {
      CHECK(error.exit_code() == 2);
      const std::string text = error.what();
      CHECK(text.find("need 64.00 GiB on GPUs, 37.95 GiB are available") != std::string::npos);
      CHECK(text.find("--devices all") != std::string::npos);
    }
  }
}

TEST_CASE("a share that was asked for is given, in units that come near it") {
  const auto cut = [](double share, const Coord& lattice, int gpus, double cpu = 100) {
    return thickness(plan_devices(machine(gpus, 1000), {.devices = "all", .cpu_share = share}, problem(lattice), speeds(gpus, 4000, cpu)));
  };
  CHECK(cut(0.25, {32, 32, 32, 64}, 1) == std::vector<int>{48, 16});
  CHECK(cut(0.03, {32, 32, 32, 64}, 1) == std::vector<int>{62, 2});
  CHECK(cut(0.25, {32, 32, 32, 64}, 2) == std::vector<int>{24, 24, 16});
  CHECK(cut(1.0, {32, 32, 32, 64}, 1) == std::vector<int>{64});
  // Of the cuts that give the CPUs what they shall have, the one that leaves the GPUs alike: parts in fours would be 48, 44, 4.
  CHECK(cut(0.02, {48, 48, 48, 96}, 2, 200) == std::vector<int>{47, 47, 2});
  CHECK(cut(0.04, {48, 48, 48, 96}, 2, 400) == std::vector<int>{46, 46, 4});
  CHECK(cut(0.04, {48, 48, 48, 96}, 1) == std::vector<int>{92, 4});
  const PlannedLattice planned = plan_devices(machine(1, 1000), {.devices = "all", .cpu_share = 0.25}, problem(), speeds(1, 4000, 100));
  CHECK(planned.plan.bound_gflops() == 4100);
  CHECK(planned.plan.parts[1].extents == Coord{32, 32, 32, 16});
}

TEST_CASE("an open share follows the measured speeds where that is predicted to be faster") {
  const runtime::SessionOptions open{.devices = "all"};
  const PlannedLattice fast = plan_devices(machine(1, 1000), open, problem(), speeds(1, 3000, 1000));
  CHECK(thickness(fast) == std::vector<int>{48, 16});
  // 62 slices instead of 64 save 11 of 350 us, less than what the cut costs.
  const PlannedLattice slow = plan_devices(machine(1, 1000), open, problem(), speeds(1, 4000, 120));
  CHECK(thickness(slow) == std::vector<int>{64});
  CHECK(slow.plan.cpu_share == 0);
  CHECK(slow.plan.reason.find("predicted") == 0);
  // What does not fit goes to the CPUs however slow they are.
  CHECK(thickness(plan_devices(machine(1, 40), open, problem(), speeds(1, 4000, 1))) == std::vector<int>{37, 27});
}

TEST_CASE("faces on their way cost nothing while their readers have something else to do") {
  const auto plan = [](const Coord& lattice, int real_bytes, double gpu, double cpu) {
    PlanningProblem of = problem(lattice);
    of.face_bytes = [=](int) { return lattice[0] * lattice[1] * lattice[2] / 2 * 12.0 * real_bytes; };
    return plan_devices(machine(1, 1000), {.devices = "all"}, of, speeds(1, gpu, cpu));
  };
  // Simulated Grace-Hopper node, double precision: 1.046 times as fast with 7 % on the CPUs, 0.94 times on the smaller lattice.
  CHECK(thickness(plan({48, 48, 48, 96}, 8, 4200, 380)) == std::vector<int>{88, 8});
  CHECK(thickness(plan({32, 32, 32, 64}, 8, 4200, 380)) == std::vector<int>{64});
  // An H200 and its 16 cores, single precision: 7730 GFLOP/s together, 7760 alone.
  const PlannedLattice measured = plan({48, 48, 48, 256}, 4, 7760, 301);
  CHECK(thickness(measured) == std::vector<int>{256});
  CHECK(measured.plan.reason == "predicted 2375 us an application with CPUs, 2408 us without");
}

TEST_CASE("parts too thin for lanes are predicted to be slower") {
  // Three slices of 64 for the CPU end 4 % earlier than none, but take the lanes of all blocks away; four end later.
  const auto cut = [](double thin) {
    PlanningProblem of = problem({96, 2304, 4, 64});  // no other direction can be cut
    of.thin_speed = thin;
    return thickness(plan_devices(machine(1, 1000), {.devices = "all"}, of, speeds(1, 4000, 250)));
  };
  CHECK(cut(1) == std::vector<int>{61, 3});
  CHECK(cut(thin_speed(Precision::single)) == std::vector<int>{64});
  CHECK(thin_speed(Precision::double_) == 1);
}

TEST_CASE("plans for hops over three sites") {
  PlanningProblem hisq = problem({32, 32, 4, 16});
  hisq.thinnest = 3;
  hisq.flops_a_site = 1146;
  // One layer in 200 would be the CPU's by its speed; forced, it gets the thinnest part that can be.
  const auto parts = [&](double share, const PlanningProblem& of) {
    return thickness(plan_devices(machine(1, 1000), {.devices = "all", .cpu_share = share}, of, speeds(1, 4000, 20)));
  };
  CHECK(parts(0.01, hisq) == std::vector<int>{13, 3});
  CHECK(parts(0.5, hisq) == std::vector<int>{8, 8});
  CHECK(thickness(plan_devices(machine(1, 1000), {.devices = "all"}, hisq, speeds(1, 4000, 20))) == std::vector<int>{16});
  // The borders of a part take memory too: 61 of 64 slices fit without them.
  PlanningProblem large = problem();
  large.thinnest = 3;
  const auto on_gpu = [&] { return thickness(plan_devices(machine(1, 61.0 / 0.95 + 0.1), {}, large, none())).front(); };
  CHECK(on_gpu() == 61);
  large.border_bytes = [](int) { return 4 * gib; };
  CHECK(on_gpu() == 57);
  PlanningProblem small = problem({4, 4, 4, 4});
  small.thinnest = 3;
  CHECK_THROWS_WITH_AS(parts(0.5, small), doctest::Contains("cpu-share: 4x4 sites in z and t cannot be cut in parts of 3"), Error);
}

}  // namespace proportional_cut_test
