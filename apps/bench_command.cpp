// quarkstar bench: speed as a ratio to bandwidth measured in the same run
#include "apps/bench_dslash.hpp"
#include "apps/bench_options.hpp"
#include "apps/commands.hpp"
#include "apps/parse.hpp"
#include "apps/write_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

Json stream_json(const bench::StreamResult& s) {
  return {{"triad_gbs", s.triad}, {"triad_streaming_gbs", s.triad_streaming}, {"copy_streaming_gbs", s.copy_streaming}, {"read_gbs", s.read}};
}

void print_stream(const BenchMemory& memory) {
  const bench::StreamResult& s = memory.cpu;
  fmt::print("triad {:.1f} GB/s, with streaming stores {:.1f}; copy {:.1f}; read {:.1f}\n", s.triad, s.triad_streaming, s.copy_streaming,
             s.read);
}

/// "95.1 % of 3120.4 (GPU 8x8x8x12 3000.0 + CPU 8x8x8x4 120.4); why"
std::string bound_text(const DevicePlan& plan, double gflops) {
  const double bound = plan.bound_gflops();
  if (bound == 0) return "-";
  std::vector<std::string> parts;
  for (const DevicePart& part : plan.parts) parts.push_back(fmt::format("{} {} {:.1f}", part.name, fmt::join(part.extents, "x"), part.gflops_alone));
  return fmt::format("{:.1f} % of {:.1f} ({}); {}", 100 * gflops / bound, bound, fmt::join(parts, " + "), plan.reason);
}

void run_stream(const BenchOptions& options) {
  const runtime::Session session(options.session);
  const BenchMemory memory = measure_memory(options, session);
  if (options.json) {
    fmt::print("{}\n", Json{{"machine", machine_facts(session)}, {"stream", stream_json(memory.cpu)}, {"owners_triad_gbs", memory.owners_triad}}.dump(2));
  } else {
    print_stream(memory);
    fmt::print("triad of the workers that own blocks: {:.1f} GB/s\n", memory.owners_triad);
  }
}

/// The rows of one session.
Json dslash_rows(const BenchOptions& options, const std::string& devices, runtime::Session& session, const BenchMemory& memory) {
  if (!options.json) {
    print_stream(memory);
    fmt::print("\nWilson Dslash on {}, one parity, 1320 flop a site; roofline = compulsory bytes (each link and spinor once) at a triad of {:.1f} GB/s\n"
               "{:>14} {:>8} {:>6} {:>10} {:>10} {:>9} {:>10} {:>9} {:>11}  {}\n",
               devices, memory.owners_triad, "lattice", "format", "links", "GFLOP/s", "median", "GB/s", "roofline", "us/task", "tasks/appl.",
               "bound");
  }
  Json rows = Json::array();
  const std::vector<Coord> defaults{{16, 16, 16, 16}, {24, 24, 24, 24}};
  for (const Coord& lattice : options.lattices.empty() ? defaults : options.lattices)
    for (const std::string& precision : options.precisions)
      for (const int reals : options.links) {
        const Precision format = parse_precision(precision);
        const auto choose = [&options](const wilson::TuningProblem& problem) { return tuning_of(options, problem); };
        const PlannedLattice planned = plan_dslash(session, lattice, format, reals, choose, options.repetitions);
        const wilson::TuningProblem problem{planned.decomposition, format, reals};
        const wilson::HoppingTuning tuning = tuning_of(options, problem);
        const DslashTiming t = time_dslash(session, problem, tuning, options.repetitions);
        const double fraction = t.best_gbs / memory.owners_triad;
        rows.push_back({{"devices", devices},
                        {"lattice", lattice},
                        {"precision", precision},
                        {"link_reals", reals},
                        {"tile", tuning.tile},
                        {"block_threads", tuning.block_threads},
                        {"gflops", t.best_gflops},
                        {"gflops_median", t.median_gflops},
                        {"gbs", t.best_gbs},
                        {"roofline_fraction", fraction},
                        {"us_per_task", t.microseconds_per_task},
                        {"tasks_per_application", t.tasks_per_application}});
        if (!planned.plan.parts.empty()) rows.back()["plan"] = devices_json(planned.plan, t.best_gflops);
        if (!options.json)
          fmt::print("{:>14} {:>8} {:>6} {:>10.2f} {:>10.2f} {:>9.2f} {:>9.0f}% {:>9.1f} {:>11.2f}  {}\n",
                     fmt::format("{}", fmt::join(lattice, ",")), precision, reals, t.best_gflops, t.median_gflops, t.best_gbs,
                     100 * fraction, t.microseconds_per_task, t.tasks_per_application, bound_text(planned.plan, t.best_gflops));
      }
  return rows;
}

void run_dslash(const BenchOptions& options) {
  Json result = {{"dslash", Json::array()}};
  for_devices(options, [&](const std::string& devices, runtime::Session& session) {
    const BenchMemory memory = measure_memory(options, session);
    result["machine"] = machine_facts(session);
    result["stream"] = stream_json(memory.cpu);
    result["triad_gbs"][devices] = memory.owners_triad;
    for (const Json& row : dslash_rows(options, devices, session, memory)) result["dslash"].push_back(row);
  });
  if (options.json) fmt::print("{}\n", result.dump(2));
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Measure kernels and solvers against the memory bandwidth of the same run");
  bench->require_subcommand(1);
  const auto options = std::make_shared<BenchOptions>();
  const auto add = [&](const char* name, const char* help, void (*run)(const BenchOptions&)) {
    CLI::App* command = bench->add_subcommand(name, help);
    command->add_flag("--json", options->json, "Print JSON");
    command->add_option("--repetitions", options->repetitions, "Timed passes; the best and the median are printed")->check(CLI::Range(1, 1000));
    command->add_option("--array-mb", options->array_megabytes, "Size of each stream array in MB")->check(CLI::Range(1.0, 1e6));
    add_session_flags(*command, options->session);
    command->callback([options, run] { run(*options); });
    return command;
  };
  add("stream", "Memory bandwidth: triad, copy, read", run_stream);
  add_case_flags(*add("dslash", "Wilson Dslash: GFLOP/s, GB/s, fraction of the roofline", run_dslash), options);
  CLI::App* solver = add("solver", "Krylov solvers: microseconds an iteration, and where they go", run_bench_solver);
  add_case_flags(*solver, options);
  solver->add_option("--solver", options->solvers, "bicgstab, cgnr, cg (on the normal equations' matrix)")
      ->check(CLI::IsMember({"bicgstab", "cgnr", "cg"}));
  solver->add_option("--iterations", options->iterations, "Iterations of a timed solve, rounded up to whole batches of 16 (default: 256 on GPUs, 64 on CPUs)")->check(CLI::Range(16, 100000));
}

}  // namespace quarkstar::app
