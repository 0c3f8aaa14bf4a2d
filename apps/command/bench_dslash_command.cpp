// quarkstar bench dslash: the table
#include "apps/bench/bench_dslash.hpp"
#include "apps/bench/bench_explain.hpp"
#include "apps/bench/bench_options.hpp"
#include "apps/bench/bench_staggered.hpp"
#include "apps/command/parse.hpp"
#include "apps/run/write_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string_view>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

std::string_view flop_a_site(std::string_view action) {
  if (action == "wilson") return "1320 flop a site";
  return action == "naive" ? "570 flop a site and right-hand side" : "1146 flop a site and right-hand side";
}

/// The rows of one session, printed as they come.
class Table {
 public:
  Table(const BenchOptions& options, const std::string& devices, runtime::Session& session, const BenchMemory& memory, BenchFields& fields,
        const runtime::HardwareCounters& counters)
      : options_(options),
        devices_(devices),
        session_(session),
        memory_(memory),
        triad_(memory.owners_triad),
        fields_(fields),
        counters_(counters) {}

  void print_header() const {
    if (options_.json) return;
    fmt::print(
        "\n{} Dslash on {}, one parity, {}; roofline = compulsory bytes (each link and vector once) at a triad of {:.1f} GB/s\n"
        "{:>14} {:>8} {:>6} {:>5} {:>10} {:>10} {:>9} {:>10} {:>9} {:>11} {:>13}  {}\n",
        title_of(options_.action), devices_, flop_a_site(options_.action), triad_, "lattice", "format", "links", "nrhs", "GFLOP/s",
        "median", "GB/s", "roofline", "us/task", "tasks/appl.", "kernels/appl.", "bound");
  }

  void add_wilson(const Coord& lattice) {
    for (const std::string& precision : options_.precisions)
      for (const int reals : links_of(options_)) {
        const Precision format = parse_precision(precision);
        const auto choose = [this](const wilson::TuningProblem& problem) { return tuning_of(options_, problem); };
        const PlannedLattice planned = plan_dslash(session_, lattice, format, reals, choose, options_.repetitions, fields_);
        const wilson::TuningProblem problem{planned.decomposition, format, reals};
        const wilson::HoppingTuning tuning = tuning_of(options_, problem);
        const DslashTiming timing = time_dslash(session_, problem, tuning, options_.repetitions, fields_, &counters_, options_.lanes);
        add(lattice, precision, reals, 1, timing, bound_text(planned.plan, timing.best_gflops));
        rows.back()["tile"] = tuning.tile;
        rows.back()["block_threads"] = tuning.block_threads;
        add_memory(tuning.memory);
        if (!planned.plan.parts.empty()) rows.back()["plan"] = devices_json(planned.plan, timing.best_gflops);
      }
  }

  void add_staggered(const Coord& lattice) {
    const StaggeredBench bench(session_, lattice, options_.action);
    for (const std::string& precision : options_.precisions)
      for (const int reals : links_of(options_))
        for (const int vectors : options_.nrhs) {
          const Precision format = parse_precision(precision);
          const PlannedLattice planned = bench.plan(format, reals, vectors);
          const StaggeredSpeed given = speed_of(options_, bench.settings("cg", format, reals), vectors);
          staggered::TuningProblem problem = bench.problem(planned.decomposition, format, reals, vectors);
          problem.vectors_in_lanes = given.vectors_in_lanes;
          const Coord tile = given.tile ? *given.tile : staggered::tile_for(problem, !options_.no_tune);
          const staggered::Launch launch = given.launch ? *given.launch : staggered::launch_for(problem, tile, !options_.no_tune);
          const DslashTiming timing = bench.time(problem, tile, launch, options_.repetitions, &counters_, options_.lanes);
          add(lattice, precision, reals, vectors, timing, bound_text(planned.plan, timing.best_gflops));
          if (!planned.plan.parts.empty()) rows.back()["plan"] = devices_json(planned.plan, timing.best_gflops);
          rows.back()["tile"] = tile;
          rows.back()["block_threads"] = launch.block_threads;
          rows.back()["vectors_a_thread"] = launch.vectors_a_thread;
          rows.back()["vectors_in_lanes"] = given.vectors_in_lanes;
          add_memory(launch.memory);
        }
  }

  Json rows = Json::array();

 private:
  void add_memory(const arch::MemoryAccess& memory) {
    rows.back()["prefetch"] = memory.prefetch;
    rows.back()["stores"] = arch::name_of(memory.stores);
  }

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
  BenchFields& fields_;
  const runtime::HardwareCounters& counters_;
};

}  // namespace

void run_bench_dslash(const BenchOptions& options) {
  check_case(options);
  Json result = {{"dslash", Json::array()}};
  BenchFields fields;
  const runtime::HardwareCounters counters;  // before the sessions, whose threads it counts
  const runtime::HardwareCounts at_start = counters.read();
  for_devices(options, [&](const std::string& devices, runtime::Session& session) {
    const BenchMemory memory = measure_for_rows(result, options, devices, session, counters, at_start);
    result["peak_gflops"][devices] = peak_json(memory);
    Table table(options, devices, session, memory, fields, counters);
    table.print_header();
    const std::vector<Coord> defaults{{16, 16, 16, 16}, {24, 24, 24, 24}};
    for (const Coord& lattice : options.lattices.empty() ? defaults : options.lattices) {
      if (options.action == "wilson") table.add_wilson(lattice);
      else table.add_staggered(lattice);
    }
    for (const Json& row : table.rows) result["dslash"].push_back(row);
  });
  if (options.json) fmt::print("{}\n", result.dump(2));
}

}  // namespace quarkstar::app
