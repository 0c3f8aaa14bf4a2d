#include "apps/bench_options.hpp"

#include "apps/commands.hpp"
#include "apps/report.hpp"
#include "codelets/arch/dispatch.hpp"
#include "codelets/bench/stream_cuda.hpp"
#include "runtime/cuda.hpp"

namespace quarkstar::app {

using Json = nlohmann::ordered_json;
using Kind = runtime::Worker::Kind;

namespace {

/// Whether the plan of a lattice may give blocks to the CPUs of a session with GPUs because the options say so.
bool cpus_may_own(const runtime::Session& session) {
  const runtime::SessionOptions& options = session.options();
  return runtime::cpu_share_is_open(options) || options.cpu_share.value_or(0) > 0;
}

}  // namespace

BenchMemory measure_memory(const BenchOptions& options, const runtime::Session& session) {
  const auto bytes = static_cast<std::size_t>(options.array_megabytes * 1e6);
  BenchMemory memory;
  bool first = true;
  for (int id = 0; id < static_cast<int>(session.workers().size()); ++id) {
    const runtime::Worker& worker = session.worker(id);
    const bool owns = id < session.block_owners() || cpus_may_own(session);
    if (worker.kind == Kind::cuda) {
      memory.owners_triad += bench::measure_triad_on_gpu(worker.device, bytes, options.repetitions);
    } else if (first || owns) {
      const bench::StreamResult result = bench::measure_stream(worker.team, bytes, options.repetitions);
      if (first) memory.cpu = result;
      if (owns) memory.owners_triad += result.best_triad();
      first = false;
    }
  }
  return memory;
}

void for_devices(const BenchOptions& options, const std::function<void(const std::string&, runtime::Session&)>& body) {
  const runtime::SessionOptions& asked = options.session;
  const auto run = [&](const runtime::SessionOptions& session_options) {
    runtime::Session session(session_options);
    body(session.gpu_count() == 0 ? "cpu" : cpus_may_own(session) ? "all" : "cuda", session);
  };
  if (asked.devices != "all") return run(asked);
  runtime::SessionOptions alone = asked;
  alone.cpu_share.reset();
  alone.devices = "cpu";
  alone.cuda_workers = 0;
  run(alone);
  if (asked.cuda_workers == 0 || runtime::gpus().empty()) return;
  alone.devices = "cuda";
  alone.cuda_workers = asked.cuda_workers;
  run(alone);
  if (asked.cpu_share.value_or(1) > 0) run(asked);
}

Json machine_facts(const runtime::Session& session) {
  Json gpus = Json::array();
  int threads = 0;
  for (const runtime::Worker& worker : session.workers()) {
    if (worker.kind == Kind::cuda) gpus.push_back(worker.name);
    else if (threads == 0) threads = worker.team.threads();
  }
  return {{"cpu", session.topology().cpu_model()},
          {"threads", threads},
          {"gpus", gpus},
          {"architecture", arch::name_of(arch::current())},
          {"versions", version_line()}};
}

wilson::HoppingTuning tuning_of(const BenchOptions& options, const wilson::TuningProblem& problem) {
  const bool given = options.tile || options.block_threads;
  wilson::HoppingTuning tuning = wilson::tuning_for(problem, !options.no_tune && !given);
  if (options.tile) tuning.tile = *options.tile;
  if (options.block_threads) tuning.block_threads = *options.block_threads;
  return tuning;
}

void add_case_flags(CLI::App& command, const std::shared_ptr<BenchOptions>& options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--lattice",
          [options](const std::vector<std::string>& values) {
            for (const std::string& value : values) options->lattices.push_back(coord_of_flag("--lattice", value, 2));
          },
          "Extents, one lattice or several")
      ->type_name("X,Y,Z,T");
  command
      .add_option_function<std::string>(
          "--tile", [options](const std::string& value) { options->tile = coord_of_flag("--tile", value, 0); },
          "Order of sites in memory: extents of a tile of outer sites, 0: no limit (default: tuned)")
      ->type_name("X,Y,Z,T");
  command.add_flag("--no-tune", options->no_tune, "Speed settings by fixed rules: read and write no tune cache, measure nothing");
  command.add_option("--block-threads", options->block_threads, "Threads of a GPU block, 0: the kernel's own choice (default: tuned)")
      ->check(CLI::IsMember({0, 32, 64, 96, 128, 192, 256}));
  command.add_option("--links", options->links, "Stored reals of a link")->check(CLI::IsMember({18, 12, 8}));
  command.add_option("--precision", options->precisions, "half, single, double")->check(CLI::IsMember({"half", "single", "double"}));
}

}  // namespace quarkstar::app
