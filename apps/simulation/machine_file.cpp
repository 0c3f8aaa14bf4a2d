#include "apps/simulation/machine_file.hpp"

#include "apps/run/toml_text.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

namespace quarkstar::app {
namespace {

namespace fs = std::filesystem;
using runtime::simulate::Device;
using runtime::simulate::Machine;

/// That of $QUARKSTAR_MACHINES, of the installation or bundle that this program belongs to, or else those of the sources that it was built
/// from.
std::vector<fs::path> shipped_folders() {
  if (const char* wish = std::getenv("QUARKSTAR_MACHINES"); wish != nullptr && *wish != 0) return {wish};
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share/quarkstar/machines";  // cmake/packaging.cmake, scripts/bundle
  if (fs::is_directory(installed, error)) return {installed};
  return {fs::path(QUARKSTAR_APPS_FOLDER) / "simulation/machines", fs::path(QUARKSTAR_APPS_FOLDER) / "studies/machines"};
}

/// What the names of codelets begin with, up to the first point.
constexpr std::string_view codelet_families[] = {"wilson", "staggered", "blas",  "block_cg", "transfer",
                                                 "scalar", "gauge",     "smear", "heatbath"};

/// A table, or several of one name.
bool is_tables(const toml::node& value) { return value.is_table() || value.is_array_of_tables(); }

/// One table of the file; knows which of its keys were asked for.
class Table {
 public:
  Table(const std::string& path, std::string name, const toml::table& table) : path_(path), name_(std::move(name)), table_(table) {
    if (text("source").empty()) fail("source", "is empty", "say where the numbers of this table come from");
  }

  std::string text(const char* key) {
    const toml::node& node = find(key);
    const auto value = node.value<std::string>();
    if (!node.is_string()) fail(key, "is no text", "put it in quotation marks");
    return *value;
  }
  double real(const char* key, double least, bool above = false) {
    const toml::node& node = find(key);
    const auto value = node.value<double>();
    if (!node.is_number() || !std::isfinite(*value)) fail(key, "is no number", "give a number");
    if (*value < least || (above && *value == least))
      fail(key, fmt::format("= {:g} is out of range", *value), fmt::format("give {} {:g}", above ? "more than" : "at least", least));
    return *value;
  }
  double positive(const char* key) { return real(key, 0, true); }
  int count(const char* key, int least) {
    const toml::node& node = find(key);
    const auto value = node.value<std::int64_t>();
    if (!node.is_integer() || *value < least || *value > std::numeric_limits<int>::max())
      fail(key, "is out of range", fmt::format("give a whole number, at least {}", least));
    return static_cast<int>(*value);
  }
  /// true or false; where nothing is said, false.
  bool flag(const char* key) {
    seen_.insert(key);
    const toml::node* node = table_.get(key);
    if (node != nullptr && !node->is_boolean()) fail(key, "is neither true nor false", "give one of them, or nothing for false");
    return node != nullptr && *node->value<bool>();
  }
  /// A bandwidth, GB/s.
  double triad(const char* key) {
    constexpr double most = 1e5;  // ten times that of any device so far
    const double gbs = positive(key);
    if (gbs > most) fail(key, fmt::format("= {:g} GB/s is more than any memory has", gbs), "give GB/s, not bytes or MB a second");
    return gbs;
  }
  /// A table inside this one: "codelet" = number, at most `most`. what: the numbers are, for an error.
  runtime::simulate::ByCodelet by_codelet(const char* table, const char* what, double most) {
    seen_.insert(table);
    runtime::simulate::ByCodelet all;
    const toml::node* node = table_.get(table);
    if (node == nullptr) return all;
    if (!node->is_table()) fail(table, "is no table", "write \"codelet\" = number, one per line");
    for (const auto& [key, value] : *node->as_table()) {
      const auto number = value.value<double>();
      const std::string where = fmt::format("{}:{}: {}.{}.{}", path_, key.source().begin.line, name_, table, key.str());
      if (!value.is_number() || !(*number > 0)) throw Error(ErrorKind::input, where, "is no positive number", fmt::format("give {}", what));
      if (*number > most)
        throw Error(ErrorKind::input, where, fmt::format("= {:g} is out of range", *number),
                    fmt::format("give {}, at most {:g}", what, most));
      const std::string_view family = key.str().substr(0, key.str().find('.'));
      if (std::find(std::begin(codelet_families), std::end(codelet_families), family) == std::end(codelet_families))
        throw Error(ErrorKind::input, where, "is the beginning of no codelet's name",
                    fmt::format("begin with one of {}", fmt::join(codelet_families, ", ")));
      all.entries.push_back({std::string(key.str()), *number});
    }
    return all;
  }
  /// Refuses keys that nobody asked for.
  void close() const {
    for (const auto& [key, value] : table_)
      if ((!is_tables(value) || !name_.empty()) && seen_.count(std::string(key.str())) == 0)
        throw Error(ErrorKind::input, fmt::format("{}:{}: {}", path_, key.source().begin.line, full(key.str())), "unknown key",
                    fmt::format("use {}", fmt::join(seen_, ", ")));
  }

 private:
  std::string full(std::string_view key) const { return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key); }
  [[noreturn]] void fail(const char* key, std::string_view what, std::string_view remedy) const {
    const toml::node* node = table_.get(key);
    const unsigned line = node != nullptr ? node->source().begin.line : table_.source().begin.line;
    throw Error(ErrorKind::input, fmt::format("{}:{}: {}", path_, line, full(key)), what, remedy);
  }
  const toml::node& find(const char* key) {
    seen_.insert(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) fail(key, "is missing", "add it: every number of a machine must be given");
    return *node;
  }

  const std::string& path_;
  std::string name_;
  const toml::table& table_;
  std::set<std::string> seen_;
};

Device device_in(Table& table) {
  Device device;
  device.model = table.text("model");
  device.triad_gbs = table.triad("triad_gbs");
  device.peak_single_gflops = table.positive("peak_single_gflops");
  device.peak_double_gflops = table.positive("peak_double_gflops");
  device.kernel_us = table.real("kernel_us", 0);
  device.task_us = table.positive("task_us");
  device.memory_gib = table.positive("memory_gib");
  device.efficiency = table.by_codelet("efficiency", "the part of the triad that the kernel's bytes reach", 1.5);
  device.cached_gflops = table.by_codelet("cached_gflops", "the GFLOP/s of the kernel with everything in caches", 1e6);
  return device;
}

}  // namespace

std::vector<std::string> shipped_machines() {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::path& folder : shipped_folders())
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string machine_path(const std::string& file) {
  if (fs::exists(file)) return file;
  for (const fs::path& folder : shipped_folders()) {
    const fs::path shipped = folder / (file + ".toml");
    if (file.find('/') == file.npos && fs::exists(shipped)) return shipped.string();
  }
  throw Error(ErrorKind::input, "--machine", fmt::format("there is no file '{}'", file),
              fmt::format("give the path of a machine file, or one of {}", fmt::join(shipped_machines(), ", ")));
}

Machine read_machine(const std::string& file) {
  const std::string path = machine_path(file);
  const toml::table root = parse_toml(path, "docs/howto/simulation.md");
  for (const auto& [key, value] : root)
    if (is_tables(value) && key != "cpu" && key != "gpu" && key != "peers" && key != "network" && key != "proxy" && key != "runtime")
      throw Error(ErrorKind::input, fmt::format("{}:{}: {}", path, key.source().begin.line, key.str()), "unknown table",
                  "use cpu, gpu, peers, network, proxy, runtime");
  const auto table_in = [&](const char* name) -> std::optional<Table> {
    const toml::node* node = root.get(name);
    if (node == nullptr) return std::nullopt;
    if (!node->is_table())
      throw Error(ErrorKind::input, fmt::format("{}:{}: {}", path, node->source().begin.line, name), "is no table",
                  fmt::format("write [{}]", name));
    return Table(path, name, *node->as_table());
  };
  // [gpu], or [[gpu]] for each kind.
  const auto gpu_tables = [&] {
    std::vector<Table> tables;
    const toml::node* node = root.get("gpu");
    if (const toml::array* kinds = node != nullptr ? node->as_array() : nullptr; kinds != nullptr && node->is_array_of_tables())
      for (const toml::node& kind : *kinds) tables.emplace_back(path, "gpu", *kind.as_table());
    else if (auto only = table_in("gpu")) tables.push_back(*std::move(only));
    return tables;
  };
  const auto required = [&](const char* name, const char* why) {
    auto table = table_in(name);
    if (!table) throw Error(ErrorKind::input, fmt::format("{}: {}", path, name), "the table is missing", why);
    return *std::move(table);
  };

  Machine machine;
  Table whole(path, "", root);
  machine.name = whole.text("name");
  machine.nodes = whole.count("nodes", 1);
  whole.close();

  Table cpu = required("cpu", "add [cpu]: every machine has processors");
  machine.domains = cpu.count("domains", 1);
  machine.cores = cpu.count("cores", 1);
  machine.core_triad_gbs = cpu.triad("core_triad_gbs");
  machine.busy_teams_share = cpu.flag("busy_teams_share");
  machine.cpu = device_in(cpu);
  cpu.close();

  Table runtime = required("runtime", "add [runtime]: what submission costs");
  machine.submit_us = runtime.real("submit_us", 0);
  machine.handle_us = runtime.real("handle_us", 0);
  machine.graph_us = runtime.real("graph_us", 0);
  runtime.close();

  for (Table& gpu : gpu_tables()) {
    if (machine.gpus == 0) {  // those of another kind have the same ways
      machine.host_gpu_gbs = gpu.positive("host_gbs");
      machine.host_gpu_us = gpu.real("host_us", 0);
      machine.host_gbs = gpu.positive("all_host_gbs");
    }
    machine.gpu_kinds.push_back({gpu.count("count", 1), device_in(gpu)});
    machine.gpus += machine.gpu_kinds.back().count;
    gpu.close();
  }
  if (auto peers = table_in("peers")) {
    machine.peers = true;
    machine.gpu_gpu_gbs = peers->positive("gbs");
    machine.gpu_gpu_us = peers->real("us", 0);
    machine.gpu_copy_us = peers->real("copy_us", 0);
    machine.signal_us = peers->real("signal_us", 0);
    machine.join_us = peers->real("join_us", 0);
    machine.shared_batch = peers->positive("shared_batch");
    peers->close();
  }
  auto proxy = table_in("proxy");
  if (machine.nodes > 1 || proxy) {
    Table network =
        required("network", proxy ? "add [network]: its links are what a proxy sends by" : "add [network]: the machine has several nodes");
    machine.network_gbs = network.positive("gbs");
    machine.network_us = network.real("us", 0);
    network.close();
  }
  if (proxy) {
    if (!machine.peers)
      throw Error(ErrorKind::input, fmt::format("{}: proxy", path), "without [peers]",
                  "add [peers]: what kernels of a node's GPUs take to hear of each other");
    machine.proxy = true;
    machine.node_links = proxy->count("links", 1);
    machine.flag_us = proxy->real("flag_us", 0);
    machine.message_us = proxy->real("message_us", 0);
    proxy->close();
  }
  if (machine.nodes > 1) {
    if (machine.gpus == 0)
      throw Error(ErrorKind::input, fmt::format("{}: nodes", path), "several nodes without GPUs",
                  "use one node: messages between processors are not simulated");
  }
  return machine;
}

}  // namespace quarkstar::app
