// quarkstar bench solver: the table
#include "apps/bench/action_bench.hpp"
#include "apps/bench/bench_options.hpp"
#include "apps/bench/bench_solver.hpp"
#include "apps/run/outputs.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/solve_plan.hpp"
#include "apps/run/write_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

/// Microseconds an iteration of QUDA (develop 9521952, autotuned, even-odd, weak field, outer double 18, inner 12 reals) on one H200.
/// HISQ: outer 18, inner long links of 13 reals, a right-hand side.
struct Peer {
  std::string_view action, solver;
  Precision inner;
  int link_reals, extent, vectors;
  double microseconds;
};
constexpr Peer quda[] = {
    {"wilson", "bicgstab", Precision::single, 12, 32, 1, 762}, {"wilson", "bicgstab", Precision::single, 12, 48, 1, 3599},
    {"wilson", "bicgstab", Precision::half, 12, 32, 1, 533},   {"wilson", "bicgstab", Precision::half, 12, 48, 1, 2403},
    {"wilson", "cgnr", Precision::half, 12, 32, 1, 486},       {"hisq", "cg", Precision::half, 13, 32, 1, 244},
    {"hisq", "cg", Precision::half, 13, 48, 1, 1122},          {"hisq", "cg", Precision::single, 13, 32, 1, 369},
    {"hisq", "cg", Precision::single, 13, 48, 1, 1812},        {"hisq", "cg", Precision::half, 13, 32, 4, 169},
    {"hisq", "cg", Precision::half, 13, 32, 8, 163},           {"hisq", "cg", Precision::single, 13, 32, 8, 153}};

/// One row of the table.
struct SolverCase {
  std::string_view action, solver;
  Coord lattice;
  Precision precision;
  int link_reals, vectors;
};

std::optional<double> quda_on_h200(const SolverCase& c) {
  for (const Peer& peer : quda)
    if (peer.action == c.action && peer.solver == c.solver && peer.inner == c.precision && peer.link_reals == c.link_reals &&
        peer.vectors == c.vectors && c.lattice == Coord{peer.extent, peer.extent, peer.extent, peer.extent})
      return peer.microseconds;
  return std::nullopt;
}

Json row_of(const std::string& devices, const SolverCase& c, const SolverTiming& t, double triad) {
  const auto peer = quda_on_h200(c);
  Json row = {{"devices", devices},
              {"action", c.action},
              {"lattice", c.lattice},
              {"solver", c.solver},
              {"precision", c.precision == Precision::double_ ? "double" : fmt::format("double/{}", name_of(c.precision))},
              {"link_reals", c.link_reals},
              {"nrhs", c.vectors},
              {"iterations", t.iterations},
              {"refreshes", t.refreshes},
              {"us_per_iteration", t.best_us / c.vectors},
              {"us_per_iteration_median", t.median_us / c.vectors},
              {"gflops", t.flops / t.best_us * 1e-3},
              {"bytes_per_iteration", t.bytes},
              {"bandwidth_fraction", t.bytes / t.best_us * 1e-3 / triad},
              {"share", nullptr},
              {"tasks_per_iteration", t.tasks},
              {"kernels_per_iteration", t.kernels},
              {"us_per_task", t.us_per_task},
              {"runtime_us_per_kernel", nullptr},
              {"bound_us_per_iteration", t.bound_us > 0 ? Json(t.bound_us / c.vectors) : Json()},
              {"time_over_bound", t.bound_us > 0 ? Json(t.best_us / t.bound_us) : Json()},
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
  if (!t.workers.empty()) {
    row["workers"] = Json::array();
    for (const SolverTiming::WorkerProfile& worker : t.workers)
      row["workers"].push_back({{"name", worker.name},
                                {"kind", worker.cuda ? "CUDA" : "CPU"},
                                {"tasks", worker.times.tasks},
                                {"seconds", seconds_json(worker.times)}});
    row["links"] = links_json(t.links);
  }
  return row;
}

void print_solver_header(std::string_view title, const std::string& devices, double triad) {
  fmt::print(
      "\nEven-odd {} solvers on {}; us/iter of one right-hand side; refresh = iterations to a reliable update; bandwidth = compulsory "
      "bytes of an iteration at a triad of {:.1f} GB/s\n"
      "{:>14} {:>8} {:>13} {:>5} {:>4} {:>11} {:>11} {:>7} {:>8} {:>6} | {:>6} {:>5} {:>7} {:>7} {:>7} | {:>6} {:>7} {:>8} {:>9} {:>9}\n",
      title, devices, triad, "lattice", "solver", "precision", "links", "nrhs", "us/iter", "median", "refresh", "GFLOP/s", "bandw.",
      "Dslash", "BLAS", "reduct.", "convers", "runtime", "tasks", "kernels", "us/task", "us/kernel", "QUDA H200");
}

void print_row(const Json& row) {
  const auto percent = [&](const char* part) {
    return row["share"].is_null() ? std::string("-") : fmt::format("{:.1f}%", 100 * row["share"][part].get<double>());
  };
  const auto number = [&](const char* key) {
    return row[key].is_null() ? std::string("-") : fmt::format("{:.1f}", row[key].get<double>());
  };
  const int refreshes = row["refreshes"].get<int>();
  fmt::print(
      "{:>14} {:>8} {:>13} {:>5} {:>4} {:>11.1f} {:>11.1f} {:>7} {:>8.1f} {:>5.0f}% | {:>6} {:>5} {:>7} {:>7} {:>7} | {:>6.2f} {:>7.1f} "
      "{:>8.1f} {:>9} {:>9}\n",
      fmt::format("{}", fmt::join(row["lattice"].get<std::vector<int>>(), ",")), row["solver"].get<std::string>(),
      row["precision"].get<std::string>(), row["link_reals"].get<int>(), row["nrhs"].get<int>(), row["us_per_iteration"].get<double>(),
      row["us_per_iteration_median"].get<double>(),
      refreshes > 0 ? fmt::format("{:.1f}", row["iterations"].get<double>() / refreshes) : std::string("-"), row["gflops"].get<double>(),
      100 * row["bandwidth_fraction"].get<double>(), percent("dslash"), percent("blas"), percent("reductions"), percent("conversions"),
      percent("runtime"), row["tasks_per_iteration"].get<double>(), row["kernels_per_iteration"].get<double>(),
      row["us_per_task"].get<double>(), number("runtime_us_per_kernel"), number("quda_h200_us"));
  if (!row["bound_us_per_iteration"].is_null())
    fmt::print("{:>14} lower bound {:.1f} us/iter; the best time is {:.3f} times that\n", "", row["bound_us_per_iteration"].get<double>(),
               row["time_over_bound"].get<double>());
}

/// Who owns what, where owners were timed alone.
void add_plan(Json& row, const DevicePlan& plan, bool print) {
  if (plan.parts.empty()) return;
  const double gflops = row["gflops"].get<double>();
  row["plan"] = devices_json(plan, gflops);
  if (print) fmt::print("{:>14} {}\n", "", bound_text(plan, gflops));
}

/// Where ranks are simulated: how they share the lattice, and where the time of an iteration goes. What is no batch is submission, from
/// one to the next and at both ends of the solve.
void add_ranks(Json& row, const runtime::Decomposition& cut, const SolverTiming& t) {
  if (!t.on_ranks) return;
  const runtime::backend::RankBatches& on = *t.on_ranks;
  const double of_all = t.iterations * row["nrhs"].get<double>();
  const double batches_us = on.kernels_us + on.faces_inside_us + on.faces_between_us + on.sums_us;
  row["ranks"] = {{"count", volume(cut.ranks())},
                  {"nodes", on.nodes},
                  {"grid", cut.ranks()},
                  {"part", cut.part().extents},
                  {"us_per_iteration",
                   {{"kernels", on.kernels_us / of_all},
                    {"faces_inside", on.faces_inside_us / of_all},
                    {"faces_between", on.faces_between_us / of_all},
                    {"sums", on.sums_us / of_all},
                    {"submission", row["us_per_iteration"].get<double>() - batches_us / of_all}}}};
}

int iterations_of(const BenchOptions& options, const std::string& devices) {
  return options.iterations > 0 ? options.iterations : devices == "cpu" ? 64 : 512;
}

/// The rows of one lattice.
void bench_solvers(const BenchOptions& options, const std::string& devices, runtime::Session& session, const Coord& lattice, double triad,
                   Json& rows) {
  const ActionBench bench(session, lattice, kind_named(options.action), asked_of(options).settings, options.blocks);
  for (const std::string& precision : options.precisions)
    for (const int reals : links_of(options))
      for (const std::string& solver : solvers_of(options))
        for (const int vectors : numbers_of_right_hand_sides(options)) {
          BenchCase c{parse_precision(precision), reals, vectors};
          const PlannedLattice planned = bench.plan(c);
          c.speed = speed_of(options, planned.decomposition, bench.action(), bench.settings(solver, c), vectors);
          const SolverTiming timing = bench.time_solver(solver, planned.decomposition, c, !options.no_tune, iterations_of(options, devices),
                                                        options.repetitions, options.extra);
          rows.push_back(row_of(devices, {options.action, solver, lattice, c.precision, reals, vectors}, timing, triad));
          rows.back()["vectors_in_lanes"] = c.speed.vectors_in_lanes;
          add_ranks(rows.back(), planned.decomposition, timing);
          if (!options.json) print_row(rows.back());
          add_plan(rows.back(), planned.plan, !options.json);
        }
}

}  // namespace

void run_bench_solver(const BenchOptions& options) {
  check_case(options);
  solvers_of(options);  // fails before anything is measured
  check_writable(options.extra.trace);
  Json result = {{"solver", Json::array()}};
  for_devices(options, [&](const std::string& devices, runtime::Session& session) {
    const double triad = measure_memory(options.array_megabytes, options.repetitions, session).owners_triad;
    result["machine"] = machine_facts(session);
    result["triad_gbs"][devices] = triad;
    if (!options.json) print_solver_header(kind_named(options.action).title, devices, triad);
    const std::vector<Coord> on_cpu{{16, 16, 16, 16}}, on_gpu{{16, 16, 16, 16}, {32, 32, 32, 32}, {48, 48, 48, 48}};
    const std::vector<Coord>& defaults = devices == "cpu" ? on_cpu : on_gpu;
    for (const Coord& lattice : options.lattices.empty() ? defaults : options.lattices)
      bench_solvers(options, devices, session, lattice, triad, result["solver"]);
  });
  if (options.json) fmt::print("{}\n", result.dump(2));
}

}  // namespace quarkstar::app
