#include "apps/lab/record.hpp"

#include "apps/lab/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

namespace quarkstar::app::lab {
namespace {

std::optional<double> number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

std::string text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Sums over right-hand sides: absent as soon as one is.
class Sum {
 public:
  void add(std::optional<double> value) {
    if (value) total_ += *value;
    else complete_ = false;
    any_ = true;
  }
  std::optional<double> value() const { return any_ && complete_ ? std::optional(total_) : std::nullopt; }

 private:
  double total_ = 0;
  bool complete_ = true, any_ = false;
};

std::optional<double> product(std::optional<double> a, std::optional<double> b) { return a && b ? std::optional(*a * *b) : std::nullopt; }

History history_of(const Json& solve, const Json& residuals) {
  std::vector<double> values;
  for (const Json& residual : residuals) values.push_back(std::strtod(residual.get<std::string>().c_str(), nullptr));
  return {solve.at("column").get<int>(), number(solve, "mass"), static_cast<std::int64_t>(values.size()), hash_of(values)};
}

/// "seconds over the largest of its bounds", as `solve --bound` writes it: the bound and its name.
std::optional<double> bound_of(const Json& solve, std::string& name) {
  const auto bound = solve.find("bound");
  if (bound == solve.end() || !bound->is_object()) return std::nullopt;
  constexpr std::pair<const char*, const char*> bounds[] = {{"bandwidth_seconds", "bandwidth"},
                                                            {"critical_path_seconds", "critical path"},
                                                            {"assignment_seconds", "assignment of tasks to workers"},
                                                            {"owners_seconds", "tasks at their owners"}};
  double largest = 0;
  for (const auto& [key, text] : bounds)
    if (const auto seconds = number(*bound, key); seconds && *seconds > largest) largest = *seconds, name = text;
  // Right-hand sides solved together share one bound, as their seconds are a share of one time.
  const auto seconds = number(solve, "seconds"), over = number(*bound, "time_over_bound");
  return seconds && over && *over > 0 ? std::optional(*seconds / *over) : std::nullopt;
}

/// Processor and GPUs.
std::string machine_text(const Json& machine) {
  std::vector<std::string> parts{text(machine, "cpu")};
  for (const Json& gpu : machine.value("gpus", Json::array())) parts.push_back(gpu.get<std::string>());
  for (const Json& worker : machine.value("workers", Json::array()))
    if (text(worker, "kind") == "CUDA") parts.push_back(text(worker, "name"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Seconds of the workers and bytes between memories.
void take_machine(const Json& machine, Results& r) {
  for (const Json& worker : machine.value("workers", Json::array())) {
    const Json seconds = worker.value("seconds", Json::object());
    r.workers.push_back({text(worker, "name"), text(worker, "kind"), number(seconds, "busy"), number(seconds, "idle"),
                         number(seconds, "overhead"), number(seconds, "transfer"), number(seconds, "total")});
  }
  for (const Json& link : machine.value("links", Json::array()))
    r.links.push_back({text(link, "from"), text(link, "to"), number(link, "bytes").value_or(0)});
}

/// Of all workers together, as far as they are told.
double worker_seconds(const Json& solve) {
  double total = 0;
  for (const Json& worker : solve.value("machine", Json::object()).value("workers", Json::array()))
    total += number(worker.value("seconds", Json::object()), "total").value_or(0);
  return total;
}

Json optional_json(std::optional<double> value) { return value ? Json(*value) : Json(); }

constexpr RunStatus all_statuses[] = {RunStatus::ok, RunStatus::failed, RunStatus::time_limit};
constexpr RunKind all_kinds[] = {RunKind::warm_up, RunKind::measured, RunKind::traced};

template <class Enum, std::size_t n>
Enum named(const Enum (&all)[n], const std::string& name) {
  for (const Enum value : all)
    if (name_of(value) == name) return value;
  throw Json::other_error::create(501, "unknown name " + name, nullptr);
}

Json results_json(const Results& r) {
  Json workers = Json::array(), links = Json::array(), histories = Json::array();
  for (const WorkerTimes& w : r.workers)
    workers.push_back({{"name", w.name},
                       {"kind", w.kind},
                       {"busy_seconds", optional_json(w.busy)},
                       {"idle_seconds", optional_json(w.idle)},
                       {"overhead_seconds", optional_json(w.overhead)},
                       {"transfer_seconds", optional_json(w.transfer)},
                       {"total_seconds", optional_json(w.total)}});
  for (const LinkBytes& l : r.links) links.push_back({{"from", l.from}, {"to", l.to}, {"bytes", l.bytes}});
  for (const History& h : r.histories)
    histories.push_back({{"column", h.column}, {"mass", optional_json(h.mass)}, {"residuals", h.length}, {"bits", h.bits}});
  return {{"seconds", optional_json(r.seconds)},
          {"setup_seconds", optional_json(r.setup_seconds)},
          {"bound_seconds", optional_json(r.bound_seconds)},
          {"bound", r.bound},
          {"seconds_over_bound", optional_json(r.over_bound())},
          {"iterations", optional_json(r.iterations)},
          {"flops", optional_json(r.flops)},
          {"bytes", optional_json(r.bytes)},
          {"gflops", optional_json(r.gflops())},
          {"gbs", optional_json(r.gbs())},
          {"tasks", optional_json(r.tasks)},
          {"us_per_task", optional_json(r.us_per_task)},
          {"joules", optional_json(r.joules)},
          {"no_joules", r.no_joules},
          {"machine", r.machine},
          {"joule_seconds", optional_json(r.energy_delay())},
          {"workers", workers},
          {"links", links},
          {"histories", histories}};
}

Results results_of(const Json& json) {
  Results r;
  r.seconds = number(json, "seconds");
  r.setup_seconds = number(json, "setup_seconds");
  r.bound_seconds = number(json, "bound_seconds");
  r.bound = text(json, "bound");
  r.iterations = number(json, "iterations");
  r.flops = number(json, "flops");
  r.bytes = number(json, "bytes");
  r.tasks = number(json, "tasks");
  r.us_per_task = number(json, "us_per_task");
  r.joules = number(json, "joules");
  r.no_joules = text(json, "no_joules");
  r.machine = text(json, "machine");
  for (const Json& w : json.at("workers"))
    r.workers.push_back({text(w, "name"), text(w, "kind"), number(w, "busy_seconds"), number(w, "idle_seconds"),
                         number(w, "overhead_seconds"), number(w, "transfer_seconds"), number(w, "total_seconds")});
  for (const Json& l : json.at("links")) r.links.push_back({text(l, "from"), text(l, "to"), l.at("bytes").get<double>()});
  for (const Json& h : json.at("histories"))
    r.histories.push_back({h.at("column").get<int>(), number(h, "mass"), h.at("residuals").get<std::int64_t>(), text(h, "bits")});
  return r;
}

}  // namespace

Json settings_json(const Settings& settings) {
  Json json = Json::object();
  for (const auto& [key, value] : settings) json[key] = value;
  return json;
}

Settings settings_of(const Json& json) {
  Settings settings;
  for (const auto& [key, value] : json.items()) settings.emplace_back(key, value.get<std::string>());
  return settings;
}

std::string_view name_of(RunStatus status) {
  return status == RunStatus::ok ? "ok" : status == RunStatus::failed ? "failed" : "time limit";
}

std::string Record::name() const {
  const std::string which = kind == RunKind::measured ? fmt::format("repetition {}", repetition) : std::string(name_of(kind));
  return fmt::format("run {} ({}, {})", number, text_of(varying), which);
}

bool Record::is(const Cell& cell, const PlannedRun& run) const {
  return kind == run.kind && repetition == run.repetition && settings == cell.settings && inputs == cell.inputs &&
         built_with == cell.program;
}

std::string hash_of(const std::vector<double>& values) {
  Fnv1a hash;
  for (const double value : values) {
    auto bits = std::bit_cast<std::uint64_t>(value);
    std::array<char, 8> bytes;
    for (char& byte : bytes) byte = static_cast<char>(bits & 0xff), bits >>= 8;
    hash.add({bytes.data(), bytes.size()});
  }
  return hash.text();
}

Results results_of_solve(const Json& json) {
  Results r;
  Sum seconds, iterations, flops, bytes, tasks, outside_us, joules, bound;
  for (const Json& solve : json.at("solves")) {
    const auto time = number(solve, "seconds"), count = number(solve, "tasks");
    const auto giga = [&](const char* key) { return product(product(number(solve, key), time), 1e9); };
    seconds.add(time);
    iterations.add(number(solve, "iterations"));
    flops.add(giga("gflops"));
    bytes.add(giga("gbs"));
    tasks.add(count);
    outside_us.add(product(number(solve, "idle_us_per_task"), count));
    bound.add(bound_of(solve, r.bound));
    const Json total = solve.value("energy", Json::object()).value("total", Json::object());
    joules.add(number(total, "joules"));
    if (r.no_joules.empty()) r.no_joules = text(total, "unavailable");
    if (const auto residuals = solve.find("residual_history"); residuals != solve.end())
      r.histories.push_back(history_of(solve, *residuals));
  }
  r.seconds = seconds.value();
  r.setup_seconds = number(json, "setup_seconds");
  r.iterations = iterations.value();
  r.flops = flops.value();
  r.bytes = bytes.value();
  r.tasks = tasks.value();
  if (outside_us.value() && r.tasks.value_or(0) > 0) r.us_per_task = *outside_us.value() / *r.tasks;
  r.joules = joules.value();
  r.bound_seconds = bound.value();
  r.machine = machine_text(json.value("machine", Json::object()));
  take_machine(json.value("machine", Json::object()), r);
  return r;
}

Results results_of_sources(std::vector<Json> parts, double wall_seconds) {
  // What the source that was concluded last tells of the workers is that of all.
  const auto less = [](const Json& a, const Json& b) { return worker_seconds(a) < worker_seconds(b); };
  const Json machine = std::max_element(parts.begin(), parts.end(), less)->value("machine", Json::object());
  Json& all = parts.at(0);
  all["machine"] = machine;
  for (std::size_t i = 1; i < parts.size(); ++i)
    for (const Json& solve : parts[i].at("solves")) all.at("solves").push_back(solve);
  Results r = results_of_solve(all);
  r.seconds = wall_seconds;
  r.bound_seconds.reset();
  return r;
}

Results results_of_bench(const Json& json) {
  // `--devices all` has rows of the CPUs and of the GPUs alone before those that were asked for.
  const Json& rows = json.at("solver");
  const std::string devices = rows.at(rows.size() - 1).value("devices", "");
  const Json& row = *std::find_if(rows.begin(), rows.end(), [&](const Json& r) { return r.value("devices", "") == devices; });
  Results r;
  const double vectors = row.at("nrhs").get<double>();
  r.iterations = number(row, "iterations");
  const auto an_iteration = product(number(row, "us_per_iteration"), vectors * 1e-6);
  r.seconds = product(an_iteration, r.iterations);
  r.flops = product(product(number(row, "gflops"), r.seconds), 1e9);
  r.bytes = product(number(row, "bytes_per_iteration"), r.iterations);
  r.tasks = product(number(row, "tasks_per_iteration"), r.iterations);
  r.us_per_task = number(row, "us_per_task");
  if (row.contains("bound_us_per_iteration")) {
    r.bound_seconds = product(product(number(row, "bound_us_per_iteration"), vectors * 1e-6), r.iterations);
    if (r.bound_seconds) r.bound = "task graph: bandwidth, critical path, assignment";
  }
  r.no_joules = "bench solver measures none";
  r.machine = machine_text(json.value("machine", Json::object()));
  take_machine(row, r);
  return r;
}

Json to_json(const Record& record) {
  return {{"kind", name_of(record.kind)},
          {"varying", settings_json(record.varying)},
          {"settings", settings_json(record.settings)},
          {"inputs", settings_json(record.inputs)},
          {"repetition", record.repetition},
          {"number", record.number},
          {"status", name_of(record.status)},
          {"message", record.message},
          {"started", record.started},
          {"built_with", record.built_with},
          {"trace", record.trace},
          {"wall_seconds", record.wall_seconds},
          {"results", record.ok() ? results_json(record.results) : Json()}};
}

Record record_of(const Json& json) {
  Record record;
  record.kind = named(all_kinds, json.at("kind").get<std::string>());
  record.varying = settings_of(json.at("varying"));
  record.settings = settings_of(json.at("settings"));
  record.inputs = settings_of(json.value("inputs", Json::object()));
  record.repetition = json.at("repetition").get<int>();
  record.number = json.at("number").get<int>();
  record.status = named(all_statuses, json.at("status").get<std::string>());
  record.message = text(json, "message");
  record.started = text(json, "started");
  record.built_with = text(json, "built_with");
  record.trace = text(json, "trace");
  record.wall_seconds = json.at("wall_seconds").get<double>();
  if (record.ok()) record.results = results_of(json.at("results"));
  return record;
}

}  // namespace quarkstar::app::lab
