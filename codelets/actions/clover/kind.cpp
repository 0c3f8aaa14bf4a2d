#include "codelets/actions/clover/kind.hpp"

#include "codelets/actions/clover/action.hpp"
#include "codelets/actions/clover/site_matrices.hpp"

namespace quarkstar {

ActionSetting csw_setting(double initial) {
  return {.key = "csw",
          .metavar = "C",
          .help = "Clover and twisted mass: coefficient of the clover term (default 1 and 0)",
          .initial = initial};
}

CloverKind::CloverKind() {
  name = "clover";
  title = "Clover";
  flops += 504;
  link_reals = {18, 12};
  settings.push_back(csw_setting(1));
  std::erase_if(solver_settings, [](std::string_view key) { return key.starts_with("schwarz"); });
}

std::unique_ptr<Action> CloverKind::action(const HostGauge& gauge, const ActionRun& run) const {
  const double mu = setting("mu") != nullptr ? get<double>(run.settings, "mu") : 0;
  return std::make_unique<clover::Action>(gauge, parameters(run), clover::Parameters{get<double>(run.settings, "csw"), mu});
}

double CloverKind::term_bytes(const SettingValues& values, Precision precision, Schur schur) const {
  return get<double>(values, "csw") == 0 ? 0 : clover::SiteMatrices::bytes_per_site(precision, schur == Schur::symmetric);
}

const ActionKind& clover_kind() {
  static const CloverKind kind;
  return kind;
}

}  // namespace quarkstar
