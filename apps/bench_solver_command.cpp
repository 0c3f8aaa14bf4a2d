// quarkstar bench solver: the table
#include "apps/bench_options.hpp"
#include "apps/bench_solver.hpp"
#include "apps/parse.hpp"
#include "apps/solve_plan.hpp"
#include "codelets/heatbath/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

/// Microseconds an iteration of QUDA (develop 9521952, autotuned, even-odd, weak field, outer double 18, inner 12 reals) on one H200.
struct Peer {
  std::string_view solver;
  Precision inner;
  int extent;
  double microseconds;
};
constexpr Peer quda[] = {{"bicgstab", Precision::single, 32, 762}, {"bicgstab", Precision::single, 48, 3599},
                         {"bicgstab", Precision::half, 32, 533},   {"bicgstab", Precision::half, 48, 2403},
                         {"cgnr", Precision::half, 32, 486}};

std::optional<double> quda_on_h200(std::string_view solver, Precision inner, int link_reals, const Coord& lattice) {
  for (const Peer& peer : quda)
    if (peer.solver == solver && peer.inner == inner && link_reals == 12 && lattice == Coord{peer.extent, peer.extent, peer.extent, peer.extent})
      return peer.microseconds;
  return std::nullopt;
}

bool same_blocks(const runtime::Decomposition& a, const runtime::Decomposition& b) {
  return std::equal(a.blocks().begin(), a.blocks().end(), b.blocks().begin(), b.blocks().end(),
                    [](const runtime::Block& x, const runtime::Block& y) { return x.extents == y.extents && x.owner == y.owner; });
}

Json row_of(const std::string& devices, const Coord& lattice, std::string_view solver, Precision precision, int reals, const SolverTiming& t,
            double triad) {
  const auto peer = quda_on_h200(solver, precision, reals, lattice);
  Json row = {{"devices", devices},
              {"lattice", lattice},
              {"solver", solver},
              {"precision", precision == Precision::double_ ? "double" : fmt::format("double/{}", name_of(precision))},
              {"link_reals", reals},
              {"iterations", t.iterations},
              {"us_per_iteration", t.best_us},
              {"us_per_iteration_median", t.median_us},
              {"gflops", t.flops / t.best_us * 1e-3},
              {"bytes_per_iteration", t.bytes},
              {"bandwidth_fraction", t.bytes / t.best_us * 1e-3 / triad},
              {"share", nullptr},
              {"tasks_per_iteration", t.tasks},
              {"kernels_per_iteration", t.kernels},
              {"runtime_us_per_kernel", nullptr},
              {"quda_h200_us", peer ? Json(*peer) : Json()}};
  if (t.has_parts) {
    const double whole = t.dslash_us + t.blas_us + t.scalars_us + t.conversion_us + t.runtime_us();
    row["share"] = {{"dslash", t.dslash_us / whole},
                    {"blas", t.blas_us / whole},
                    {"reductions", t.scalars_us / whole},
                    {"conversions", t.conversion_us / whole},
                    {"runtime", t.runtime_us() / whole}};
    row["runtime_us_per_kernel"] = t.runtime_us_per_kernel();
  }
  return row;
}

void print_header(const std::string& devices, double triad) {
  fmt::print("\nEven-odd Wilson solvers on {}; bandwidth = compulsory bytes of an iteration at a triad of {:.1f} GB/s\n"
             "{:>14} {:>8} {:>13} {:>5} {:>11} {:>11} {:>8} {:>6} | {:>6} {:>5} {:>7} {:>7} {:>7} | {:>6} {:>7} {:>9} {:>9}\n",
             devices, triad, "lattice", "solver", "precision", "links", "us/iter", "median", "GFLOP/s", "bandw.", "Dslash", "BLAS", "reduct.",
             "convers", "runtime", "tasks", "kernels", "us/kernel", "QUDA H200");
}

void print_row(const Json& row) {
  const auto percent = [&](const char* part) {
    return row["share"].is_null() ? std::string("-") : fmt::format("{:.1f}%", 100 * row["share"][part].get<double>());
  };
  const auto number = [&](const char* key) {
    return row[key].is_null() ? std::string("-") : fmt::format("{:.1f}", row[key].get<double>());
  };
  fmt::print("{:>14} {:>8} {:>13} {:>5} {:>11.1f} {:>11.1f} {:>8.1f} {:>5.0f}% | {:>6} {:>5} {:>7} {:>7} {:>7} | {:>6.2f} {:>7.1f} {:>9} {:>9}\n",
             fmt::format("{}", fmt::join(row["lattice"].get<std::vector<int>>(), ",")), row["solver"].get<std::string>(),
             row["precision"].get<std::string>(), row["link_reals"].get<int>(), row["us_per_iteration"].get<double>(),
             row["us_per_iteration_median"].get<double>(), row["gflops"].get<double>(), 100 * row["bandwidth_fraction"].get<double>(),
             percent("dslash"), percent("blas"), percent("reductions"), percent("conversions"), percent("runtime"),
             row["tasks_per_iteration"].get<double>(), row["kernels_per_iteration"].get<double>(), number("runtime_us_per_kernel"),
             number("quda_h200_us"));
}

/// The rows of one lattice.
void bench_lattice(const BenchOptions& options, const std::string& devices, runtime::Session& session, const Coord& lattice, double triad,
                   Json& rows) {
  const HostGauge gauge = heatbath::hot_start(lattice, 1, session.cpu_team());
  const auto level = [&](const runtime::Decomposition& decomposition, Precision precision, int reals, const BenchLevel* beside) {
    const double resident = beside != nullptr ? wilson::links_bytes_a_site(beside->lattice->precision(), beside->even.reals()) : 0;
    const wilson::TuningProblem problem{decomposition, precision, reals, resident};
    auto made = std::make_unique<BenchLevel>(problem, tuning_of(options, problem), gauge);
    session.wait_all();  // the tasks read the host's links
    return made;
  };
  std::unique_ptr<BenchLevel> outer;
  for (const std::string& precision_name : options.precisions)
    for (const int reals : links_of(options)) {
      const Precision precision = parse_precision(precision_name);
      const SolverSettings settings{.precision = precision, .link_reals = reals};
      const runtime::Decomposition decomposition = plan_solve(session, lattice, settings).decomposition;
      std::unique_ptr<BenchLevel> own;
      if (precision != Precision::double_ || reals != 18) own = level(decomposition, precision, reals, outer.get());
      // Rows with the same blocks share the links in double precision.
      if ((precision != Precision::double_ || !own) && (!outer || !same_blocks(outer->lattice->decomposition(), decomposition))) {
        outer.reset();
        outer = level(decomposition, Precision::double_, 18, own.get());
      }
      BenchLevel& inner = own ? *own : *outer;
      BenchLevel& above = precision == Precision::double_ ? inner : *outer;
      for (const NamedKrylovSolver& solver : krylov_solvers()) {
        if (std::find(options.solvers.begin(), options.solvers.end(), solver.name) == options.solvers.end()) continue;
        const int iterations = options.iterations > 0 ? options.iterations : devices == "cpu" ? 64 : 256;
        const SolverTiming timing = time_solver(session, solver, above, inner, iterations, options.repetitions);
        rows.push_back(row_of(devices, lattice, solver.name, precision, reals, timing, triad));
        if (!options.json) print_row(rows.back());
      }
    }
}

}  // namespace

void run_bench_solver(const BenchOptions& options) {
  Json result = {{"solver", Json::array()}};
  for_devices(options, [&](const std::string& devices, runtime::Session& session) {
    const double triad = measure_memory(options.array_megabytes, options.repetitions, session).owners_triad;
    result["machine"] = machine_facts(session);
    result["triad_gbs"][devices] = triad;
    if (!options.json) print_header(devices, triad);
    const std::vector<Coord> on_cpu{{16, 16, 16, 16}}, on_gpu{{16, 16, 16, 16}, {32, 32, 32, 32}, {48, 48, 48, 48}};
    const std::vector<Coord>& defaults = devices == "cpu" ? on_cpu : on_gpu;
    for (const Coord& lattice : options.lattices.empty() ? defaults : options.lattices)
      bench_lattice(options, devices, session, lattice, triad, result["solver"]);
  });
  if (options.json) fmt::print("{}\n", result.dump(2));
}

}  // namespace quarkstar::app
