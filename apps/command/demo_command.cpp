// quarkstar demo: from nothing to a pion mass
#include "apps/command/commands.hpp"
#include "apps/command/interrupt.hpp"
#include "apps/command/print_tables.hpp"
#include "apps/report/report_html.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/generate_run.hpp"
#include "apps/run/outputs.hpp"
#include "apps/run/session_defaults.hpp"
#include "apps/run/solve_run.hpp"
#include "apps/run/statistics.hpp"
#include "runtime/system/atomic_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>

namespace quarkstar::app {
namespace {

struct DemoOptions {
  std::string out = "demo-output";
  runtime::SessionOptions session = session_defaults();
};

/// 8^3x16 at beta 6.0, where the plaquette is known to be near 0.594.
GenerateConfig demo_chain(const runtime::SessionOptions& session) {
  GenerateConfig config;
  config.lattice = {8, 8, 8, 16};
  config.heatbath.beta = 6.0;
  config.heatbath.seed = 20;
  config.sweeps = 240;
  config.thermalization = 80;
  config.session = session;
  return config;
}

void run_demo(const DemoOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const OutputFolder folder(options.out);
  CommandWatch watch;
  const GenerateConfig chain = demo_chain(options.session);
  fmt::print("1. A gauge configuration: {}, beta {}, {} sweeps of heatbath and overrelaxation\n", extents_text(chain.lattice),
             chain.heatbath.beta, chain.sweeps);
  std::fflush(stdout);
  const Generated generated = generate(chain, watch);
  const Estimate plaquette = binned_estimate(generated.plaquettes);
  fmt::print("   plaquette {} over the last {} sweeps (known: near 0.594)\n", estimate_text(plaquette.mean, plaquette.error),
             generated.plaquettes.size());

  RunReport report;
  report.config.gauge = folder.file("configuration.ildg");
  report.config.out = options.out;
  report.config.propagator_files = {"hdf5", "scidac"};
  report.config.session = options.session;
  save_gauge(report.config.gauge, generated.gauge, {.format = "ildg", .precision = "double"});
  describe_machine(report);
  const ActionKind& action = *report.config.action;
  report.gauge = load_gauge(report.config.gauge).summary();
  fmt::print("2. A quark propagator: {}, {} {}, antiperiodic in t, {} columns\n", action.title, action.mass_key,
             report.config.masses().front(), action.components);
  std::fflush(stdout);
  const Propagators propagators = solve_source(links_at_hand(generated.gauge), generated.gauge.extents, report, watch, print_plan);
  report.total_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  print_report(report);
  const std::vector<std::string> written = write_outputs(folder, report, propagators);
  AtomicFile picture(folder.file("plots.svg"));
  picture.append(report_svg(report));
  picture.commit();
  fmt::print("\n3. Done in {:.1f} s. Report: {}\n", report.total_seconds, written.back());
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("demo", "Generate a configuration, solve on it, print the pion's effective mass (under two minutes)");
  const auto options = std::make_shared<DemoOptions>();
  command->add_option("--out", options->out, "Folder for the results (default demo-output)")->type_name("DIR");
  add_session_flags(*command, options->session);
  command->callback([options] { run_demo(*options); });
}

}  // namespace quarkstar::app
