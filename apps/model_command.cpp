// quarkstar model: what a document expected, beside what is measured
#include "apps/bench_options.hpp"
#include "apps/bench_staggered.hpp"
#include "apps/commands.hpp"
#include "apps/hisq_model.hpp"
#include "apps/outputs.hpp"
#include "apps/plot_svg.hpp"
#include "apps/report.hpp"
#include "runtime/atomic_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

struct ModelOptions {
  runtime::SessionOptions session;
  std::string seed = "hisq", svg;
  bool json = false, estimate_only = false;
  std::optional<double> bandwidth;  ///< GB/s; none: measured
  std::vector<int> nrhs{1, 2, 3, 4, 5};
  Coord lattice{16, 16, 16, 16};
  double array_megabytes = 256;
  int repetitions = 5;
};

/// One number of right-hand sides.
struct Row {
  int vectors;
  double intensity, estimate;       ///< flop a byte; GFLOP/s = intensity times bandwidth
  std::optional<double> measured;   ///< GFLOP/s
};

std::vector<Row> make_rows(const ModelOptions& options, runtime::Session& session, double bandwidth) {
  std::optional<StaggeredBench> bench;
  if (!options.estimate_only) bench.emplace(session, options.lattice, "hisq");
  std::vector<Row> rows;
  for (const int n : options.nrhs) {
    const double intensity = hisq_model::intensity(n);
    Row row{n, intensity, intensity * bandwidth, {}};
    if (bench) row.measured = bench->time(bench->problem(bench->plan(Precision::single, 14, n).decomposition, Precision::single, 14, n), {}, {}, options.repetitions).best_gflops;
    rows.push_back(row);
  }
  return rows;
}

Plot chart(const std::vector<Row>& rows, const std::string& where, double bandwidth) {
  Plot plot{.title = fmt::format("HISQ Dslash on {}, {:.1f} GB/s", where, bandwidth), .x_label = "right-hand sides", .y_label = "GFLOP/s", .series = {}};
  Series estimate{"intensity x bandwidth, no cache", {}, {}}, measured{"measured, single precision, long links of 14 reals", {}, {}};
  for (const Row& row : rows) {
    estimate.x.push_back(row.vectors);
    estimate.y.push_back(row.estimate);
    if (!row.measured) continue;
    measured.x.push_back(row.vectors);
    measured.y.push_back(*row.measured);
  }
  plot.series.push_back(std::move(estimate));
  if (!measured.x.empty()) plot.series.push_back(std::move(measured));
  return plot;
}

void print_text(const std::vector<Row>& rows, const std::string& where, double bandwidth) {
  fmt::print("HISQ Dslash, single precision, fat links of 18 reals, long links of 14; {}, {:.1f} GB/s\n\n", where, bandwidth);
  fmt::print("{:>5} {:>10} {:>10} {:>10} {:>10} {:>9}\n", "nrhs", "flop/byte", "estimate", "measured", "/estimate", "/nrhs 1");
  for (const Row& row : rows) {
    fmt::print("{:>5} {:>10.2f} {:>10.2f}", row.vectors, row.intensity, row.estimate);
    if (row.measured)
      fmt::print(" {:>10.2f} {:>10.2f} {:>9.2f}", *row.measured, *row.measured / row.estimate, *row.measured / *rows.front().measured);
    fmt::print("\n");
  }
  fmt::print("\none right-hand side, neighbours from a cache:\n{:>8} {:>10} {:>10}\n", "of 16", "flop/byte", "estimate");
  for (const int cached : hisq_model::cached_neighbours) {
    const double intensity = hisq_model::intensity(1, cached / 16.);
    fmt::print("{:>8} {:>10.3f} {:>10.2f}\n", cached, intensity, intensity * bandwidth);
  }
}

Json json_of(const std::vector<Row>& rows, const std::string& where, double bandwidth, const ModelOptions& options) {
  Json table = Json::array(), caches = Json::array();
  for (const Row& row : rows)
    table.push_back({{"nrhs", row.vectors},
                     {"intensity", row.intensity},
                     {"estimate_gflops", row.estimate},
                     {"measured_gflops", row.measured ? Json(*row.measured) : Json()}});
  for (const int cached : hisq_model::cached_neighbours)
    caches.push_back({{"cached_neighbours", cached}, {"intensity", hisq_model::intensity(1, cached / 16.)}});
  return {{"seed", options.seed}, {"device", where},          {"bandwidth_gbs", bandwidth}, {"lattice", options.lattice},
          {"rows", table},        {"cache_table", caches},    {"versions", version_line()}};
}

void run_model(const ModelOptions& options) {
  check_writable(options.svg);
  runtime::Session session(options.session);
  const std::string where = session.gpu_count() > 0 ? session.worker(0).name : session.topology().cpu_model();
  const double bandwidth =
      options.bandwidth ? *options.bandwidth : measure_memory(options.array_megabytes, options.repetitions, session).owners_triad;
  const std::vector<Row> rows = make_rows(options, session, bandwidth);
  if (options.json) fmt::print("{}\n", json_of(rows, where, bandwidth, options).dump(2));
  else print_text(rows, where, bandwidth);
  if (options.svg.empty()) return;
  AtomicFile file(options.svg);
  file.append(svg_file(chart(rows, where, bandwidth)));
  file.commit();
  if (!options.json) fmt::print("\nwrote {}\n", options.svg);
}

}  // namespace

void add_model(CLI::App& app) {
  CLI::App* command = app.add_subcommand("model", "What a seed document expected of the memory, beside what is measured here");
  const auto options = std::make_shared<ModelOptions>();
  command->add_option("--seed", options->seed, "hisq: intensity of the HISQ Dslash by right-hand sides and cache hits")->check(CLI::IsMember({"hisq"}));
  command->add_option("--nrhs", options->nrhs, "Right-hand sides (default 1 2 3 4 5)")->check(CLI::Range(1, 32));
  command->add_option("--bandwidth", options->bandwidth, "GB/s instead of the triad measured here")->check(at_least(0.001));
  command->add_flag("--estimate-only", options->estimate_only, "Measure no Dslash");
  command->add_option("--svg", options->svg, "Write the chart to FILE")->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_option("--array-mb", options->array_megabytes, "Size of each stream array in MB")->check(CLI::Range(1.0, 1e6));
  command->add_option("--repetitions", options->repetitions, "Timed passes; the best is printed")->check(CLI::Range(1, 1000));
  add_coord_flag(*command, "--lattice", options->lattice, "Extents of the measured lattice (default 16,16,16,16)", 4);
  add_session_flags(*command, options->session);
  command->callback([options] { run_model(*options); });
}

}  // namespace quarkstar::app
