// Sweeps through the task graph: the same bits for every cut, worker count and policy, and equal to a plain loop.
#include "codelets/gauge/heatbath/link_update.hpp"
#include "codelets/gauge/staple.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/random.hpp"
#include "tests/unit/heatbath_testing.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace heatbath_graph_test {

using namespace quarkstar;
using namespace quarkstar::heatbath;
using heatbath_testing::options;

namespace {

constexpr Coord lattice{4, 4, 4, 4};
constexpr std::uint64_t seed = 41;

HostGauge start() { return hot_start(lattice, seed, runtime::Team({0})); }

HostGauge stored(const gauge::GaugeField& links) {
  HostGauge field = cold_start(links.lattice());
  store(field, links);
  runtime::Session::current().wait_all();
  return field;
}

HostGauge after_sweeps(HostGauge field, const runtime::Decomposition& decomposition, int first, int last) {
  gauge::GaugeField links(decomposition, 1);
  load(links, field);
  Heatbath chain(links, {5.7, seed, 2});
  for (int sweep = first; sweep < last; ++sweep) chain.sweep(sweep);
  return stored(links);
}

/// The staples around U_mu(x), of links in host order and without a border.
Matrix staples_around(const HostGauge& field, const Coord& x, int mu) {
  const auto link = [&](const Coord& at, int nu) { return site::read_link(field.link(lexicographic(at, field.extents), nu).data()); };
  const auto step = [&](const Coord& at, int nu, int by) { return reference::step(at, nu, by, field.extents); };
  Matrix sum{};
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    const Coord ahead = step(x, mu, 1), behind = step(x, nu, -1);
    sum = sum + multiply_adjoint(multiply_adjoint(link(ahead, nu), link(step(x, nu, 1), mu)), link(x, nu));
    sum = sum + adjoint_multiply(multiply(link(behind, mu), link(step(behind, mu, 1), nu)), link(behind, nu));
  }
  return sum;
}

/// One update of every link in the order of the definition, without graph, blocks or threads.
template <class Update>
void plain_loop(HostGauge& field, Update&& update) {
  for (int mu = 0; mu < 4; ++mu)
    for (int parity = 0; parity < 2; ++parity)
      for (std::int64_t index = 0; index < volume(field.extents); ++index) {
        const Coord x = coordinates(index, field.extents);
        if (parity_of(x) != parity) continue;
        double* link = field.link(index, mu).data();
        Matrix u = site::read_link(link);
        update(u, staples_around(field, x, mu), index, mu);
        write_link(link, u);
      }
}

HostGauge after_plain_sweeps(HostGauge field, int sweeps) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    plain_loop(field, [sweep](Matrix& u, const Matrix& staple, std::int64_t site, int mu) {
      heatbath_link(u, staple, 5.7, [&](int subgroup) {
        return RandomStream(seed, RandomPurpose::heatbath, site, static_cast<std::uint64_t>((sweep * 4 + mu) * 3 + subgroup));
      });
    });
    for (int n = 0; n < 2; ++n) plain_loop(field, [](Matrix& u, const Matrix& staple, std::int64_t, int) { overrelax_link(u, staple); });
  }
  return field;
}

}  // namespace

TEST_CASE("heatbath: the staple sum is what multiplies a link in the action") {
  const Coord extents{2, 4, 6, 2};
  const HostGauge field = reference::random_gauge(extents, 42);
  const double plaquettes = 3.0 * 3.0 * static_cast<double>(volume(extents));
  const auto action = [&](const HostGauge& g) {
    const auto [spatial, temporal] = reference::plaquettes(g);
    return plaquettes * (spatial + temporal);  // sum of Re tr over all plaquettes
  };
  const runtime::Session session(options(1, 1));
  const gauge::GaugeField links(runtime::Decomposition(extents, {1, 1, 1, 1}, 1), 1);
  load(links, field);
  exchange_border(links);
  const runtime::Block& block = links.blocks().front();
  const gauge::LinkStrides strides = links.shape(block).strides();
  const runtime::HostView<const double> memory(links.handle(block));
  reference::Random random(43);
  for (std::int64_t index = 0; index < volume(extents); index += 7)
    for (int mu = 0; mu < 4; ++mu) {
      HostGauge changed = field;
      const auto before = reference::link(field, index, mu);
      const auto after = reference::reunitarize(random.normal_matrix());
      reference::set_link(changed, index, mu, after);
      const std::ptrdiff_t p = links.shape(block).offset(coordinates(index, extents));
      const Matrix staple = staple_sum(gauge::StridedLinks<double>(memory.get(), strides), p, mu);
      reference::Matrix<3> a;
      write_link(reinterpret_cast<double*>(a.entries.data()), staple);
      CHECK(reference::trace((after - before) * a).real() == doctest::Approx(action(changed) - action(field)).epsilon(1e-10));
    }
}

TEST_CASE("heatbath: the same bits for every cut, number of workers and policy, and as a plain loop") {
  const HostGauge expected = after_plain_sweeps(start(), 2);
  struct Run {
    int workers, threads;
    const char* policy;
  };
  for (const Run& run :
       {Run{1, 1, "static"}, Run{1, 2, "static"}, Run{2, 1, "static"}, Run{2, 1, "eager"}, Run{1, 1, "eager"}, Run{3, 1, "lws"}}) {
    const runtime::Session session(options(run.workers, run.threads, run.policy));
    for (const Coord& grid : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 2}, Coord{2, 2, 2, 2}, Coord{1, 1, 1, 4}, Coord{1, 4, 1, 1}}) {
      CAPTURE(run.workers);
      CAPTURE(run.threads);
      CAPTURE(run.policy);
      CAPTURE(grid);
      const HostGauge got = after_sweeps(start(), runtime::Decomposition(lattice, grid, run.workers), 0, 2);
      CHECK(got.data == expected.data);
    }
  }
}

TEST_CASE("heatbath: unequal blocks give the same bits") {
  const Coord extents{6, 4, 2, 8};
  const HostGauge begin = hot_start(extents, seed, runtime::Team({0}));
  const runtime::Session session(options(2, 1));
  const HostGauge whole = after_sweeps(begin, runtime::Decomposition(extents, {1, 1, 1, 1}, 2), 0, 2);
  const std::array<std::vector<int>, 4> cuts{{{2, 4}, {3, 1}, {2}, {1, 5, 2}}};
  CHECK(after_sweeps(begin, runtime::Decomposition(extents, cuts, {0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1}), 0, 2).data == whole.data);
}

TEST_CASE("heatbath: blocks of one site in thickness give the same bits") {
  const Coord extents{2, 4, 4, 4};
  const HostGauge begin = hot_start(extents, seed, runtime::Team({0}));
  const HostGauge expected = after_plain_sweeps(begin, 2);
  const runtime::Session session(options(2, 1));
  CHECK(after_sweeps(begin, runtime::Decomposition(extents, {1, 4, 2, 4}, 2), 0, 2).data == expected.data);
}

TEST_CASE("heatbath: a chain continues where it stopped") {
  const runtime::Session session(options(2, 1));
  const runtime::Decomposition decomposition(lattice, {1, 1, 1, 2}, 2);
  const HostGauge whole = after_sweeps(start(), decomposition, 0, 4);
  const HostGauge half = after_sweeps(start(), decomposition, 0, 2);
  CHECK(after_sweeps(half, decomposition, 2, 4).data == whole.data);
  CHECK(after_sweeps(half, decomposition, 1, 3).data != whole.data);
}

TEST_CASE("heatbath: overrelaxation leaves the action unchanged, the heatbath leaves links in SU(3)") {
  const runtime::Session session(options(2, 1));
  const runtime::Team& team = session.worker(0).team;
  gauge::GaugeField links(runtime::Decomposition(lattice, {1, 1, 2, 2}, 2), 1);
  const HostGauge begin = start();
  load(links, begin);
  Heatbath chain(links, {6.0, seed, 0});
  for (int sweep = 0; sweep < 3; ++sweep) chain.sweep(sweep);
  const double before = gauge::plaquettes(links).mean();
  const HostGauge thermal = stored(links);
  CHECK(before == gauge::plaquettes(thermal, team).mean());
  for (int n = 0; n < 20; ++n) chain.submit_overrelaxation();
  chain.wait();
  CHECK(std::abs(gauge::plaquettes(links).mean() - before) < 1e-13);
  const HostGauge field = stored(links);
  CHECK(field.data != thermal.data);
  CHECK(reference::unitarity_deviation(field) < 1e-13);
  CHECK(gauge::unitarity_deviation(links).unitarity == gauge::unitarity_deviation(field, team).unitarity);
  chain.sweep(3);
  CHECK(reference::unitarity_deviation(stored(links)) < 2e-15);
}

TEST_CASE("heatbath: cold and hot starts") {
  const HostGauge cold = cold_start({2, 4, 2, 6});
  CHECK(cold.data == reference::unit_gauge({2, 4, 2, 6}).data);
  const Coord extents{4, 4, 4, 8};
  const HostGauge hot = hot_start(extents, 7, runtime::Team({0}));
  CHECK(hot.data == hot_start(extents, 7, runtime::Team({0, 0, 0})).data);
  CHECK(hot.data != hot_start(extents, 8, runtime::Team({0})).data);
  CHECK(reference::unitarity_deviation(hot) < 1e-14);
  // In the Haar measure <(Re tr U)^2> = 1/2 for every link and every plaquette.
  const double links = 4.0 * static_cast<double>(volume(extents));
  CHECK(std::abs(gauge::link_trace(hot, runtime::Team({0}))) < 5 * std::sqrt(0.5 / links) / 3);
  CHECK(std::abs(gauge::plaquettes(hot, runtime::Team({0})).mean()) < 5 * std::sqrt(0.5 / (1.5 * links)) / 3);
  CHECK_THROWS_WITH_AS(cold_start({2, 0, 2, 2}), "lattice: 2x0x2x2 has an extent below 1; give four positive extents", Error);
}

TEST_CASE("heatbath: bad settings and links are refused before anything runs") {
  HostGauge field = cold_start(lattice);
  const runtime::Decomposition decomposition(lattice, {1, 1, 1, 1}, 1);
  const auto refused = [&](const HeatbathSettings& settings) {
    gauge::GaugeField links(decomposition, 1);
    load(links, field);
    try {
      Heatbath chain(links, settings);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::input;
    }
    return false;
  };
  const runtime::Session session(options(1, 1));
  CHECK(refused({-1.0, 1, 4}));
  CHECK(refused({std::numeric_limits<double>::quiet_NaN(), 1, 4}));
  CHECK(refused({std::numeric_limits<double>::infinity(), 1, 4}));
  CHECK(refused({6.0, 1, -1}));
  CHECK_FALSE(refused({0.0, 1, 0}));
  field.data[100] += 0.1;
  CHECK(refused({6.0, 1, 4}));
  field.data[100] = std::numeric_limits<double>::quiet_NaN();
  CHECK(refused({6.0, 1, 4}));
  const HostGauge good = cold_start(lattice);
  gauge::GaugeField bare(decomposition, 0), links(decomposition, 1);
  CHECK_THROWS_AS(load(links, cold_start({2, 2, 2, 2})), ShapeError);
  for (const gauge::GaugeField* field : {&bare, &links}) load(*field, good);
  CHECK_THROWS_AS(Heatbath(bare, {6.0, 1, 4}), ShapeError);
  CHECK_THROWS_AS(gauge::link_sums(bare), ShapeError);
  CHECK_THROWS_AS(gauge::plaquettes(bare), ShapeError);
  CHECK_THROWS_WITH_AS(
      gauge::GaugeField(runtime::Decomposition(lattice, {1, 1, 1, 4}, 1), 2),
      "blocks: a block of extent 1 along t is thinner than the border of 2 sites that links need; cut that direction into fewer "
      "blocks",
      Error);
  Heatbath chain(links, {6.0, 1, 4});
  CHECK_THROWS_AS(chain.sweep(-1), Error);
}

}  // namespace heatbath_graph_test
