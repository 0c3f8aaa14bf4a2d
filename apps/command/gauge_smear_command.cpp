// quarkstar gauge smear
#include "apps/command/gauge_smear_command.hpp"

#include "apps/command/commands.hpp"
#include "apps/command/interrupt.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/outputs.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/rank_plan.hpp"
#include "apps/run/session_defaults.hpp"
#include "apps/run/shared_settings.hpp"
#include "codelets/actions/cpu_kernels.hpp"
#include "codelets/actions/staggered/recipe.hpp"
#include "codelets/gauge/smear/links_file.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

namespace quarkstar::app {
namespace {

struct SmearOptions {
  std::string in, prefix, action{hisq_kind().name}, precision = "double";
  std::optional<double> naik_epsilon, mass, u0;
  std::optional<Coord> lattice, ranks;
  BoundaryAngles boundary = antiperiodic_in_time;
  bool reunitarize = false;
  Coord blocks{0, 0, 0, 0};  ///< zeros: t cut by the number of workers
  runtime::SessionOptions session = session_defaults();
};

constexpr int thinnest_part = smear::longest_hop(true);  ///< of a rank: long links begin so far before it

[[noreturn]] void refuse(const char* flag, const std::string& what, const char* remedy) {
  throw Error(ErrorKind::input, flag, what, remedy);
}

/// What the flags do not say one by one, before any file is read.
void check(const SmearOptions& options) {
  const staggered::Recipe& recipe = *staggered::find_recipe(options.action);
  const bool has_u0 = recipe.has("u0");
  if (!has_u0 && options.u0) refuse("--u0", "HISQ has no tadpole factor", "leave it out, or use --action asqtad");
  if (has_u0 && !options.u0) refuse("--u0", "asqtad needs a tadpole factor", "give it, e.g. --u0 0.87, or --u0 1");
  if (!recipe.has("naik-epsilon") && (options.naik_epsilon || options.mass))
    refuse(options.mass ? "--mass" : "--naik-epsilon", "only HISQ has an epsilon", "leave it out, or use --action hisq");
  if (options.u0) smear::check_tadpole_factor(*options.u0);
  if (options.naik_epsilon) smear::check_naik_epsilon(*options.naik_epsilon);
}

void check_files(const SmearOptions& options) {
  for (const std::string& out : {smear::fat_path(options.prefix), smear::long_path(options.prefix)}) {
    std::error_code absent;  // a file that is not there yet is no one's twin
    if (std::filesystem::equivalent(options.in, out, absent))
      throw Error(ErrorKind::input, out, "the links would replace the configuration", "give another OUT_PREFIX");
    check_writable(out);
  }
}

/// What all ranks must have in common.
std::string shared_settings(const SmearOptions& options) {
  return setting_line("IN", options.in) + setting_line("OUT_PREFIX", options.prefix) + setting_line("--action", options.action) +
         setting_line("--naik-epsilon", options.naik_epsilon) + setting_line("--mass", options.mass) + setting_line("--u0", options.u0) +
         setting_line("--boundary", options.boundary) + setting_line("--precision", options.precision) +
         setting_line("--reunitarize", options.reunitarize) + setting_line("--lattice", options.lattice) +
         setting_line("--ranks", options.ranks) + setting_line("--blocks", options.blocks);
}

double epsilon_of(const SmearOptions& options) {
  return options.mass ? smear::naik_epsilon_of_mass(*options.mass) : options.naik_epsilon.value_or(0);
}

smear::StaggeredLinks make_links(const SmearOptions& options, const Coord& lattice, const HostGauge& gauge, double epsilon) {
  const runtime::Session session(with_cpu_kernels(options.session, KernelTuning::known));
  const runtime::Decomposition decomposition =
      blocks_of_links(lattice, options.ranks, options.blocks, session.block_owners(), thinnest_part);
  return staggered::find_recipe(options.action)->make(decomposition, gauge, options.boundary, {epsilon, options.u0.value_or(1)});
}

void run(const SmearOptions& options) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  require_same_settings_everywhere(shared_settings(options));
  check(options);
  job.on_root([&] { check_files(options); });
  const double epsilon = epsilon_of(options);
  CommandWatch watch;
  const std::unique_ptr<RunProgress> bar = watch.progress("smear", 3);
  LoadedGauge loaded = load_gauge_of_rank(options.in, options.lattice, options.ranks, thinnest_part);
  const runtime::Team team = host_team();
  job.together([&] {
    if (options.reunitarize) gauge::reunitarize(loaded.gauge, team);
  });
  bar->step_done(1, "configuration read");
  stop_all_if_interrupted(watch, "");
  const Coord& lattice = loaded.part.lattice;
  const smear::StaggeredLinks links = make_links(options, lattice, loaded.gauge, epsilon);
  bar->step_done(2, "links made");
  stop_all_if_interrupted(watch, "");
  smear::write_links(options.prefix, links,
                     {options.precision == "single" ? 4 : 8, options.action, options.boundary, options.u0, loaded.part});
  bar->step_done(3, "links written");
  if (job.is_root())
    fmt::print("wrote {} and {}: {} {}, {}\n", smear::fat_path(options.prefix), smear::long_path(options.prefix), extents_text(lattice),
               options.action, options.u0 ? fmt::format("u0 {}", *options.u0) : fmt::format("epsilon {}", epsilon));
}

}  // namespace

void add_gauge_smear(CLI::App& gauge) {
  CLI::App* command = gauge.add_subcommand("smear", "Make the fat and long links of a staggered action");
  const auto options = std::make_shared<SmearOptions>();
  command->add_option("IN", options->in, "Gauge configuration")->required();
  command->add_option("OUT_PREFIX", options->prefix, "Writes OUT_PREFIX.fat and OUT_PREFIX.long (SciDAC)")->required();
  command->add_option("--action", options->action, "hisq (default) or asqtad")->check(CLI::IsMember(staggered::smearing_actions()));
  CLI::Option* epsilon = command->add_option("--naik-epsilon", options->naik_epsilon, "HISQ: correction of the Naik term (default 0)");
  command->add_option("--mass", options->mass, "HISQ: epsilon from this quark mass instead")->excludes(epsilon);
  command->add_option("--u0", options->u0, "asqtad: tadpole factor");
  command
      ->add_option_function<std::vector<std::string>>(
          "--boundary",
          [options](const std::vector<std::string>& values) {
            try {
              for (const std::string& value : values) options->boundary = parse_boundary(value, options->boundary);
            } catch (const BadValue& bad) {
              throw Error(ErrorKind::input, "--boundary", bad.what(), bad.allowed());
            }
          },
          "Fermions' boundary conditions, folded into the links (default t=antiperiodic)")
      ->type_name("D=B,...");
  command->add_option("--precision", options->precision, "Precision of the files (default double)")
      ->check(CLI::IsMember({"single", "double"}));
  command->add_flag("--reunitarize", options->reunitarize, "Project the configuration back to SU(3) first");
  add_coord_flag(*command, "--lattice", options->lattice, "Extents of a bare LIME file that states none", 1);
  add_ranks_flag(*command, options->ranks);
  add_coord_flag(*command, "--blocks", options->blocks, "Cut into that many blocks (default: t cut by the number of workers)", 1);
  add_session_flags(*command, options->session);
  command->callback([options] { run(*options); });
}

}  // namespace quarkstar::app
