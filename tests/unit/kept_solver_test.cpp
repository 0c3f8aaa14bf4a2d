// Solvers kept for the next quark of a campaign: who takes them, and that their solves have the bits of a solver of their own.
#include "apps/run/kept_solver.hpp"

#include "apps/run/config.hpp"
#include "runtime/graph/session.hpp"
#include "tests/reference/gauge.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kept_solver_test {

using namespace quarkstar;
using app::KeptSolver;
using app::RunConfig;

namespace {

constexpr std::uint64_t seed = 90210;

RunConfig config_of(const std::map<std::string, std::string>& values) {
  RunConfig config;
  std::vector<app::Assignment> settings;
  for (const auto& [key, value] : values) settings.push_back({key, value, key});
  apply_settings(config, settings);
  complete(config);
  return config;
}

}  // namespace

TEST_CASE("quarks take the same solver if only their mass, sources and outputs differ") {
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition cut({4, 4, 4, 8}, {1, 1, 1, 1}, 1);
  const auto key = [&](const std::map<std::string, std::string>& values) { return KeptSolver::key_of(config_of(values), {&cut, 1}); };
  const std::string light = key({{"kappa", "0.15"}});
  CHECK_FALSE(light.empty());
  CHECK(key({{"kappa", "0.12"}, {"json", "other.json"}, {"source", "point:1,2,3,4"}, {"correlators", "pion"}}) == light);
  CHECK(key({{"mass", "-0.5"}}) == light);
  for (const auto& [name, value] : std::map<std::string, std::string>{{"tol", "1e-6"},
                                                                      {"precision", "half"},
                                                                      {"links", "12"},
                                                                      {"boundary", "t=periodic"},
                                                                      {"nu", "1.5"},
                                                                      {"solver", "cgnr"},
                                                                      {"columns", "0-3"},
                                                                      {"nrhs", "3"}}) {
    CAPTURE(name);
    CHECK(key({{"kappa", "0.15"}, {name, value}}) != light);
  }
  // As far as texts for people go, these cuts are alike.
  const auto in_parts = [](int first, int owner) {
    return runtime::Decomposition({4, 4, 4, 8}, {{{4}, {4}, {4}, {first, 8 - first}}}, {owner, 1 - owner});
  };
  const auto key_on = [&](const runtime::Decomposition& on) { return KeptSolver::key_of(config_of({{"kappa", "0.15"}}), {&on, 1}); };
  CHECK(key_on(in_parts(4, 0)) == key_on(in_parts(4, 0)));
  CHECK(key_on(in_parts(4, 0)) != key_on(in_parts(2, 0)));
  CHECK(key_on(in_parts(4, 0)) != key_on(in_parts(4, 1)));
  // Islands: as many, in the same order, with the same parts.
  const auto key_of_islands = [&](const std::vector<runtime::Decomposition>& islands) {
    return KeptSolver::key_of(config_of({{"kappa", "0.15"}}), islands);
  };
  const runtime::Decomposition second = runtime::Decomposition::uncut({4, 4, 4, 8}, 1);
  CHECK(key_of_islands({cut, second}) == key_of_islands({cut, second}));
  CHECK_FALSE(key_of_islands({cut, second}).empty());
  CHECK(key_of_islands({cut, second}) != key_of_islands({second, cut}));
  CHECK(key_of_islands({cut, second}) != key_of_islands({cut}));
  CHECK(key_of_islands({cut}) == key_on(cut));
  session.let_cpus_join(true);
  CHECK(key({{"kappa", "0.15"}}) != light);
  session.let_cpus_join(false);
  const std::string hisq = key({{"action", "hisq"}, {"mass", "0.1"}});
  CHECK(key({{"action", "hisq"}, {"mass", "0.2"}}) == hisq);
  CHECK(key({{"action", "hisq"}, {"naik-epsilon", "-0.1"}}) != hisq);
  // Made for one mass.
  CHECK(key({{"action", "hisq"}, {"naik-epsilon", "auto"}}).empty());
  CHECK(key({{"solver", "multigrid"}}).empty());
  CHECK(key({{"solver", "gcr"}, {"schwarz-block", "4,4,4,4"}}).empty());
  CHECK(key({{"recycle", "8"}, {"solver", "cgnr"}}).empty());
  CHECK(key({{"deflate", "modes.h5"}}).empty());
  CHECK(key({{"policy", "adaptive"}}).empty());
}

TEST_CASE("a kept solver has the bits of one of its own, and clover's is for one kappa") {
  MESSAGE("seed " << seed);
  const Coord lattice{4, 4, 4, 4};
  const HostGauge gauge = reference::random_gauge(lattice, seed);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition cut(lattice, {1, 1, 1, 1}, 1);
  HostField source(spinor_components, lattice);
  for (std::size_t i = 0; i < source.data.size(); ++i) source.data[i] = {1.0 / static_cast<double>(i + 1), 0.5};
  const SolverSettings settings{.solver = "bicgstab", .precision = Precision::half, .tune = false};
  const auto made = [&](const std::string& action, double kappa) {
    const ActionKind& kind = kind_named(action);
    SettingValues values{{"kappa", kappa}};
    if (action == "clover") values["csw"] = 1.0;
    ActionRun run{.settings = values};
    const std::size_t only[] = {0};
    KeptSolver::Held held{kind.make_links(session, cut, links_at_hand(gauge), run)(only), {}};
    held.solvers.push_back(std::make_unique<Solver>(cut, *held.operation.action, settings));
    return held;
  };
  const auto solved = [&](Solver& solver, double kappa) {
    HostField solution(spinor_components, lattice);
    CHECK(solver.solve(source, kappa, solution).converged());
    return solution.data;
  };
  KeptSolver kept;
  for (const std::string action : {"wilson", "clover"}) {
    CAPTURE(action);
    kept.begin(action);
    for (const double kappa : {0.11, 0.12}) {
      KeptSolver::Held held = kept.take({&kappa, 1});
      CHECK(held.solvers.empty() != (kappa == 0.12 && action == "wilson"));
      if (held.solvers.empty()) held = made(action, kappa);
      CHECK(solved(*held.solvers.front(), kappa) == solved(*made(action, kappa).solvers.front(), kappa));
      kept.keep(std::move(held));
    }
  }
  kept.begin("another");
  const double kappa = 0.12;
  CHECK(kept.take({&kappa, 1}).solvers.empty());
  kept.forget();
  kept.keep(made("wilson", kappa));  // for nobody
  CHECK(kept.take({&kappa, 1}).solvers.empty());
}

}  // namespace kept_solver_test
