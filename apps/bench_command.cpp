// quarkstar bench: speed as a ratio to bandwidth measured in the same run
#include "apps/bench_dslash.hpp"
#include "apps/bench_submission.hpp"
#include "apps/commands.hpp"
#include "apps/parse.hpp"
#include "apps/report.hpp"
#include "codelets/arch/dispatch.hpp"
#include "codelets/bench/stream.hpp"
#include "runtime/mpi/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

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
  std::vector<int> links{18, 12};
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

void run_dslash(const BenchOptions& options) {
  runtime::Session session(options.session);
  const bench::StreamResult memory = stream(options, session);
  Json rows = Json::array();
  if (!options.json) {
    print_stream(memory);
    fmt::print("\nWilson Dslash, one parity, 1320 flop a site; roofline = compulsory bytes (each link and spinor once) at the best triad\n"
               "{:>14} {:>8} {:>6} {:>10} {:>10} {:>9} {:>10} {:>9}\n",
               "lattice", "format", "links", "GFLOP/s", "median", "GB/s", "roofline", "us/task");
  }
  const std::vector<Coord> defaults{{16, 16, 16, 16}, {24, 24, 24, 24}};
  for (const Coord& lattice : options.lattices.empty() ? defaults : options.lattices)
    for (const std::string& precision : options.precisions)
      for (const int reals : options.links) {
        const DslashTiming t = time_dslash(session, {lattice, parse_precision(precision), reals,
                                                     options.tile, options.block_threads, options.repetitions});
        const double fraction = t.best_gbs / memory.best_triad();
        rows.push_back({{"lattice", lattice},
                        {"precision", precision},
                        {"link_reals", reals},
                        {"gflops", t.best_gflops},
                        {"gflops_median", t.median_gflops},
                        {"gbs", t.best_gbs},
                        {"roofline_fraction", fraction},
                        {"us_per_task", t.microseconds_per_task}});
        if (!options.json)
          fmt::print("{:>14} {:>8} {:>6} {:>10.2f} {:>10.2f} {:>9.2f} {:>9.0f}% {:>9.1f}\n", fmt::format("{}", fmt::join(lattice, ",")),
                     precision, reals, t.best_gflops, t.median_gflops, t.best_gbs, 100 * fraction, t.microseconds_per_task);
      }
  if (options.json)
    fmt::print("{}\n", Json{{"machine", machine_facts(session)}, {"stream", stream_json(memory)}, {"dslash", rows}}.dump(2));
}

void run_submission(const BenchOptions& options) {
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  const runtime::Session session(options.session);
  const Coord part = options.lattices.empty() ? Coord{4, 4, 4, 4} : options.lattices.front();
  const SubmissionTiming t = time_submission(part, options.repetitions);
  const Json row{{"rank", job.rank()},      {"ranks", job.size()},          {"part", part},       {"us_per_iteration", t.microseconds},
                 {"tasks", t.tasks}, {"messages", t.messages}, {"sums", t.sums}, {"set_up_seconds", t.set_up_seconds}};
  if (options.json)
    fmt::print("{}\n", Json{{"machine", machine_facts(session)}, {"submission", row}}.dump(2));
  else
    fmt::print("rank {} of {}: {:.1f} us, {:.1f} tasks, {:.1f} messages, {:.1f} sums an iteration; set-up {:.3f} s\n", job.rank(), job.size(),
               t.microseconds, t.tasks, t.messages, t.sums, t.set_up_seconds);
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
  const auto take_lattices = [options](const std::vector<std::string>& values) {
    for (const std::string& value : values) options->lattices.push_back(coord_of_flag("--lattice", value, 2));
  };
  add("submission", "What an iteration costs one rank besides its kernels (docs/howto/cluster.md)", run_submission)
      ->add_option_function<std::vector<std::string>>("--lattice", take_lattices, "Sites of each rank (default 4,4,4,4)")
      ->type_name("X,Y,Z,T");
  CLI::App* dslash = add("dslash", "Wilson Dslash: GFLOP/s, GB/s, fraction of the roofline", run_dslash);
  dslash
      ->add_option_function<std::vector<std::string>>("--lattice", take_lattices, "Extents, one lattice or several")
      ->type_name("X,Y,Z,T");
  dslash
      ->add_option_function<std::string>(
          "--tile", [options](const std::string& value) { options->tile = coord_of_flag("--tile", value, 0); },
          "Order of sites in memory: extents of a tile of outer sites, 0: no limit")
      ->type_name("X,Y,Z,T");
  dslash->add_option("--block-threads", options->block_threads, "Threads of a GPU block (default: the kernel's own)")->check(CLI::IsMember({0, 32, 64, 96, 128, 192, 256}));
  dslash->add_option("--links", options->links, "Stored reals of a link")->check(CLI::IsMember({18, 12}));
  dslash->add_option("--precision", options->precisions, "half, single, double")->check(CLI::IsMember({"half", "single", "double"}));
}

}  // namespace quarkstar::app
