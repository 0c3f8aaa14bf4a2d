#include "solvers/multigrid/set_up.hpp"

#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace quarkstar {

void tell_of_multigrid(const std::string& what) {
  if (runtime::mpi::Job::current().is_root()) spdlog::warn("{}", what);
}

namespace {

/// Where the set-up took more cycles than it was asked for, or will make solves slow.
void tell_how_good(const Multigrid& multigrid) {
  const double left = multigrid.verification().left;
  const int further = multigrid.further_cycles();
  if (further > 0 && runtime::mpi::Job::current().is_root())
    spdlog::info("multigrid's null vectors were poor after {} cycles and have had {} more", multigrid.cycles() - further, further);
  if (left > Multigrid::most_left)
    tell_of_multigrid(fmt::format(
        "multigrid's set-up is poor: {} iterations leave {:.1e} of a residual, where a good one leaves less than {:.0e}; solves will be "
        "slow or stall. Give more setup-steps, null-vectors or smoother-steps, or a heavier quark",
        Multigrid::probe_iterations, left, Multigrid::most_left));
}

}  // namespace

std::unique_ptr<const Multigrid> set_up(PreparedAction& fine, const MultigridSettings& settings, double mass) {
  MultigridSettings wanted = settings;
  for (const bool again : {false, true}) {
    try {
      auto multigrid = std::make_unique<const Multigrid>(fine, wanted, mass);
      tell_how_good(*multigrid);
      return multigrid;
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
