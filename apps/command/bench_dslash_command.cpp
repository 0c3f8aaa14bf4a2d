// quarkstar bench dslash: the table
#include "apps/bench/action_bench.hpp"
#include "apps/bench/bench_explain.hpp"
#include "apps/bench/bench_options.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/write_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string_view>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

/// The rows of one session, printed as they come.
class Table {
 public:
  Table(const BenchOptions& options, const std::string& devices, runtime::Session& session, const BenchMemory& memory,
        const runtime::HardwareCounters& counters)
      : options_(options), devices_(devices), session_(session), memory_(memory), triad_(memory.owners_triad), counters_(counters) {}

  void print_header() const {
    if (options_.json) return;
    fmt::print(
        "\n{} Dslash on {}, one parity, {:.0f} flop per site and right-hand side; roofline = compulsory bytes (each link and vector once) "
        "at a triad of {:.1f} GB/s\n"
        "{:>14} {:>8} {:>6} {:>5} {:>10} {:>10} {:>9} {:>10} {:>9} {:>11} {:>13}  {}\n",
        kind_named(options_.action).title, devices_, kind_named(options_.action).flops, triad_, "lattice", "format", "links", "nrhs",
        "GFLOP/s", "median", "GB/s", "roofline", "us/task", "tasks/appl.", "kernels/appl.", "bound");
  }

  void add_lattice(const Coord& lattice) {
    const ActionBench bench(session_, lattice, kind_named(options_.action), asked_of(options_).settings);
    for (const std::string& precision : options_.precisions)
      for (const int reals : links_of(options_))
        for (const int vectors : numbers_of_right_hand_sides(options_)) {
          BenchCase c{parse_precision(precision), reals, vectors};
          const PlannedLattice planned = bench.plan(c);
          c.speed = speed_of(options_, planned.decomposition, bench.action(),
                             bench.settings(solver_names(bench.action().is_hermitian()).front(), c), vectors);
          const TunedTiming tuned = bench.time(planned.decomposition, c, options_.repetitions, &counters_);
          add(lattice, precision, reals, vectors, tuned.timing, bound_text(planned.plan, tuned.timing.best_gflops));
          if (!planned.plan.parts.empty()) rows.back()["plan"] = devices_json(planned.plan, tuned.timing.best_gflops);
          rows.back()["tile"] = tuned.tile;
          rows.back()["block_threads"] = tuned.launch.block_threads;
          rows.back()["vectors_a_thread"] = tuned.launch.vectors_a_thread;
          rows.back()["vectors_in_lanes"] = c.speed.vectors_in_lanes;
          rows.back()["prefetch"] = tuned.launch.memory.prefetch;
          rows.back()["stores"] = arch::name_of(tuned.launch.memory.stores);
        }
  }

  Json rows = Json::array();

 private:
  void add(const Coord& lattice, const std::string& precision, int reals, int vectors, const DslashTiming& t, const std::string& bound) {
    const double fraction = t.best_gbs / triad_;
    rows.push_back({{"devices", devices_},
                    {"action", options_.action},
                    {"lattice", lattice},
                    {"precision", precision},
                    {"link_reals", reals},
                    {"nrhs", vectors},
                    {"lanes", t.lanes},
                    {"gflops", t.best_gflops},
                    {"gflops_median", t.median_gflops},
                    {"gbs", t.best_gbs},
                    {"roofline_fraction", fraction},
                    {"us_per_task", t.runtime_cost.us_per_task},
                    {"tasks_per_application", t.runtime_cost.tasks},
                    {"kernels_per_application", t.runtime_cost.kernels}});
    const std::string why = explain_measured(rows.back(), options_, session_, memory_, t, parse_precision(precision));
    if (options_.json) return;
    fmt::print("{:>14} {:>8} {:>6} {:>5} {:>10.2f} {:>10.2f} {:>9.2f} {:>9.0f}% {:>9.1f} {:>11.3f} {:>13.2f}  {}\n",
               fmt::format("{}", fmt::join(lattice, ",")), precision, reals, vectors, t.best_gflops, t.median_gflops, t.best_gbs,
               100 * fraction, t.runtime_cost.us_per_task, t.runtime_cost.tasks, t.runtime_cost.kernels, bound);
    fmt::print("{:>14} {}\n", "", why);
    std::fflush(stdout);
  }

  const BenchOptions& options_;
  const std::string& devices_;
  runtime::Session& session_;
  const BenchMemory& memory_;
  double triad_;
  const runtime::HardwareCounters& counters_;
};

}  // namespace

void run_bench_dslash(const BenchOptions& options) {
  check_case(options);
  Json result = {{"dslash", Json::array()}};
  const runtime::HardwareCounters counters;  // before the sessions, whose threads it counts
  const runtime::HardwareCounts at_start = counters.read();
  for_devices(options, [&](const std::string& devices, runtime::Session& session) {
    const BenchMemory memory = measure_for_rows(result, options, devices, session, counters, at_start);
    result["peak_gflops"][devices] = peak_json(memory);
    Table table(options, devices, session, memory, counters);
    table.print_header();
    const std::vector<Coord> defaults{{16, 16, 16, 16}, {24, 24, 24, 24}};
    for (const Coord& lattice : options.lattices.empty() ? defaults : options.lattices) {
      table.add_lattice(lattice);
    }
    for (const Json& row : table.rows) result["dslash"].push_back(row);
  });
  if (options.json) fmt::print("{}\n", result.dump(2));
}

}  // namespace quarkstar::app
