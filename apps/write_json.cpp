#include "apps/write_json.hpp"

#include "quarkstar_version.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

Json solve_json(const ColumnReport& column, bool with_history) {
  const SolveResult& result = column.result;
  Json solve{{"column", column.column},
             {"spin", column.column / 3},
             {"colour", column.column % 3},
             {"reason", describe(result.reason)},
             {"iterations", result.iterations},
             {"restarts", result.restarts},
             {"true_residual", result.true_residual},
             {"seconds", result.seconds},
             {"gflops", column.gflops()},
             {"gbs", column.gbs()},
             {"tasks", result.tasks}};
  if (column.mass) {
    solve.erase("spin");
    solve["mass"] = *column.mass;
  }
  if (with_history) {
    Json& history = solve["residual_history"] = Json::array();
    for (const double residual : result.residual_history) history.push_back(fmt::format("{:a}", residual));
  }
  return solve;
}

Json workers_json(const RunReport& report) {
  Json workers = Json::array();
  for (const WorkerReport& worker : report.workers)
    workers.push_back({{"name", worker.name}, {"kind", worker.kind}, {"cores", worker.cores}, {"busy", worker.busy}});
  return workers;
}

}  // namespace

Json report_json(const RunReport& report) {
  Json json;
  json["status"] = report.failed ? "failed" : "converged";
  json["version"] = version;
  json["revision"] = revision;
  json["built_with"] = version_line();
  json["started"] = report.started;
  json["machine"] = {{"host", report.host}, {"cpu", report.cpu_model}, {"workers", workers_json(report)}};
  const GaugeSummary& gauge = report.gauge;
  json["gauge"] = {{"file", gauge.path},
                   {"format", gauge.format},
                   {"lattice", gauge.extents},
                   {"plaquette",
                    {{"spatial", gauge.spatial_plaquette},
                     {"temporal", gauge.temporal_plaquette},
                     {"average", 0.5 * (gauge.spatial_plaquette + gauge.temporal_plaquette)}}},
                   {"link_trace", gauge.link_trace}};
  for (const Field& field : run_fields()) json["parameters"][std::string(field.key)] = field.get(report.config);
  json["decomposition"] = report.decomposition;
  json["source_time"] = report.config.source.time();
  json["setup_seconds"] = report.setup_seconds;
  json["total_seconds"] = report.total_seconds;
  json["solves"] = Json::array();
  for (const ColumnReport& column : report.solves)
    json["solves"].push_back(solve_json(column, report.config.residual_history));
  if (report.failed) return json;
  for (const CorrelatorReport& correlator : report.correlators) {
    json["correlators"][correlator.name] = correlator.values;
    json["effective_masses"][correlator.name] = {{"log", correlator.log_mass}, {"cosh", correlator.cosh_mass}};
  }
  return json;
}

}  // namespace quarkstar::app
