#include "apps/run/solve_remedy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace quarkstar::app {

std::string remedy_for(StopReason reason, const RunConfig& config) {
  const ActionKind& kind = *config.action;
  switch (reason) {
    case StopReason::iteration_limit:
      return (config.checkpoint.empty() ? "" : fmt::format("start it again to go on from the restart files in {}, ", config.checkpoint)) +
             "raise --max-iterations, or " +
             (kind.names_masses ? fmt::format("take a larger {}", kind.mass_key)
                                : fmt::format("move {} away from its critical value", kind.mass_key));
    case StopReason::not_finite:
      return fmt::format("{}, and {}",
                         kind.has_own_links(config.settings) ? fmt::format("check the files of --{}", fmt::join(kind.link_files, " and --"))
                                                             : "check the links with `quarkstar gauge info`",
                         kind.mass_key);
    case StopReason::stagnation:
      return "loosen --tol, use --precision double, or another --solver";
    default:
      return "try another --solver, or --precision double";
  }
}

}  // namespace quarkstar::app
