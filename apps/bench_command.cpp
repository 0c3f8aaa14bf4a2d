// quarkstar bench: speed as a ratio to bandwidth measured in the same run
#include "apps/bench_dslash.hpp"
#include "apps/commands.hpp"
#include "apps/parse.hpp"
#include "apps/report.hpp"
#include "codelets/arch/dispatch.hpp"
#include "codelets/bench/stream.hpp"
#include "runtime/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

struct BenchOptions {
  runtime::SessionOptions session;
  bool json = false;
  int repetitions = 5;
  double array_megabytes = 256;
  std::vector<Coord> lattices;  ///< none: 16^4 and 24^4
  std::vector<int> links;  ///< none: 18 and 12, staggered 18
  std::string action = "wilson";
  std::vector<int> nrhs{1, 2, 4, 8, 16};
  Coord tile{};
  int block_threads = 0;
  std::vector<std::string> precisions{"half", "single", "double"};
};

bench::StreamResult stream(const BenchOptions& options, const runtime::Session& session) {
  for (const runtime::Worker& worker : session.workers())
    if (worker.kind == runtime::Worker::Kind::cpu)
      return bench::measure_stream(worker.team, static_cast<std::size_t>(options.array_megabytes * 1e6), options.repetitions);
  return {};
}

Json machine_facts(const runtime::Session& session) {
  return {{"cpu", session.topology().cpu_model()},
          {"threads", session.worker(0).team.threads()},
          {"architecture", arch::name_of(arch::current())},
          {"versions", version_line()}};
}

Json stream_json(const bench::StreamResult& s) {
  return {{"triad_gbs", s.triad}, {"triad_streaming_gbs", s.triad_streaming}, {"copy_streaming_gbs", s.copy_streaming}, {"read_gbs", s.read}};
}

void print_stream(const bench::StreamResult& s) {
  fmt::print("triad {:.1f} GB/s, with streaming stores {:.1f}; copy {:.1f}; read {:.1f}\n", s.triad, s.triad_streaming, s.copy_streaming,
             s.read);
}

void run_stream(const BenchOptions& options) {
  const runtime::Session session(options.session);
  const bench::StreamResult result = stream(options, session);
  if (options.json)
    fmt::print("{}\n", Json{{"machine", machine_facts(session)}, {"stream", stream_json(result)}}.dump(2));
  else
    print_stream(result);
}

/// The links that an action's Dslash knows.
void check_links(const BenchOptions& options) {
  const std::vector<int> known = options.action == "wilson" ? std::vector<int>{18, 12} : std::vector<int>{18, 14, 13, 9};
  for (const int reals : options.links)
    if (std::find(known.begin(), known.end(), reals) == known.end())
      throw Error(ErrorKind::input, "--links", fmt::format("{} reals are not for the action {}", reals, options.action),
                  fmt::format("use {}", fmt::join(known, ", ")));
}

/// One line of the table, and of the JSON.
struct DslashRow {
  Coord lattice;
  std::string precision;
  int reals, vectors;
  DslashTiming timing;
};

void run_dslash(const BenchOptions& options) {
  check_links(options);
  runtime::Session session(options.session);
  const bench::StreamResult memory = stream(options, session);
  const bool wilson = options.action == "wilson";
  Json rows = Json::array();
  if (!options.json) {
    print_stream(memory);
    fmt::print("\n{} Dslash, one parity, {} flop a site{}; roofline = compulsory bytes (each link and vector once) at the best triad\n"
               "{:>14} {:>8} {:>6} {:>5} {:>10} {:>10} {:>9} {:>10} {:>9}\n",
               options.action, wilson ? 1320 : options.action == "naive" ? 570 : 1146, wilson ? "" : " and right-hand side", "lattice", "format",
               "links", "nrhs", "GFLOP/s", "median", "GB/s", "roofline", "us/task");
  }
  const auto report = [&](const DslashRow& row) {
    const DslashTiming& t = row.timing;
    const double fraction = t.best_gbs / memory.best_triad();
    rows.push_back({{"action", options.action},
                    {"lattice", row.lattice},
                    {"precision", row.precision},
                    {"link_reals", row.reals},
                    {"nrhs", row.vectors},
                    {"gflops", t.best_gflops},
                    {"gflops_median", t.median_gflops},
                    {"gbs", t.best_gbs},
                    {"roofline_fraction", fraction},
                    {"us_per_task", t.microseconds_per_task}});
    if (options.json) return;
    fmt::print("{:>14} {:>8} {:>6} {:>5} {:>10.2f} {:>10.2f} {:>9.2f} {:>9.0f}% {:>9.1f}\n", fmt::format("{}", fmt::join(row.lattice, ",")),
               row.precision, row.reals, row.vectors, t.best_gflops, t.median_gflops, t.best_gbs, 100 * fraction, t.microseconds_per_task);
    std::fflush(stdout);
  };
  const std::vector<Coord> defaults{{16, 16, 16, 16}, {24, 24, 24, 24}};
  const std::vector<int> links = !options.links.empty() ? options.links : wilson ? std::vector<int>{18, 12} : std::vector<int>{18};
  for (const Coord& lattice : options.lattices.empty() ? defaults : options.lattices) {
    const auto staggered = wilson ? nullptr : std::make_unique<StaggeredBench>(session, lattice, options.action);
    for (const std::string& precision : options.precisions)
      for (const int reals : links) {
        if (wilson) {
          report({lattice, precision, reals, 1,
                  time_dslash(session, {lattice, parse_precision(precision), reals, options.tile, options.block_threads, options.repetitions})});
          continue;
        }
        for (const int vectors : options.nrhs)
          report({lattice, precision, reals, vectors, staggered->time(parse_precision(precision), reals, vectors, options.repetitions)});
      }
  }
  if (options.json)
    fmt::print("{}\n", Json{{"machine", machine_facts(session)}, {"stream", stream_json(memory)}, {"dslash", rows}}.dump(2));
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Measure kernels against the memory bandwidth of the same run");
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
  CLI::App* dslash = add("dslash", "Wilson or staggered Dslash: GFLOP/s, GB/s, fraction of the roofline", run_dslash);
  dslash
      ->add_option_function<std::vector<std::string>>(
          "--lattice",
          [options](const std::vector<std::string>& values) {
            for (const std::string& value : values) options->lattices.push_back(coord_of_flag("--lattice", value, 2));
          },
          "Extents, one lattice or several")
      ->type_name("X,Y,Z,T");
  dslash
      ->add_option_function<std::string>(
          "--tile", [options](const std::string& value) { options->tile = coord_of_flag("--tile", value, 0); },
          "Order of sites in memory: extents of a tile of outer sites, 0: no limit")
      ->type_name("X,Y,Z,T");
  dslash->add_option("--block-threads", options->block_threads, "Threads of a GPU block (default: the kernel's own)")->check(CLI::IsMember({0, 32, 64, 96, 128, 192, 256}));
  dslash->add_option("--links", options->links, "Stored reals of a link (default 18 and 12; of a staggered long link 18)")->check(CLI::IsMember({18, 14, 13, 12, 9}));
  dslash->add_option("--action", options->action, "wilson (default), hisq, asqtad or naive")->check(CLI::IsMember({"wilson", "hisq", "asqtad", "naive"}));
  dslash->add_option("--nrhs", options->nrhs, "Staggered: right-hand sides in one application (default 1 2 4 8 16)")->check(CLI::Range(1, 32));
  dslash->add_option("--precision", options->precisions, "half, single, double")->check(CLI::IsMember({"half", "single", "double"}));
}

}  // namespace quarkstar::app
