// quarkstar bench eigen: where the time of a solve for eigenvectors goes, and how fast a projector of them is
#include "apps/bench/action_bench.hpp"
#include "apps/bench/bench_options.hpp"
#include "apps/run/eigen_run.hpp"
#include "apps/run/parse.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/graph/handle_pool.hpp"
#include "runtime/system/clock.hpp"
#include "solvers/eigen/eigen_projector.hpp"
#include "solvers/eigen/lanczos.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

/// The operator of one lattice, for blocks of vectors.
class EigenBench {
 public:
  EigenBench(const BenchOptions& options, runtime::Session& session, const ActionBench& bench, const std::string& devices,
             const BenchMemory& memory)
      : options_(options),
        session_(session),
        bench_(bench),
        devices_(devices),
        triad_(memory.owners_triad),
        operator_(bench.action(), bench.decomposition(), bench.action().is_hermitian() ? 0 : bench.mass(), Schur::asymmetric, options.eigen,
                  !options.no_tune) {
    copy_ = session.gpu_count() == 0 ? memory.cpu.copy_streaming : memory.owners_triad;
  }

  /// A solve up to so many restarts.
  Json solve() const {
    SolverTiming timing;
    timing.iterations = 1;
    const runtime::Cost before = runtime::Events::of_this_thread().cost;
    const double start = runtime::now_us();
    const LanczosState state = solved();
    timing.best_us = timing.median_us = runtime::now_us() - start;
    const runtime::Cost after = runtime::Events::of_this_thread().cost;
    time_parts(timing, session_, bench_.decomposition(), [&] { solved(); });
    Json row = {{"devices", devices_},
                {"action", options_.action},
                {"lattice", bench_.decomposition().lattice()},
                {"modes", options_.eigen.modes},
                {"block", options_.eigen.block},
                {"basis", basis_for(options_.eigen)},
                {"degree", state.degree},
                {"restarts", state.restarts},
                {"applications", state.applications * options_.eigen.block},
                {"seconds", timing.best_us * 1e-6},
                {"us_per_application", timing.best_us / static_cast<double>(state.applications * options_.eigen.block)},
                {"gflops", (after.flops - before.flops) / timing.best_us * 1e-3},
                {"bandwidth_fraction", (after.bytes - before.bytes) / timing.best_us * 1e-3 / triad_},
                {"share", nullptr}};
    if (timing.has_parts) {
      const double rest = timing.scalars_us + timing.conversion_us + timing.runtime_us();
      const double all = timing.dslash_us + timing.blas_us + rest;
      row["share"] = {{"operator", timing.dslash_us / all}, {"vectors", timing.blas_us / all}, {"rest", rest / all}};
    }
    return row;
  }

  /// A projector of as many vectors as there are modes, of any values, on n right-hand sides.
  Json project(int n) const {
    const LinearOperator& a = *operator_;
    const int modes = options_.eigen.modes;
    EigenProjector projector(a.lattice(), a.parity(), a.components(), std::vector<double>(static_cast<std::size_t>(modes), 1.0));
    for (int first = 0; first < modes; first += EigenProjector::block_for(modes))
      projector.add(
          std::vector<HostField>(static_cast<std::size_t>(std::min(EigenProjector::block_for(modes), modes - first)), bench_.wave()));
    // Two groups of right-hand sides, each with what is between its products: those of two solves in flight.
    struct Group {
      Field in, out;
      std::shared_ptr<runtime::HandlePool> pool;
    };
    std::vector<Group> groups;
    const std::vector<HostField> waves(static_cast<std::size_t>(n), bench_.wave());
    for (int g = 0; g < 2; ++g) {
      groups.push_back({a.field(n), a.field(n), std::make_shared<runtime::HandlePool>()});
      transfer::load(groups.back().in, waves);
    }
    session_.wait_all();
    // Projections of the first `of` groups by turns, and alone, from its submission to what the host sees of its end.
    const auto best_of = [&](int in_a_row, std::size_t of) {
      double best_us = 0, total_us = 0;
      constexpr double long_enough_us = 1e5;
      for (int pass = -1; pass < options_.repetitions || total_us < long_enough_us; ++pass) {  // the first one warms up
        const double start = runtime::now_us();
        for (int i = 0; i < in_a_row; ++i) {
          const Group& group = groups[static_cast<std::size_t>(i) % of];
          const runtime::HandlePool::Use pooled(group.pool);
          projector.apply(group.out, group.in, {});
        }
        session_.wait_all();
        const double us = (runtime::now_us() - start) / in_a_row;
        if (pass < 0) continue;
        best_us = pass == 0 ? us : std::min(best_us, us);
        total_us += us * in_a_row;
      }
      return best_us;
    };
    constexpr int row = 16;
    const double alone_us = best_of(1, 1), row_us = best_of(row, 1), best_us = best_of(row, groups.size());
    const auto numbers = static_cast<double>(a.lattice()->sites_of_parity()) * a.components();
    const double bytes = numbers * (2.0 * modes + 2.0 * n) * sizeof(std::complex<double>), flops = 16 * numbers * modes * n;
    return {{"devices", devices_},
            {"action", options_.action},
            {"lattice", bench_.decomposition().lattice()},
            {"modes", modes},
            {"nrhs", n},
            {"us", best_us / n},
            {"in_a_row_us", row_us / n},
            {"alone_us", alone_us / n},
            {"gflops", flops / best_us * 1e-3},
            {"gbs", bytes / best_us * 1e-3},
            {"copy_gbs", copy_},
            {"copy_fraction", bytes / best_us * 1e-3 / copy_}};
  }

 private:
  LanczosState solved() const {
    BlockLanczos lanczos = operator_.lanczos(options_.eigen);
    const EigenResult result = lanczos.solve([&](const LanczosState& state, int) { return state.restarts < options_.restarts; });
    session_.wait_all();
    return result.state;
  }

  const BenchOptions& options_;
  runtime::Session& session_;
  const ActionBench& bench_;
  std::string devices_;
  double triad_, copy_ = 0;
  EigenOperator operator_;
};

void print_solve(const Json& row, double triad) {
  fmt::print(
      "\nBlock Lanczos of {} on {}, double precision; bandwidth = compulsory bytes at a triad of {:.1f} GB/s\n"
      "{:>14} {:>5} {:>5} {:>5} {:>6} {:>8} {:>12} {:>9} {:>11} {:>8} {:>7} {:>9} {:>8} {:>6}\n",
      row["action"].get<std::string>(), row["devices"].get<std::string>(), triad, "lattice", "modes", "block", "basis", "degree",
      "restarts", "applications", "seconds", "us/applic.", "GFLOP/s", "bandw.", "operator", "vectors", "rest");
  const auto percent = [&](const char* part) {
    return row["share"].is_null() ? std::string("-") : fmt::format("{:.1f}%", 100 * row["share"][part].get<double>());
  };
  fmt::print("{:>14} {:>5} {:>5} {:>5} {:>6} {:>8} {:>12} {:>9.3f} {:>11.1f} {:>8.2f} {:>6.0f}% {:>9} {:>8} {:>6}\n",
             text_of(row["lattice"].get<Coord>()), row["modes"].get<int>(), row["block"].get<int>(), row["basis"].get<int>(),
             row["degree"].get<int>(), row["restarts"].get<int>(), row["applications"].get<std::int64_t>(), row["seconds"].get<double>(),
             row["us_per_application"].get<double>(), row["gflops"].get<double>(), 100 * row["bandwidth_fraction"].get<double>(),
             percent("operator"), percent("vectors"), percent("rest"));
  fmt::print("{:>14} {:>10} {:>5} {:>12} {:>9} {:>9} {:>9} {:>7}\n", "projection", "vectors", "nrhs", "us", "alone", "GFLOP/s", "GB/s",
             "of copy");
}

void print_projection(const Json& row) {
  fmt::print("{:>14} {:>10} {:>5} {:>12.1f} {:>9.1f} {:>9.2f} {:>9.2f} {:>6.0f}%\n", text_of(row["lattice"].get<Coord>()),
             row["modes"].get<int>(), row["nrhs"].get<int>(), row["us"].get<double>(), row["alone_us"].get<double>(),
             row["gflops"].get<double>(), row["gbs"].get<double>(), 100 * row["copy_fraction"].get<double>());
  std::fflush(stdout);
}

}  // namespace

void run_bench_eigen(const BenchOptions& options) {
  if (kind_named(options.action).slices(asked_of(options).settings) > 1)
    throw Error(ErrorKind::input, Parameter("action"), fmt::format("{} has a fifth dimension", options.action),
                "use another action: bench eigen is of four dimensions");
  Json result = {{"eigen", Json::array()}, {"projection", Json::array()}};
  for_devices(options, [&](const std::string& devices, runtime::Session& session) {
    const BenchMemory memory = measure_memory(options.array_megabytes, options.repetitions, session);
    result["machine"] = machine_facts(session);
    result["triad_gbs"][devices] = memory.owners_triad;
    const Coord usual = devices == "cpu" ? Coord{8, 8, 8, 8} : Coord{16, 16, 16, 16};
    for (const Coord& lattice : options.lattices.empty() ? std::vector{usual} : options.lattices) {
      const ActionKind& kind = kind_named(options.action);
      check_eigen(options.eigen, dimension_of(kind, asked_of(options).settings, lattice, {}));
      const ActionBench bench(session, lattice, kind, asked_of(options).settings, options.blocks);
      const EigenBench eigen(options, session, bench, devices, memory);
      result["eigen"].push_back(eigen.solve());
      if (!options.json) print_solve(result["eigen"].back(), memory.owners_triad);
      for (const int n : numbers_of_right_hand_sides(options)) {
        result["projection"].push_back(eigen.project(n));
        if (!options.json) print_projection(result["projection"].back());
      }
    }
  });
  if (options.json) fmt::print("{}\n", result.dump(2));
}

}  // namespace quarkstar::app
