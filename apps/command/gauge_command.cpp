// quarkstar gauge info | convert | generate | smear
#include "apps/command/commands.hpp"
#include "apps/command/gauge_smear_command.hpp"
#include "apps/command/interrupt.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/generate_run.hpp"
#include "apps/run/shared_settings.hpp"
#include "apps/run/statistics.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
  std::string file;
  std::optional<Coord> lattice, ranks;
  bool json = false;
};

void add_bare_lattice_flag(CLI::App& command, std::optional<Coord>& lattice) {
  add_coord_flag(command, "--lattice", lattice, "Extents of a bare LIME file that states none", 1);
}

Json checksums_json(const format::GaugeFileInfo& info) {
  Json checksums = Json::array();
  for (const format::ChecksumVerdict& c : info.checksums) {
    Json entry{{"name", c.name}, {"verdict", to_string(c.status())}};
    entry["stored"] = c.stored ? Json(fmt::format("{:08x}", *c.stored)) : Json();
    entry["computed"] = c.computed ? Json(fmt::format("{:08x}", *c.computed)) : Json();
    checksums.push_back(std::move(entry));
  }
  return checksums;
}

void print_info_json(const LoadedGauge& loaded, const gauge::UnitarityDeviation& deviation) {
  const format::GaugeFileInfo& info = loaded.info;
  Json header = Json::object();
  for (const auto& [key, value] : info.header) header[key] = value;
  const Json json{
      {"file", info.path},
      {"format", format::to_string(info.format)},
      {"lattice", loaded.part.lattice},
      {"precision", info.layout.real_bytes == 4 ? "single" : "double"},
      {"byte_order", info.layout.byte_order == format::ByteOrder::big ? "big" : "little"},
      {"stored_rows", info.layout.rows},
      {"plaquette",
       {{"spatial", loaded.plaquettes.spatial}, {"temporal", loaded.plaquettes.temporal}, {"average", loaded.plaquettes.mean()}}},
      {"link_trace", loaded.link_trace},
      {"unitarity_deviation", deviation.unitarity},
      {"determinant_deviation", deviation.determinant},
      {"checksums", checksums_json(info)},
      {"header", header},
      {"notes", info.notes}};
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_info_text(const LoadedGauge& loaded, const gauge::UnitarityDeviation& deviation) {
  const format::GaugeFileInfo& info = loaded.info;
  fmt::print("file              {}\n", info.path);
  fmt::print("format            {}, {} rows, {}, {}-endian\n", format::to_string(info.format), info.layout.rows,
             info.layout.real_bytes == 4 ? "single precision" : "double precision",
             info.layout.byte_order == format::ByteOrder::big ? "big" : "little");
  fmt::print("lattice           {} (x, y, z, t)\n", extents_text(loaded.part.lattice));
  fmt::print("plaquette         spatial {:.13f}  temporal {:.13f}  average {:.13f}\n", loaded.plaquettes.spatial,
             loaded.plaquettes.temporal, loaded.plaquettes.mean());
  fmt::print("link trace        {:.13f}\n", loaded.link_trace);
  fmt::print("unitarity         max |U U^+ - 1| {:.2e}  max |det U - 1| {:.2e}\n", deviation.unitarity, deviation.determinant);
  for (const format::ChecksumVerdict& c : info.checksums)
    fmt::print("checksum          {} {}: stored {}, computed {}\n", c.name, to_string(c.status()),
               c.stored ? fmt::format("{:08x}", *c.stored) : "none", c.computed ? fmt::format("{:08x}", *c.computed) : "none");
  if (info.checksums.empty()) fmt::print("checksum          this format has none\n");
  for (const std::string& note : info.notes) fmt::print("note              {}\n", note);
}

void add_info(CLI::App& gauge) {
  CLI::App* command = gauge.add_subcommand("info", "Format, extents, plaquettes, link trace, unitarity, checksums of a file");
  const auto options = std::make_shared<InfoOptions>();
  command->add_option("FILE", options->file, "Gauge configuration")->required();
  add_bare_lattice_flag(*command, options->lattice);
  command->add_flag("--json", options->json, "Print JSON");
  add_ranks_flag(*command, options->ranks);
  command->callback([options] {
    require_same_settings_everywhere(setting_line("FILE", options->file) + setting_line("--lattice", options->lattice) +
                                     setting_line("--ranks", options->ranks));
    const LoadedGauge loaded = load_gauge_of_rank(options->file, options->lattice, options->ranks);
    const gauge::UnitarityDeviation deviation = gauge::unitarity_deviation_of_all_ranks(loaded.gauge, host_team());
    if (runtime::mpi::Job::current().is_root()) (options->json ? print_info_json : print_info_text)(loaded, deviation);
  });
}

struct ConvertOptions {
  std::string in, out;
  std::optional<Coord> lattice, ranks;
  bool reunitarize = false;
  SaveOptions save;
};

void add_save_flags(CLI::App& command, SaveOptions& save) {
  command.add_option("--format", save.format, "File format (default nersc)")->check(CLI::IsMember(output_formats()));
  command.add_option("--precision", save.precision, "Precision of the file (default double; MILC files: single)")
      ->check(CLI::IsMember({"single", "double"}));
}

/// What all ranks must have in common.
std::string shared_settings(const ConvertOptions& options) {
  return setting_line("IN", options.in) + setting_line("OUT", options.out) + setting_line("--format", options.save.format) +
         setting_line("--precision", options.save.precision) + setting_line("--lattice", options.lattice) +
         setting_line("--ranks", options.ranks) + setting_line("--reunitarize", options.reunitarize);
}

void run_convert(const ConvertOptions& options) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  require_same_settings_everywhere(shared_settings(options));
  job.on_root([&] {
    std::error_code absent;  // a file that is not there yet is no one's twin
    if (std::filesystem::equivalent(options.in, options.out, absent))
      throw Error(ErrorKind::input, options.out, "IN and OUT are the same file", "give OUT another name");
  });
  LoadedGauge loaded = load_gauge_of_rank(options.in, options.lattice, options.ranks);
  const runtime::Team team = host_team();
  job.together([&] {
    if (options.reunitarize) gauge::reunitarize(loaded.gauge, team);
  });
  save_gauge(options.out, loaded.gauge, options.save, loaded.part);
  if (job.is_root()) fmt::print("wrote {}: {} {}\n", options.out, extents_text(loaded.info.layout.extents), options.save.format);
}

void add_convert(CLI::App& gauge) {
  CLI::App* command = gauge.add_subcommand("convert", "Write a configuration in another format or precision");
  const auto options = std::make_shared<ConvertOptions>();
  command->add_option("IN", options->in, "Gauge configuration")->required();
  command->add_option("OUT", options->out, "File to write")->required();
  add_save_flags(*command, options->save);
  add_bare_lattice_flag(*command, options->lattice);
  command->add_flag("--reunitarize", options->reunitarize, "Project the links back to SU(3) in double precision");
  add_ranks_flag(*command, options->ranks);
  command->callback([options] { run_convert(*options); });
}

struct GenerateOptions {
  std::string out;
  int thermalization = -1;  ///< half of the sweeps
  GenerateConfig config;
  SaveOptions save;
};

std::string shared_settings(const GenerateOptions& options) {
  const GenerateConfig& config = options.config;
  const heatbath::HeatbathSettings& chain = config.heatbath;
  return setting_line("OUT", options.out) + setting_line("--lattice", config.lattice) + setting_line("--beta", chain.beta) +
         setting_line("--sweeps", config.sweeps) + setting_line("--seed", chain.seed) +
         setting_line("--thermalization", config.thermalization) + setting_line("--overrelaxation", chain.overrelaxation_per_heatbath) +
         setting_line("--start", config.start) + setting_line("--ranks", config.ranks) + setting_line("--blocks", config.blocks) +
         setting_line("--format", options.save.format) + setting_line("--precision", options.save.precision);
}

void run_generate(GenerateOptions& options) {
  GenerateConfig& config = options.config;
  config.thermalization = options.thermalization >= 0 ? options.thermalization : config.sweeps / 2;
  require_same_settings_everywhere(shared_settings(options));
  CommandWatch watch;
  const Generated generated = generate(config, watch);
  options.save.label = fmt::format("SU(3) Wilson gauge action, beta {}, seed {}", config.heatbath.beta, config.heatbath.seed);
  options.save.sequence_number = config.sweeps;
  save_gauge(options.out, generated.gauge, options.save, generated.part);
  if (!runtime::mpi::Job::current().is_root()) return;
  fmt::print("wrote {}: {} {}, beta {}, {} sweeps, seed {}\n", options.out, extents_text(config.lattice), options.save.format,
             config.heatbath.beta, config.sweeps, config.heatbath.seed);
  if (generated.plaquettes.empty()) return;
  const Estimate plaquette = binned_estimate(generated.plaquettes);
  fmt::print("plaquette {} over the last {} sweeps\n", estimate_text(plaquette.mean, plaquette.error), generated.plaquettes.size());
}

void add_generate(CLI::App& gauge) {
  CLI::App* command = gauge.add_subcommand("generate", "Make a configuration by heatbath and overrelaxation (Wilson gauge action)");
  const auto options = std::make_shared<GenerateOptions>();
  GenerateConfig& config = options->config;
  command->add_option("OUT", options->out, "File to write")->required();
  add_coord_flag(*command, "--lattice", config.lattice, "Extents, all even", 1)->required();
  command->add_option("--beta", config.heatbath.beta, "Coupling 6/g^2")->required()->check(at_least(0));
  command->add_option("--sweeps", config.sweeps, "Sweeps in all")->required()->check(at_least(1));
  command->add_option("--seed", config.heatbath.seed, "Seed of the random numbers (default 1)");
  command->add_option("--thermalization", options->thermalization, "Sweeps before the plaquette is measured (default half)")
      ->check(at_least(0));
  command->add_option("--overrelaxation", config.heatbath.overrelaxation_per_heatbath, "Overrelaxations a heatbath (default 4)")
      ->check(at_least(0));
  command->add_option("--start", config.start, "hot (default) or cold")->check(CLI::IsMember({"hot", "cold"}));
  add_ranks_flag(*command, config.ranks);
  add_coord_flag(*command, "--blocks", config.blocks,
                 "Cut into that many blocks (default: t cut by the number of workers, or of GPUs where there are any)", 1);
  add_save_flags(*command, options->save);
  add_session_flags(*command, config.session);
  command->callback([options] { run_generate(*options); });
}

}  // namespace

void add_gauge(CLI::App& app) {
  CLI::App* gauge = app.add_subcommand("gauge", "Inspect, convert, generate and smear gauge configurations");
  gauge->require_subcommand(1);
  add_info(*gauge);
  add_convert(*gauge);
  add_generate(*gauge);
  add_gauge_smear(*gauge);
}

}  // namespace quarkstar::app
