// quarkstar machine: what is here and what will run where
#include "apps/command/commands.hpp"
#include "apps/command/machine_ranks.hpp"
#include "apps/run/report.hpp"
#include "apps/run/session_defaults.hpp"
#include "apps/run/shared_settings.hpp"
#include "codelets/actions/cpu_kernels.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/system/huge_pages.hpp"
#include "runtime/system/topology.hpp"
#include "runtime/tune/tune_cache.hpp"
#include "runtime/tune/tune_merge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

struct MachineOptions {
  runtime::SessionOptions session = session_defaults();
  bool json = false, self_test = false;
  int limit_seconds = 30;
  std::vector<std::string> merged_caches;
};

std::string counter_text(const runtime::EnergyReading& reading) {
  return reading.available() ? "readable" : "unavailable: " + reading.unavailable;
}

/// What keeps GPUs that are here from being used.
Json gpu_obstacles() {
  Json all = Json::array();
  if (const std::string driver = runtime::obstacle_to_gpus(); !driver.empty()) all.push_back(driver);
  for (const runtime::GpuDescription& gpu : runtime::gpus())
    if (!gpu.obstacle.empty()) all.push_back(gpu.obstacle);
  return all;
}

Json machine_json(const runtime::Session& session, const CpuKernels& kernels) {
  const runtime::Energy energy = runtime::EnergyMeter(gpu_bus_ids(session)).read();
  Json domains = Json::array(), workers = Json::array(), architectures = Json::array();
  for (const runtime::Domain& domain : session.topology().domains())
    domains.push_back({{"numa_node", domain.numa_node}, {"memory_bytes", domain.memory_bytes}, {"cores", domain.cores}});
  const std::vector<runtime::GpuDescription> gpus = runtime::gpus();
  for (const runtime::Worker& worker : session.workers()) {
    const bool cpu = worker.kind == runtime::Worker::Kind::cpu;
    const int node = cpu ? worker.device : runtime::numa_node_near(gpus.at(static_cast<std::size_t>(worker.device)).pci_bus_id);
    workers.push_back({{"name", worker.name},
                       {"kind", cpu ? "CPU" : "CUDA"},
                       {"device", worker.device},
                       {"numa_node", node >= 0 ? Json(node) : Json()},
                       {"cores", worker.team.cores()}});
  }
  const runtime::TuneCache& tune = runtime::TuneCache::of_user();
  for (const arch::Architecture a : arch::available()) architectures.push_back(arch::name_of(a));
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  return {{"host", job.hosts()[static_cast<std::size_t>(job.rank())]},
          {"cpu", session.topology().cpu_model()},
          {"domains", domains},
          {"architectures", architectures},
          {"architecture", arch::name_of(kernels.architecture)},
          {"lane_bytes", session.lane_bytes()},
          {"architecture_reason", kernels.reason},
          {"workers", workers},
          {"huge_pages", runtime::describe_huge_pages()},
          {"gpu_obstacles", gpu_obstacles()},
          {"energy", {{"cpu", counter_text(energy.cpu)}, {"gpu", counter_text(energy.gpu)}}},
          {"policy", session.options().policy},
          {"policies", runtime::policy_names()},
          {"tune_cache", {{"file", tune.path()}, {"entries", tune.size()}}},
          {"versions", version_line()}};
}

void print_machine(const Json& machine) {
  fmt::print("{}\n\nCPU            {}\n", machine["versions"].get<std::string>(), machine["cpu"].get<std::string>());
  for (const Json& domain : machine["domains"])
    fmt::print("NUMA domain {}  {:.1f} GiB, cores {}\n", domain["numa_node"].get<int>(), domain["memory_bytes"].get<double>() / (1 << 30),
               fmt::join(domain["cores"].get<std::vector<int>>(), " "));
  fmt::print("kernels        {} (of {}), lanes of {} bytes\n               {}\n", machine["architecture"].get<std::string>(),
             fmt::join(machine["architectures"].get<std::vector<std::string>>(), ", "), machine["lane_bytes"].get<int>(),
             machine["architecture_reason"].get<std::string>());
  for (const Json& obstacle : machine["gpu_obstacles"]) fmt::print("GPU            not used: {}\n", obstacle.get<std::string>());
  fmt::print("huge pages     {}\n", machine["huge_pages"].get<std::string>());
  for (const char* part : {"cpu", "gpu"}) fmt::print("energy, {}    {}\n", part, machine["energy"][part].get<std::string>());
  fmt::print("policy         {} (of {})\n", machine["policy"].get<std::string>(),
             fmt::join(machine["policies"].get<std::vector<std::string>>(), ", "));
  fmt::print("tune cache     {} ({} entries)\n\nworkers\n", machine["tune_cache"]["file"].get<std::string>(),
             machine["tune_cache"]["entries"].get<std::size_t>());
  int id = 0;
  for (const Json& worker : machine["workers"]) {
    const auto cores = worker["cores"].get<std::vector<int>>();
    fmt::print("  {:>2}  {:<5} {:<10} device {}  {}\n", id++, worker["kind"].get<std::string>(), worker["name"].get<std::string>(),
               worker["device"].get<int>(),
               cores.empty() ? "" : fmt::format("{} threads on cores {}", cores.size(), fmt::join(cores, " ")));
    if (worker["kind"] == "CUDA")
      fmt::print("      near NUMA domain {}\n",
                 worker["numa_node"].is_null() ? "unknown" : fmt::format("{}", worker["numa_node"].get<int>()));
  }
}

/// The given tune caches into the user's own.
void merge_tune(const MachineOptions& options) {
  const std::string& path = runtime::TuneCache::of_user().path();
  const runtime::TuneMerge merge = runtime::merge_tune_files(path, options.merged_caches);
  const runtime::TuneFile::Merged& of = merge.of_files;
  if (options.json) {
    const Json result{
        {"tune_cache", {{"file", path}, {"entries", merge.entries}, {"added", of.added}, {"faster", of.faster}, {"kept", of.kept}}}};
    fmt::print("{}\n", result.dump(2));
  } else {
    fmt::print("tune cache     {} ({} entries: {} new, {} replaced by faster ones; {} were known and no faster)\n", path, merge.entries,
               of.added, of.faster, of.kept);
  }
}

/// What all ranks must have in common: without it some would wait for what others do not do.
std::string shared_settings(const MachineOptions& options) {
  return fmt::format("--self-test {}\n--limit {}\n--json {}\n--merge-tune {}\n--policy {}\n", options.self_test, options.limit_seconds,
                     options.json, fmt::join(options.merged_caches, " "), options.session.policy);
}

void run_machine(const MachineOptions& options) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  require_same_settings_everywhere(shared_settings(options));
  if (!options.merged_caches.empty()) {
    job.on_root([&] { merge_tune(options); });
    return;
  }
  runtime::SessionOptions session_options = options.session;
  if (options.self_test && job.is_distributed()) {
    constexpr int for_start = 60;  // a session measures buses first
    session_options.watchdog_seconds = std::max(for_start, options.limit_seconds);
    call_roll(options.limit_seconds);
  }
  const CpuKernels kernels = choose_cpu_kernels(session_options, KernelTuning::known);
  session_options.lane_bytes = kernels.lane_bytes;
  const runtime::Session session(session_options);
  Json machine = machine_json(session, kernels);
  Json ranks = Json::array();
  for (const std::string& text : job.gather_text(machine.dump())) ranks.push_back(Json::parse(text));
  const bool print = job.is_root() && !options.json;
  if (print) print_machine(machine);
  if (job.is_distributed()) {
    if (print) print_ranks(ranks);
    machine["ranks"] = std::move(ranks);
  }
  if (options.self_test) machine["self_test"] = self_test(options.limit_seconds, print);
  if (job.is_root() && options.json) fmt::print("{}\n", machine.dump(2));
}

}  // namespace

void add_machine(CLI::App& app) {
  CLI::App* command = app.add_subcommand("machine", "Show what is here and what will run where");
  const auto options = std::make_shared<MachineOptions>();
  command->add_flag("--json", options->json, "Print JSON");
  add_session_flags(*command, options->session);
  command->add_option("--merge-tune", options->merged_caches, "Take the entries of these tune caches into the own one, and end")
      ->type_name("FILE...");
  command->add_flag("--share-gpus", options->session.share_gpus, "Let several ranks use one GPU");
  command->add_flag("--self-test", options->self_test, "Under mpirun: test the messages between all ranks");
  command->add_option("--limit", options->limit_seconds, "Seconds after which a rank that does not answer is named (default 30)")
      ->check(at_least(1));
  command->callback([options] { run_machine(*options); });
}

}  // namespace quarkstar::app
