#include "apps/lab/run.hpp"

#include "apps/command/child_process.hpp"
#include "apps/command/interrupt.hpp"
#include "apps/command/own_executable.hpp"
#include "apps/command/progress.hpp"
#include "apps/lab/inputs.hpp"
#include "apps/run/outputs.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/report.hpp"
#include "runtime/system/error.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

namespace quarkstar::app::lab {
namespace {

constexpr std::string_view device_keys[] = {"devices", "cpu-share", "gpus", "workers", "threads", "worker-mode", "machine"};

/// A setting as flags.
void add_flag(std::vector<std::string>& arguments, const std::string& key, const std::string& value) {
  const Setting* field = find_setting(key);
  if (field != nullptr && field->metavar.empty()) {
    if (parse_switch(value)) arguments.push_back("--" + key);
    return;
  }
  arguments.insert(arguments.end(), {"--" + key, value});
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

/// Removed with whatever it holds by then.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {
    std::error_code error;
    std::filesystem::create_directories(path_, error);
    if (error) throw Error(ErrorKind::environment, path_, error.message(), "check permissions and space of its folder");
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  Json parse(const std::string& name) const {
    std::ifstream stream(file(name));
    return Json::parse(stream);
  }

 private:
  std::string path_;
};

/// Of `source`, joined by +.
std::ptrdiff_t source_count(const Settings& settings) {
  const std::string* source = find(settings, "source");
  return source == nullptr ? 1 : 1 + std::count(source->begin(), source->end(), '+');
}

/// What `solve --json run.json` left in the folder: one file, or one for each source.
Results results_in(const TemporaryFolder& folder, const Settings& settings, double wall_seconds) {
  const std::ptrdiff_t sources = source_count(settings);
  if (sources == 1) return results_of_solve(folder.parse("run.json"));
  std::vector<Json> parts;
  for (std::ptrdiff_t i = 0; i < sources; ++i) parts.push_back(folder.parse(fmt::format("run.source{}.json", i)));
  return results_of_sources(std::move(parts), wall_seconds);
}

/// Of what is done before the runs.
constexpr double preparation_limit_seconds = 3600;

void stop_if_interrupted(const Plan& plan) {
  if (interrupted()) throw Interrupted{plan.out, "the runs that have ended are"};
}

ChildResult run_watched(const Plan& plan, const std::vector<std::string>& arguments, double limit_seconds = preparation_limit_seconds) {
  ChildResult result = run_child(arguments, limit_seconds, interrupted);
  stop_if_interrupted(plan);
  return result;
}

/// The configuration of a cell: the plan's own, or one that is made for its lattice and kept; empty where none is read.
std::string configuration_of(const Plan& plan, const Cell& cell) {
  if (plan.workload == Workload::bench_solver) return "";
  if (!plan.gauge.empty()) return plan.gauge;
  const std::string lattice = *find(cell.settings, "lattice");
  std::string name = lattice;
  std::replace(name.begin(), name.end(), ',', 'x');
  const std::string path = fmt::format("{}/lattice-{}-beta{}-sweeps{}.ildg", plan.out, name, plan.beta, plan.sweeps);
  if (std::filesystem::exists(path)) return path;
  fmt::print("making {}\n", path);
  std::fflush(stdout);
  const ChildResult made =
      run_watched(plan, {own_executable, "gauge", "generate", path, "--lattice", lattice, "--beta", fmt::format("{}", plan.beta),
                         "--sweeps", fmt::format("{}", plan.sweeps), "--seed", "1", "--format", "ildg", "--gpus", "0"});
  if (!made.ok())
    throw Error(ErrorKind::input, fmt::format("lattice {}", lattice), made.failure(), "give another lattice, or --gauge FILE");
  return path;
}

Bandwidth measure_bandwidth(const Plan& plan, const Settings& devices) {
  Bandwidth bandwidth{devices, {}, "", bandwidth_inputs_of(plan), version_line()};
  if (is_simulated(devices)) {
    bandwidth.unavailable = "simulated";
    return bandwidth;
  }
  std::vector<std::string> arguments{own_executable, "bench", "stream", "--json", "--array-mb", fmt::format("{}", plan.array_megabytes)};
  for (const auto& [key, value] : devices)
    if (key != "machine") add_flag(arguments, key, value);
  const ChildResult child = run_watched(plan, arguments);
  try {
    if (child.ok()) bandwidth.triad = Json::parse(child.out).at("owners_triad_gbs").get<double>();
    else bandwidth.unavailable = child.failure();
  } catch (const Json::exception& error) {
    bandwidth.unavailable = error.what();
  }
  return bandwidth;
}

/// Runs a cell once.
Record run_once(const Plan& plan, const Cell& cell, const PlannedRun& planned, int number, const std::string& gauge) {
  Record record;
  record.kind = planned.kind;
  record.settings = cell.settings;
  record.varying = cell.varying;
  record.inputs = cell.inputs;
  record.repetition = planned.repetition;
  record.number = number;
  record.started = utc_now();
  record.built_with = cell.program;
  const TemporaryFolder folder(fmt::format("{}/.run{}.tmp", plan.out, number));
  if (planned.kind == RunKind::traced) record.trace = fmt::format("trace{}.json", number);
  const std::string trace = record.trace.empty() ? "" : plan.out + "/" + record.trace;
  const ChildResult child =
      run_watched(plan, command_of(plan, cell, planned.kind, gauge, folder.file("run.json"), trace), plan.limit_seconds);
  record.wall_seconds = child.seconds;
  if (!child.ok()) {
    record.status = child.timed_out ? RunStatus::time_limit : RunStatus::failed;
    record.message = child.failure();
    return record;
  }
  try {
    record.results =
        plan.workload == Workload::solve ? results_in(folder, cell.settings, child.seconds) : results_of_bench(Json::parse(child.out));
  } catch (const Json::exception& error) {
    record.status = RunStatus::failed;
    record.message = fmt::format("its results cannot be read: {}", error.what());
  }
  return record;
}

std::string detail_of(const Record& record) {
  if (!record.ok()) return fmt::format("{}: {}: {}", record.name(), name_of(record.status), record.message);
  return record.results.seconds ? fmt::format("{}: {:.4g} s", record.name(), *record.results.seconds) : record.name();
}

/// The last record of each planned run.
std::vector<Record> records_of(const Journal& journal, const std::vector<Cell>& cells, const std::vector<PlannedRun>& runs) {
  std::vector<Record> records;
  for (const PlannedRun& run : runs) {
    const auto found =
        std::find_if(journal.records().rbegin(), journal.records().rend(), [&](const Record& r) { return r.is(cells[run.cell], run); });
    if (found != journal.records().rend()) records.push_back(*found);
  }
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.number < b.number; });
  return records;
}

/// The version line of quarkstar-sim.
std::string simulator_version(const Plan& plan) {
  const ChildResult asked = run_watched(plan, {simulator(), "--version"});
  if (!asked.ok()) throw Error(ErrorKind::environment, simulator(), asked.failure(), "build it anew with ./bootstrap simulation");
  return asked.out.substr(0, asked.out.find('\n'));
}

/// Makes the configurations that are missing and tells each cell its inputs and its program. Returns the cells' configurations; `hashes`
/// gets those of their contents.
std::vector<std::string> prepare(const Plan& plan, std::vector<Cell>& cells, std::map<std::string, std::string>& hashes) {
  std::vector<std::string> configurations;
  std::string simulation;
  for (Cell& cell : cells) {
    const std::string& gauge = configurations.emplace_back(configuration_of(plan, cell));
    if (!gauge.empty() && !hashes.contains(gauge)) hashes[gauge] = hash_of_file(gauge);
    cell.inputs = inputs_of(plan, cell.settings, gauge, gauge.empty() ? "" : hashes.at(gauge));
    if (is_simulated(cell.settings) && simulation.empty()) simulation = simulator_version(plan);
    cell.program = is_simulated(cell.settings) ? simulation : version_line();
  }
  return configurations;
}

std::uint64_t seed_of(const Plan& plan, Journal& journal) {
  const std::uint64_t seed = plan.seed ? *plan.seed : journal.seed() ? *journal.seed() : std::random_device()() % 1000000000;
  if (journal.seed() != seed) journal.append_seed(seed);
  return seed;
}

}  // namespace

std::string simulator() {
  if (const char* named = std::getenv("QUARKSTAR_SIM")) return named;
  const std::string built = neighbour_of_executable("../simulation/quarkstar-sim");  // where ./bootstrap simulation builds it
  return std::filesystem::exists(built) ? built : neighbour_of_executable("quarkstar-sim");
}

void require_simulator() {
  if (!std::filesystem::exists(simulator()))
    throw Error(ErrorKind::environment, simulator(), "is not there", "build it with ./bootstrap simulation, or name it by $QUARKSTAR_SIM");
}

Settings devices_of(const Settings& settings) {
  Settings devices;
  for (const auto& [key, value] : settings)
    if (std::find(std::begin(device_keys), std::end(device_keys), key) != std::end(device_keys)) devices.emplace_back(key, value);
  std::sort(devices.begin(), devices.end());
  return devices;
}

std::vector<std::string> command_of(const Plan& plan, const Cell& cell, RunKind kind, const std::string& gauge, const std::string& json,
                                    const std::string& trace) {
  const bool solve = plan.workload == Workload::solve;
  std::vector<std::string> arguments{is_simulated(cell.settings) ? simulator() : own_executable};
  if (solve) arguments.insert(arguments.end(), {"solve", "--gauge", gauge, "--json", json, "--residual-history"});
  else
    arguments.insert(arguments.end(),
                     {"bench", "solver", "--json", "--repetitions", "1", "--array-mb", "1", "--profile"});  // its own triad is not used
  const bool together = std::any_of(cell.settings.begin(), cell.settings.end(),
                                    [](const auto& setting) { return setting.first == "in-flight" && setting.second != "1"; });
  // The bounds are of one solve. Recording its tasks costs a solve time; a bench does it in one more, which is not timed.
  if (!together && (!solve || kind != RunKind::measured)) arguments.push_back("--bound");
  if (solve && source_count(cell.settings) > 1)  // so that there is something to contract and to write while others are solved for
    arguments.insert(arguments.end(), {"--out", (std::filesystem::path(json).parent_path() / "out").string(), "--propagators", "hdf5"});
  if (!trace.empty()) arguments.insert(arguments.end(), {"--trace", trace});
  for (const auto& [key, value] : cell.settings) {
    if (key == "lattice" && solve) continue;  // it is that of the configuration
    if (key == "machine" && !is_simulated(cell.settings)) continue;
    add_flag(arguments, key, value);
  }
  return arguments;
}

Outcome run(const Plan& plan) {
  check(plan);
  catch_interrupts();
  Outcome outcome;
  outcome.cells = cells_of(plan, outcome.left_out);
  if (std::any_of(outcome.cells.begin(), outcome.cells.end(), [](const Cell& cell) { return is_simulated(cell.settings); }))
    require_simulator();
  std::map<std::string, std::string> hashes;                               // of configurations
  if (!plan.gauge.empty()) hashes[plan.gauge] = hash_of_file(plan.gauge);  // where it is missing, nothing is begun
  const OutputFolder folder(plan.out);
  Journal journal(plan.out + "/runs.jsonl");
  outcome.seed = seed_of(plan, journal);
  const std::vector<std::string> configurations = prepare(plan, outcome.cells, hashes);
  const std::vector<PlannedRun> runs = runs_of(plan, outcome.cells, outcome.seed);
  std::vector<PlannedRun> missing;
  for (const PlannedRun& planned : runs)
    if (journal.find_done(outcome.cells[planned.cell], planned) == nullptr) missing.push_back(planned);
  fmt::print("{} cells, {} measured runs and {} warm-up runs each{}; order from --seed {}{}\n", outcome.cells.size(), plan.repetitions,
             plan.warm_up, plan.trace ? ", one traced" : "", outcome.seed,
             missing.size() < runs.size()
                 ? fmt::format("; {} of {} runs are in {}/runs.jsonl already", runs.size() - missing.size(), runs.size(), plan.out)
                 : "");
  for (const std::string& combination : outcome.left_out) fmt::print("left out: {}\n", combination);
  std::fflush(stdout);

  if (plan.bandwidth)
    for (const Cell& cell : outcome.cells)
      if (const Settings devices = devices_of(cell.settings);
          std::none_of(outcome.bandwidths.begin(), outcome.bandwidths.end(), [&](const Bandwidth& b) { return b.devices == devices; })) {
        const Bandwidth* known = journal.find_bandwidth(devices, bandwidth_inputs_of(plan), version_line());
        outcome.bandwidths.push_back(known != nullptr ? *known : measure_bandwidth(plan, devices));
        if (known == nullptr) journal.append(outcome.bandwidths.back());
      }
  ProgressBar bar("run", static_cast<int>(missing.size()));
  int number = journal.last_number(), done = 0;
  for (const PlannedRun& planned : missing) {
    stop_if_interrupted(plan);
    Record record = run_once(plan, outcome.cells[planned.cell], planned, ++number, configurations[planned.cell]);
    const std::string detail = detail_of(record);
    journal.append(std::move(record));
    bar.step_done(++done, detail);
  }
  outcome.records = records_of(journal, outcome.cells, runs);
  return outcome;
}

}  // namespace quarkstar::app::lab
