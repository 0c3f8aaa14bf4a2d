#include "apps/run/write_json.hpp"

#include "apps/run/multigrid_report.hpp"
#include "quarkstar_version.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

Json reading_json(const runtime::EnergyReading& reading) {
  if (!reading.available()) return {{"unavailable", reading.unavailable}};
  return {{"joules", reading.joules}};
}

Json energy_json(const ColumnReport& column) {
  const runtime::EnergyReading total = column.energy.total();
  Json json{{"cpu", reading_json(column.energy.cpu)}, {"gpu", reading_json(column.energy.gpu)}, {"total", reading_json(total)}};
  if (total.available()) {
    json["total"]["of"] = column.energy.measured();
    json["gflops_per_watt"] = column.gflops_per_watt();
  }
  return json;
}

Json bound_json(const BoundReport& bound) {
  return {{"bandwidth_seconds", bound.bandwidth_seconds},
          {"critical_path_seconds", bound.critical_path_seconds},
          {"assignment_seconds", bound.assignment_seconds},
          {"owners_seconds", bound.owners_seconds > 0 ? Json(bound.owners_seconds) : Json()},
          {"time_over_bound", bound.time_over_bound > 0 ? Json(bound.time_over_bound) : Json()},
          {"workers_gbs", bound.workers_gbs}};
}

Json solve_json(const ColumnReport& column, const Source& source, double bound_gflops, bool with_history) {
  const SolveResult& result = column.result;
  Json solve{{"source", text_of(source)},
             {"column", column.column},
             {"spin", column.column / 3},
             {"colour", column.column % 3},
             {"reason", describe(result.reason)},
             {"iterations", result.iterations},
             {"restarts", result.restarts},
             {"refreshes", result.refreshes},
             {"true_residual", result.true_residual},
             {"seconds", result.seconds},
             {"gflops", column.gflops()},
             {"gbs", column.gbs()},
             {"fraction_of_bound", bound_gflops > 0 ? Json(column.gflops() / bound_gflops) : Json()},
             {"tasks", result.tasks},
             {"tasks_per_iteration", column.tasks_per_iteration()},
             {"kernels", result.kernels},
             {"kernels_per_iteration", column.kernels_per_iteration()},
             {"idle_us_per_task", column.idle_us ? Json(*column.idle_us) : Json()},
             {"energy", energy_json(column)}};
  if (column.bound) solve["bound"] = bound_json(*column.bound);
  if (column.mass) solve["mass"] = *column.mass;
  if (with_history) {
    Json& history = solve["residual_history"] = Json::array();
    for (const double residual : result.residual_history) history.push_back(fmt::format("{:a}", residual));
  }
  return solve;
}

Json workers_json(const RunReport& report) {
  Json workers = Json::array();
  for (const WorkerReport& worker : report.workers)
    workers.push_back({{"name", worker.name},
                       {"kind", worker.kind},
                       {"cores", worker.cores},
                       {"busy", worker.busy},
                       {"tasks", worker.times.tasks},
                       {"us_per_task", worker.times.us_per_task()},
                       {"seconds", seconds_json(worker.times)}});
  return workers;
}

Json watts_json(const runtime::MachinePower& power) {
  const auto draw = [](const runtime::PowerDraw& device) { return Json{{"idle", device.idle}, {"busy", device.busy}}; };
  return {{"cpu", draw(power.cpu)}, {"cuda", draw(power.cuda)}, {"host", power.host}, {"origin", power.origin}};
}

Json resplits_json(const RunReport& report) {
  Json resplits = Json::array();
  for (const ResplitReport& resplit : report.resplits)
    resplits.push_back({{"after_solves", resplit.after_solves},
                        {"decomposition", resplit.decomposition},
                        {"seconds_before", resplit.seconds_before},
                        {"seconds_predicted", resplit.seconds_predicted},
                        {"migration_seconds", resplit.migration_seconds}});
  return resplits;
}

Json memory_json(const RunReport& report) {
  Json memory = Json::array();
  for (const MemoryNeed& need : report.memory)
    memory.push_back({{"where", need.where},
                      {"needed_bytes", need.total()},
                      {"available_bytes", need.available > 0 ? Json(need.available) : Json()},
                      {"links", need.fields.links},
                      {"spinors", need.fields.fields},
                      {"faces", need.fields.faces},
                      {"tables", need.fields.tables},
                      {"scalars", need.fields.scalars},
                      {"configuration_and_columns", need.other},
                      {"making_links", need.making_links > 0 ? Json(need.making_links) : Json()}});
  return memory;
}

}  // namespace

Json seconds_json(const runtime::WorkerTimes& times) {
  return {{"total", times.total}, {"busy", times.busy}, {"transfer", times.transfer}, {"overhead", times.overhead}, {"idle", times.idle}};
}

Json links_json(const std::vector<runtime::LinkTraffic>& links) {
  Json rows = Json::array();
  for (const runtime::LinkTraffic& link : links)
    rows.push_back({{"from", link.from}, {"to", link.to}, {"bytes", link.bytes}, {"transfers", link.transfers}});
  return rows;
}

Json devices_json(const DevicePlan& plan, double gflops) {
  Json parts = Json::array();
  for (const DevicePart& part : plan.parts)
    parts.push_back({{"worker", part.name},
                     {"extents", part.extents},
                     {"dslash_alone_gflops", part.gflops_alone > 0 ? Json(part.gflops_alone) : Json()}});
  Json devices{{"parts", parts}, {"cpu_share", plan.cpu_share}, {"reason", plan.reason.empty() ? plan.sharing : plan.reason}};
  if (!plan.reason.empty() && !plan.sharing.empty()) devices["sharing"] = plan.sharing;
  if (const double bound = plan.bound_gflops(); bound > 0) {
    devices["dslash_bound_gflops"] = bound;
    if (gflops > 0) devices["fraction_of_bound"] = gflops / bound;
  }
  return devices;
}

Json report_json(const RunReport& report) {
  Json json;
  json["status"] = report.failure.empty() ? "converged" : "failed";
  json["version"] = version;
  json["revision"] = revision;
  json["built_with"] = version_line();
  json["started"] = report.started;
  json["machine"] = {
      {"host", report.host}, {"cpu", report.cpu_model}, {"workers", workers_json(report)}, {"links", links_json(report.links)}};
  if (report.config.session.policy == "energy") json["machine"]["watts"] = watts_json(report.power);
  const GaugeSummary& gauge = report.gauge;
  json["gauge"] = {{"file", gauge.path},
                   {"format", gauge.format},
                   {"lattice", gauge.extents},
                   {"plaquette",
                    {{"spatial", gauge.spatial_plaquette},
                     {"temporal", gauge.temporal_plaquette},
                     {"average", 0.5 * (gauge.spatial_plaquette + gauge.temporal_plaquette)}}},
                   {"link_trace", gauge.link_trace}};
  if (!gauge.long_path.empty()) json["gauge"]["long_file"] = gauge.long_path;
  for (const auto& [key, value] : parameters_of(report.config)) json["parameters"][std::string(key)] = value;
  json["decomposition"] = report.decomposition;
  if (!report.devices.parts.empty() || !report.devices.sharing.empty()) json["devices"] = devices_json(report.devices);
  if (!report.resplits.empty()) json["resplits"] = resplits_json(report);
  for (const IslandReport& island : report.islands)
    json["islands"].push_back({{"devices", island.devices}, {"groups", island.groups}, {"seconds", island.seconds}});
  json["memory"] = memory_json(report);
  if (!report.sources.empty()) json["sources"] = report.sources;
  json["source_time"] = report.config.source.time();
  json["setup_seconds"] = report.setup.seconds();
  for (const SetupTimes::Part& part : report.setup.parts()) json["setup"][part.name] = part.seconds;
  json["total_seconds"] = report.total_seconds;
  for (const OperatorReport& of : report.operators) {
    Json& of_json = json["operators"].emplace_back();
    if (of.mass) of_json["mass"] = *of.mass;
    for (const auto& [name, number] : of.numbers) of_json[name] = number;
    if (!of.begun_with.empty()) of_json["multigrid_began_with"] = of.begun_with;
    if (!of.levels.empty()) of_json["levels"] = multigrid_json(report, of);
  }
  json["solves"] = Json::array();
  for (const ColumnReport& column : report.solves) {
    Json& solve = json["solves"].emplace_back(
        solve_json(column, report.config.source, report.devices.bound_gflops(), report.config.residual_history));
    if (report.config.action->components == colour_components) solve.erase("spin");
  }
  for (const SequentialReport& sequential : report.sequential) {
    Json& solve = json["sequential_solves"].emplace_back(Json{{"hadron", sequential.hadron}, {"sink", sequential.sink}});
    solve.update(solve_json(sequential.solve, report.config.source, report.devices.bound_gflops(), report.config.residual_history));
  }
  if (!report.failure.empty()) return json;
  for (const Correlator& correlator : report.correlators) {
    Json& values = json["correlators"][correlator.name];
    values = correlator.values;
    for (std::size_t t = 0; t < correlator.imaginary.size(); ++t) values[t] = {correlator.values[t], correlator.imaginary[t]};
    if (!correlator.log_mass.empty())
      json["effective_masses"][correlator.name] = {{"log", correlator.log_mass}, {"cosh", correlator.cosh_mass}};
  }
  if (const std::string left_out = correlators_left_out(report.config); !report.correlators.empty() && !left_out.empty())
    json["correlators_not_written"] = left_out;
  return json;
}

}  // namespace quarkstar::app
