// quarkstar model: what a document expected, beside what is measured
#include "apps/bench/action_bench.hpp"
#include "apps/bench/bench_options.hpp"
#include "apps/command/commands.hpp"
#include "apps/report/plot_svg.hpp"
#include "apps/run/outputs.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/report.hpp"
#include "apps/run/session_defaults.hpp"
#include "apps/studies/figures.hpp"
#include "apps/studies/hisq_model.hpp"
#include "apps/studies/scaling.hpp"
#include "codelets/actions/session_tuning.hpp"
#include "runtime/system/atomic_file.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

/// The figure that is also timed here, by right-hand sides.
constexpr const char* default_figure = "rhs";
/// Its document.
constexpr const char* hisq_document = "hisq";
/// The one that quarkstar-sim computes.
constexpr const char* simulated_figure = "power8";

/// Flags that only some figures use, and those that each does.
constexpr std::string_view particular_flags[] = {"--nrhs",  "--bandwidth",   "--array-mb", "--repetitions",
                                                 "--triad", "--overhead-us", "--lattice"};
struct Uses {
  std::string_view figure;
  std::vector<std::string_view> flags;
};
const std::vector<Uses>& uses() {
  static const std::vector<Uses> all{
      {default_figure, {"--nrhs", "--bandwidth", "--array-mb", "--repetitions", "--lattice"}},
      {simulated_figure, {}},
      {"machines", {"--bandwidth", "--array-mb", "--repetitions", "--triad"}},
      {"dslash", {"--bandwidth", "--array-mb", "--repetitions", "--triad", "--lattice"}},
      {"solver-lattice", {"--nrhs", "--bandwidth", "--array-mb", "--repetitions", "--triad", "--overhead-us", "--lattice"}},
      {"solver-rhs", {"--nrhs", "--bandwidth", "--array-mb", "--repetitions", "--triad", "--overhead-us", "--lattice"}},
      {"relative", {"--bandwidth", "--array-mb", "--repetitions", "--triad", "--overhead-us"}},
      {"watts", {"--bandwidth", "--array-mb", "--repetitions", "--triad", "--overhead-us", "--lattice"}},
      {"wilson", {"--bandwidth", "--array-mb", "--repetitions", "--triad"}},
      {"v100", {"--triad", "--overhead-us"}},
      {"peers", {}}};
  return all;
}

const std::vector<std::string_view>& flags_of(std::string_view figure) {
  return std::find_if(uses().begin(), uses().end(), [&](const Uses& u) { return u.figure == figure; })->flags;
}

bool uses_flag(std::string_view figure, std::string_view flag) {
  const std::vector<std::string_view>& flags = flags_of(figure);
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

/// Throws Error(input) for a flag that was given and that the figure does not use.
void refuse_unused_flags(const CLI::App& command, std::string_view figure) {
  for (const std::string_view flag : particular_flags)
    if (command.count(std::string(flag)) > 0 && !uses_flag(figure, flag))
      throw Error(ErrorKind::input, std::string(flag), fmt::format("the figure {} does not use it", figure),
                  flags_of(figure).empty() ? "leave it out" : fmt::format("leave it out; it uses {}", fmt::join(flags_of(figure), ", ")));
}

struct ModelOptions {
  runtime::SessionOptions session = session_defaults();
  std::string figure = default_figure, svg;
  std::optional<std::string> seed;  ///< document; none: the figure's own
  bool json = false, estimate_only = false;
  std::optional<double> bandwidth;  ///< GB/s; none: measured
  std::vector<int> nrhs{1, 2, 3, 4, 5};
  std::optional<Coord> lattice;  ///< none: the figure's own; measurements 16^4
  double overhead_us = model::assumed_overhead_us;
  std::vector<std::string> triads;  ///< NAME=GB/s in place of the table's
  bool no_tune = false;
  double array_megabytes = 256;
  int repetitions = 5;
};

Coord measured_lattice(const ModelOptions& options) { return options.lattice.value_or(Coord{16, 16, 16, 16}); }

/// One number of right-hand sides.
struct Row {
  int vectors;
  double intensity, estimate;      ///< flop a byte; GFLOP/s = intensity times bandwidth
  std::optional<double> measured;  ///< GFLOP/s
};

/// Best GFLOP/s of the Dslash in single precision with long links of 14 reals, with the speed settings of a solve.
double measured_gflops(const ActionBench& bench, int vectors, const ModelOptions& options) {
  const BenchCase c{Precision::single, 14, vectors, {.vectors = vectors, .measure = !options.no_tune}};
  return bench.time(bench.plan(c).decomposition, c, options.repetitions).timing.best_gflops;
}

std::vector<Row> make_rows(const ModelOptions& options, runtime::Session& session, double bandwidth) {
  std::optional<ActionBench> bench;
  if (!options.estimate_only) bench.emplace(session, measured_lattice(options), hisq_kind());
  std::vector<Row> rows;
  for (const int n : options.nrhs) {
    const double intensity = hisq_model::intensity(n);
    Row row{n, intensity, intensity * bandwidth, {}};
    if (bench) row.measured = measured_gflops(*bench, n, options);
    rows.push_back(row);
  }
  return rows;
}

Plot chart(const std::vector<Row>& rows, const std::string& where, double bandwidth) {
  Plot plot{.title = fmt::format("HISQ Dslash on {}, {:.1f} GB/s", where, bandwidth),
            .x_label = "right-hand sides",
            .y_label = "GFLOP/s",
            .series = {}};
  Series estimate{"intensity x bandwidth, no cache", {}, {}}, measured{"measured, single precision, long links of 14 reals", {}, {}};
  for (const Row& row : rows) {
    estimate.x.push_back(row.vectors);
    estimate.y.push_back(row.estimate);
    if (!row.measured) continue;
    measured.x.push_back(row.vectors);
    measured.y.push_back(*row.measured);
  }
  Series cached{fmt::format("one right-hand side, {} of 16 neighbours from a cache", fmt::join(hisq_model::cached_neighbours, ", ")),
                {},
                {},
                true,
                false};
  for (const int neighbours : hisq_model::cached_neighbours) {
    const double intensity = hisq_model::intensity(1, neighbours / 16.);
    cached.x.push_back(1);
    cached.y.push_back(intensity * bandwidth);
    cached.labels.push_back(fmt::format("{} of 16: {:.3f} flop/byte, {:.2f} GFLOP/s", neighbours, intensity, intensity * bandwidth));
  }
  plot.series.push_back(std::move(estimate));
  if (!measured.x.empty()) plot.series.push_back(std::move(measured));
  plot.series.push_back(std::move(cached));
  return plot;
}

void print_text(const std::vector<Row>& rows, const std::string& where, double bandwidth) {
  fmt::print("HISQ Dslash, single precision, fat links of 18 reals, long links of 14; {}, {:.1f} GB/s\n\n", where, bandwidth);
  fmt::print("{:>5} {:>10} {:>10} {:>10} {:>10} {:>9}\n", "nrhs", "flop/byte", "estimate", "measured", "/estimate", "/nrhs 1");
  const auto alone = std::find_if(rows.begin(), rows.end(), [](const Row& row) { return row.vectors == 1 && row.measured; });
  for (const Row& row : rows) {
    fmt::print("{:>5} {:>10.2f} {:>10.2f}", row.vectors, row.intensity, row.estimate);
    if (row.measured)
      fmt::print(" {:>10.2f} {:>10.2f} {:>9}", *row.measured, *row.measured / row.estimate,
                 alone != rows.end() ? fmt::format("{:.2f}", *row.measured / *alone->measured) : "-");
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
    caches.push_back({{"cached_neighbours", cached},
                      {"intensity", hisq_model::intensity(1, cached / 16.)},
                      {"estimate_gflops", hisq_model::intensity(1, cached / 16.) * bandwidth}});
  return {{"seed", hisq_document}, {"device", where},       {"bandwidth_gbs", bandwidth}, {"lattice", measured_lattice(options)},
          {"rows", table},         {"cache_table", caches}, {"versions", version_line()}};
}

void write_svg(const ModelOptions& options, const std::string& svg) {
  if (options.svg.empty()) return;
  AtomicFile file(options.svg);
  file.append(svg);
  file.commit();
  if (!options.json) fmt::print("\nwrote {}\n", options.svg);
}

runtime::SessionOptions session_of(const ModelOptions& options) {
  const bool measure = !options.no_tune && !options.estimate_only;
  const bool is_large = is_worth_measuring_kernels(measured_lattice(options));
  return with_cpu_kernels(options.session, !measure ? KernelTuning::rule : is_large ? KernelTuning::measure : KernelTuning::known);
}

void run_right_hand_sides(const ModelOptions& options) {
  runtime::Session session(session_of(options));
  const std::string where = session.gpu_count() > 0 ? session.worker(0).name : session.topology().cpu_model();
  const double bandwidth =
      options.bandwidth ? *options.bandwidth : measure_memory(options.array_megabytes, options.repetitions, session).owners_triad;
  const std::vector<Row> rows = make_rows(options, session, bandwidth);
  if (options.json) fmt::print("{}\n", json_of(rows, where, bandwidth, options).dump(2));
  else print_text(rows, where, bandwidth);
  write_svg(options, svg_file(chart(rows, where, bandwidth)));
}

/// This machine among the others: its triad measured, unless given, and with `dslash` the HISQ Dslash too.
void add_machine_at_hand(const ModelOptions& options, bool dslash, model::Inputs& inputs) {
  model::Machine here{"here", {{}, "not known"}, {{}, "not known"}, {{}, "not known"}, {{}, ""}, model::cache_here(), {{}, "not known"}};
  inputs.measured_dslash.assign(inputs.machines.size() + 1, std::nullopt);
  if (options.bandwidth) here.triad = {*options.bandwidth, "--bandwidth"};
  if (!options.bandwidth || (dslash && !options.estimate_only)) {
    runtime::Session session(session_of(options));
    if (session.gpu_count() > 0) here.cache_kib = {{}, "not known of this GPU"};
    const std::string where = session.gpu_count() > 0 ? session.worker(0).name : session.topology().cpu_model();
    if (!options.bandwidth)
      here.triad = {measure_memory(options.array_megabytes, options.repetitions, session).owners_triad,
                    fmt::format("measured now on {}", where)};
    if (dslash && !options.estimate_only)
      inputs.measured_dslash.back() = measured_gflops(ActionBench(session, measured_lattice(options), hisq_kind()), 1, options);
  }
  inputs.machines.push_back(std::move(here));
}

/// Triads of --triad.
void replace_triads(const ModelOptions& options, std::vector<model::Machine>& machines) {
  for (const std::string& text : options.triads) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const auto machine =
        std::find_if(machines.begin(), machines.end(), [&](const model::Machine& m) { return m.name == text.substr(0, equals); });
    if (machine == machines.end() || equals == text.size())
      throw Error(ErrorKind::input, "--triad", fmt::format("'{}' is no NAME=GB/s of a machine of the table", text),
                  "see `quarkstar model machines`");
    try {
      machine->triad = {parse_positive(text.substr(equals + 1)), "--triad"};
    } catch (const BadValue& bad) {
      throw Error(ErrorKind::input, "--triad", bad.what(), bad.allowed());
    }
  }
}

/// `inputs`: further keys of the JSON.
void show(const ModelOptions& options, const model::FigureTable& figure, const Json& inputs) {
  if (options.json) {
    Json json = model::json_of(figure);
    json.update(inputs);
    json["versions"] = version_line();
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}", model::text_of(figure));
  }
  write_svg(options, model::svg_of(figure));
}

void run_model(const ModelOptions& options) {
  check_writable(options.svg);
  if (options.seed && options.figure != default_figure)
    throw Error(ErrorKind::input, "--seed", fmt::format("the figure {} is of another document than {}", options.figure, *options.seed),
                fmt::format("leave --seed out, or take the figure {}", default_figure));
  if (options.figure == default_figure) return run_right_hand_sides(options);
  if (options.figure == simulated_figure) return show(options, model::power8_scaling(model::speed_of_simulator), Json::object());
  model::Inputs inputs{.machines = model::machines(),
                       .lattice = options.lattice,
                       .nrhs = options.nrhs,
                       .overhead_us = options.overhead_us,
                       .measured_dslash = {}};
  replace_triads(options, inputs.machines);
  if (uses_flag(options.figure, "--bandwidth")) add_machine_at_hand(options, options.figure == "dslash", inputs);
  if (options.figure == "machines") {
    if (!options.svg.empty()) throw Error(ErrorKind::input, "--svg", "the table of machines has no chart", "name a figure, such as dslash");
    if (options.json) fmt::print("{}\n", Json{{"machines", model::sources_json(inputs.machines)}, {"versions", version_line()}}.dump(2));
    else fmt::print("{}", model::sources_text(inputs.machines));
    return;
  }
  const auto named =
      std::find_if(model::figures().begin(), model::figures().end(), [&](const model::NamedFigure& f) { return f.name == options.figure; });
  show(options, named->make(inputs), {{"inputs", model::sources_json(inputs.machines)}});
}

}  // namespace

void add_model(CLI::App& app) {
  CLI::App* command = app.add_subcommand("model", "What a seed document expected of the memory, beside what is measured here");
  const auto options = std::make_shared<ModelOptions>();
  std::vector<std::string> names{default_figure, "machines", simulated_figure};
  std::string help =
      "What to show: rhs (default), HISQ Dslash by right-hand sides, timed here too; machines, all inputs with their sources; power8, "
      "strong and weak scaling over K40s in POWER8 nodes, by quarkstar-sim (seed 1)";
  for (const model::NamedFigure& figure : model::figures()) {
    names.emplace_back(figure.name);
    help += fmt::format("; {}, {}", figure.name, figure.help);
  }
  command->add_option("FIGURE", options->figure, help)->check(CLI::IsMember(names));
  command
      ->add_option("--seed", options->seed,
                   "hisq: the document of the figure rhs, intensity of the HISQ Dslash by right-hand sides and cache hits")
      ->check(CLI::IsMember({hisq_document}));
  command->add_option("--nrhs", options->nrhs, "Right-hand sides (default 1 2 3 4 5)")->check(CLI::Range(1, 32));
  command->add_option("--bandwidth", options->bandwidth, "GB/s in place of the triad measured here")->check(at_least(0.001));
  command->add_flag("--no-tune", options->no_tune,
                    "Speed settings by fixed rules: read and write no tune cache, measure nothing but the Dslash");
  command->add_flag("--estimate-only", options->estimate_only, "Measure no Dslash");
  command->add_option("--svg", options->svg, "Write the chart to FILE")->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_option("--array-mb", options->array_megabytes, "Size of each stream array in MB")->check(CLI::Range(1.0, 1e6));
  command->add_option("--repetitions", options->repetitions, "Timed passes; the best is printed")->check(CLI::Range(1, 1000));
  command->add_option("--triad", options->triads, "Triads of other machines in place of the table's: K40=200")->type_name("NAME=GB/s...");
  command->add_option("--overhead-us", options->overhead_us, "Microseconds of a kernel besides its bytes (default 5, assumed)")
      ->check(at_least(0));
  add_coord_flag(*command, "--lattice", options->lattice,
                 "Extents of the figure (default: the document's), and of what is measured (default 16,16,16,16)", 4);
  add_session_flags(*command, options->session);
  command->callback([options, command] {
    refuse_unused_flags(*command, options->figure);
    run_model(*options);
  });
}

}  // namespace quarkstar::app
