// quarkstar eigen
#include "apps/command/commands.hpp"
#include "apps/command/interrupt.hpp"
#include "apps/command/print_tables.hpp"
#include "apps/run/eigen_run.hpp"
#include "apps/run/parse.hpp"
#include "runtime/mpi/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

namespace quarkstar::app {
namespace {

struct EigenOptions {
  EigenRun run;
  bool has_block = false;
  Assignments flags = std::make_shared<std::vector<Assignment>>();
};

/// Settings of solves that say what the operator is, where it is, and what runs.
bool is_of_operator(std::string_view key) {
  constexpr std::string_view keys[] = {"gauge",   "lattice",   "reunitarize", "action",       "boundary", "schur",
                                       "no-tune", "blocks",    "ranks",       "rank-weights", "policy",   "watts",
                                       "devices", "cpu-share", "gpu-memory",  "cpu-memory",   "gpus",     "share-gpus",
                                       "workers", "threads",   "worker-mode", "throttle",     "watchdog", "json"};
  if (std::find(std::begin(keys), std::end(keys), key) != std::end(keys)) return true;
  const std::vector<const ActionKind*>& kinds = action_kinds();
  return std::any_of(kinds.begin(), kinds.end(), [key](const ActionKind* kind) { return kind->setting(key) != nullptr; });
}

void eigen(const EigenOptions& options) {
  EigenRun run = options.run;
  apply_settings(run.config, *options.flags);
  if (const int slices = run.config.action->slices(run.config.settings); !options.has_block && slices > 1)
    run.settings.block = std::clamp(Basis::most_block_for(slices), 1, run.settings.block);
  CommandWatch watch;
  const std::string out = run.out, json = run.config.json;
  const int block = run.settings.block;
  const EigenReport report = run_eigen(std::move(run), watch, print_plan);
  if (!runtime::mpi::Job::current().is_root()) return;
  fmt::print("{:>4}  {:<22}  {}\n", "mode", "eigenvalue", "|A v - lambda v|");
  for (std::size_t i = 0; i < report.result.values.size(); ++i)
    fmt::print("{:>4}  {:<22.15g}  {:.1e}\n", i, report.result.values[i], report.residuals[i]);
  const LanczosState& state = report.result.state;
  fmt::print("{} restarts, window {:.4g} to {:.4g}, degree {}, {} applications to blocks of {}, {:.2f} s\n", state.restarts,
             state.window.low, state.window.high, state.degree, state.applications, block, report.seconds);
  if (const auto& measured = report.break_even) {
    const std::optional<double> paid = measured->right_hand_sides(report.seconds_of_all);
    fmt::print("conjugate gradient for {} {} to {:g}: {} iterations in {:.2g} s without these modes, {} in {:.2g} s with them: {}\n",
               report.run.config.action->mass_key, report.mass, measured->tolerance, measured->without.iterations,
               measured->without.seconds, measured->with.iterations, measured->with.seconds,
               paid ? fmt::format("they have paid after {:.0f} right-hand sides", *paid) : "they save no time");
  } else if (report.serves_solves)
    fmt::print("what these modes save was not measured: solves did not end in the time that the modes took\n");
  fmt::print("wrote {}\n", out);
  if (!json.empty()) fmt::print("wrote {}\n", json);
}

}  // namespace

void add_eigen(CLI::App& app) {
  CLI::App* command = app.add_subcommand("eigen", "Compute eigenvectors of the even-odd operator, for deflated solves, or of gamma_5 M");
  const auto options = std::make_shared<EigenOptions>();
  EigenSettings& settings = options->run.settings;
  command->add_option("--modes", settings.modes, "How many")->required();
  command
      ->add_option("--out", options->run.out,
                   "File for eigenvalues and vectors: SciDAC where it ends in .lime or .scidac, else HDF5; OUT.restart while it is made")
      ->required()
      ->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "--operator", [options](const std::string& name) { options->run.target.of = parse_modes_of(name); },
          "Whose: even-odd (default), A = -D_eo D_oe (staggered) or Mh^+ Mh; or gamma5, gamma_5 M on all sites, with signs")
      ->check(CLI::IsMember({"even-odd", "gamma5"}));
  command
      ->add_option_function<std::string>(
          "--end", [options](const std::string& name) { options->run.target.end = parse_spectrum_end(name); },
          "Which: those with the lowest (default) or the highest |lambda|")
      ->check(CLI::IsMember({"lowest", "highest"}));
  command
      ->add_option_function<std::string>(
          "--store", [options](const std::string& name) { options->run.store = parse_precision(name); },
          "Precision of the vectors in the file, and of solves that hold them: double (default), single or half")
      ->check(CLI::IsMember({"double", "single", "half"}));
  command
      ->add_option_function<std::string>(
          "--basis-precision", [options](const std::string& name) { options->run.settings.basis_precision = parse_precision(name); },
          "In which the basis is held: double (default), or single, in half the memory (with --tol below 1e-6 in some two thirds)")
      ->check(CLI::IsMember({"double", "single"}));
  command
      ->add_option_function<std::string>(
          "--basis-memory", [options](const std::string& name) { options->run.basis_memory = parse_basis_memory(name); },
          "Where the basis of GPUs is: device (default), or host: copied to the GPUs for each use")
      ->check(CLI::IsMember({"device", "host"}));
  command->add_option("--tol", settings.tolerance, "Largest |A v - lambda v| of a mode with |v| = 1 (default 1e-10)");
  command->add_option("--block", settings.block,
                      "Vectors that A is applied to together, 1 to 16, of L_s slices to 32 / L_s (default 4, or that)");
  command->add_option("--basis", settings.basis, "Vectors of the largest basis (default: half as many again as modes)");
  command->add_option("--degree", settings.degree, "Of the Chebyshev filter (default: from the window)");
  command->add_option("--window-low", settings.window.low, "Where the filter's window begins, above the last mode (default: estimated)");
  command->add_option("--window-high", settings.window.high, "Where it ends, above the spectrum (default: estimated)");
  for (const Setting& setting : run_settings())
    if (is_of_operator(setting.key)) add_setting_flag(*command, setting, options->flags);
  command->callback([options, command] {
    options->has_block = command->count("--block") > 0;
    eigen(*options);
  });
}

}  // namespace quarkstar::app
