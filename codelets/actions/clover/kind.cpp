#include "codelets/actions/clover/kind.hpp"

#include "codelets/actions/clover/site_matrices.hpp"

namespace quarkstar {

CloverKind::CloverKind(double initial_csw) {
  name = "clover";
  title = "Clover";
  flops += 504;
  link_reals = {18, 12};
  settings.push_back({.key = "csw",
                      .metavar = "C",
                      .help = "Clover and twisted mass: coefficient of the clover term (default 1 and 0), in space divided by xi0",
                      .initial = initial_csw});
  settings.push_back({.key = "csw-time", .metavar = "C", .help = "The coefficient in planes with time (default: that of --csw)"});
  std::erase_if(solver_settings, [](std::string_view key) { return key.starts_with("schwarz"); });
}

std::unique_ptr<Action> CloverKind::action(const HostGauge& gauge, const ActionRun& run) const {
  return std::make_unique<clover::Action>(gauge, parameters(run), term_parameters(run.settings));
}

clover::Parameters CloverKind::term_parameters(const SettingValues& values) const {
  clover::Parameters term{.csw = get<double>(values, "csw")};
  if (const double* csw_time = std::get_if<double>(&value(values, "csw-time"))) term.csw_time = *csw_time;
  return term;
}

double CloverKind::term_bytes(const SettingValues& values, Precision precision, Schur schur) const {
  return term_parameters(values).has_clover() ? clover::SiteMatrices::bytes_per_site(precision, schur == Schur::symmetric) : 0;
}

const ActionKind& clover_kind() {
  static const CloverKind kind;
  return kind;
}

}  // namespace quarkstar
