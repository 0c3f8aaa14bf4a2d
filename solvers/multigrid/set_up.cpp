#include "solvers/multigrid/set_up.hpp"

#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace quarkstar {

void tell_of_multigrid(const std::string& what) {
  if (runtime::mpi::Job::current().is_root()) spdlog::warn("{}", what);
}

std::unique_ptr<const Multigrid> set_up(PreparedAction& fine, const MultigridSettings& settings, double mass) {
  MultigridSettings wanted = settings;
  for (const bool again : {false, true}) {
    try {
      return std::make_unique<const Multigrid>(fine, wanted, mass);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::numerical || (again && !settings.fallback)) throw;
      tell_of_multigrid(fmt::format("{}; {}", error.what(),
                                    again ? fmt::format("{} solves instead", fallback_solver) : "once more, from twice as many steps"));
    }
    wanted.setup_steps *= 2;
    wanted.files.load = {};
  }
  return nullptr;
}

}  // namespace quarkstar
