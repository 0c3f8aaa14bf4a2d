// quarkstar machine: what is here and what will run where
#include "apps/commands.hpp"
#include "apps/report.hpp"
#include "codelets/arch/dispatch.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/tune/tune_cache.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

struct MachineOptions {
  runtime::SessionOptions session;
  bool json = false;
};

std::string counter_text(const runtime::EnergyReading& reading) {
  return reading.available() ? "readable" : "unavailable: " + reading.unavailable;
}

Json machine_json(const runtime::Session& session) {
  const runtime::Energy energy = runtime::EnergyMeter(gpu_bus_ids(session)).read();
  Json domains = Json::array(), workers = Json::array(), architectures = Json::array();
  for (const runtime::Domain& domain : session.topology().domains())
    domains.push_back(
        {{"numa_node", domain.numa_node}, {"memory_bytes", domain.memory_bytes}, {"cores", domain.cores}});
  for (const runtime::Worker& worker : session.workers())
    workers.push_back({{"name", worker.name},
                       {"kind", worker.kind == runtime::Worker::Kind::cpu ? "CPU" : "CUDA"},
                       {"device", worker.device},
                       {"cores", worker.team.cores()}});
  const runtime::TuneCache& tune = runtime::TuneCache::of_user();
  for (const arch::Architecture a : arch::available()) architectures.push_back(arch::name_of(a));
  return {{"cpu", session.topology().cpu_model()},
          {"domains", domains},
          {"architectures", architectures},
          {"architecture", arch::name_of(arch::current())},
          {"workers", workers},
          {"energy", {{"cpu", counter_text(energy.cpu)}, {"gpu", counter_text(energy.gpu)}}},
          {"policy", session.options().policy},
          {"policies", runtime::policy_names()},
          {"tune_cache", {{"file", tune.path()}, {"entries", tune.size()}}},
          {"versions", version_line()}};
}

void print_machine(const Json& machine) {
  fmt::print("{}\n\nCPU            {}\n", machine["versions"].get<std::string>(), machine["cpu"].get<std::string>());
  for (const Json& domain : machine["domains"])
    fmt::print("NUMA domain {}  {:.1f} GiB, cores {}\n", domain["numa_node"].get<int>(),
               domain["memory_bytes"].get<double>() / (1 << 30),
               fmt::join(domain["cores"].get<std::vector<int>>(), " "));
  fmt::print("kernels        {} (of {})\n", machine["architecture"].get<std::string>(),
             fmt::join(machine["architectures"].get<std::vector<std::string>>(), ", "));
  for (const char* part : {"cpu", "gpu"}) fmt::print("energy, {}    {}\n", part, machine["energy"][part].get<std::string>());
  fmt::print("policy         {} (of {}, and others of StarPU's)\n", machine["policy"].get<std::string>(),
             fmt::join(machine["policies"].get<std::vector<std::string>>(), ", "));
  fmt::print("tune cache     {} ({} entries)\n\nworkers\n", machine["tune_cache"]["file"].get<std::string>(),
             machine["tune_cache"]["entries"].get<std::size_t>());
  int id = 0;
  for (const Json& worker : machine["workers"]) {
    const auto cores = worker["cores"].get<std::vector<int>>();
    fmt::print("  {:>2}  {:<5} {:<10} device {}  {}\n", id++, worker["kind"].get<std::string>(),
               worker["name"].get<std::string>(), worker["device"].get<int>(),
               cores.empty() ? "" : fmt::format("{} threads on cores {}", cores.size(), fmt::join(cores, " ")));
  }
}

}  // namespace

void add_machine(CLI::App& app) {
  CLI::App* command = app.add_subcommand("machine", "Show what is here and what will run where");
  const auto options = std::make_shared<MachineOptions>();
  command->add_flag("--json", options->json, "Print JSON");
  add_session_flags(*command, options->session);
  command->callback([options] {
    const runtime::Session session(options->session);
    const Json machine = machine_json(session);
    if (options->json)
      fmt::print("{}\n", machine.dump(2));
    else
      print_machine(machine);
  });
}

}  // namespace quarkstar::app
