#include "solvers/settings.hpp"

#include "runtime/system/error.hpp"
#include "solvers/eigen/recycled_space.hpp"
#include "solvers/krylov/gcr_steps.hpp"

#include <fmt/format.h>

namespace quarkstar {

void check_limits(const SolverSettings& settings) {
  if (!(settings.tolerance > 0) || settings.tolerance >= 1)
    throw Error(ErrorKind::input, Parameter("tol"), fmt::format("tolerance {}", settings.tolerance), "give a number between 0 and 1");
  if (settings.max_iterations < 1)
    throw Error(ErrorKind::input, Parameter("max-iterations"), "an iteration count below 1", "give a positive number");
  constexpr int longest_batch = 1024;
  if (settings.check_every < 1 || settings.check_every > longest_batch)
    throw Error(ErrorKind::input, Parameter("check-every"), fmt::format("{} iterations between two looks", settings.check_every),
                fmt::format("give 1 to {}", longest_batch));
  if (settings.restart < 1 || settings.restart > gcr_steps::most_directions)
    throw Error(ErrorKind::input, Parameter("restart"), fmt::format("{} directions", settings.restart),
                fmt::format("give 1 to {}", gcr_steps::most_directions));
  if (settings.recycle != 0 && (settings.recycle < RecycledSpace::least_modes || settings.recycle > RecycledSpace::most_modes))
    throw Error(ErrorKind::input, Parameter("recycle"), fmt::format("{} modes", settings.recycle),
                fmt::format("give {} to {}, or 0 for none", RecycledSpace::least_modes, RecycledSpace::most_modes));
  if (settings.schwarz && settings.schwarz->steps < 1)
    throw Error(ErrorKind::input, Parameter("schwarz-steps"), fmt::format("{} steps", settings.schwarz->steps), "give a positive number");
  constexpr int most_steps = 1000;
  if (settings.inner && (settings.inner->steps < 1 || settings.inner->steps > most_steps))
    throw Error(ErrorKind::input, Parameter("inner-steps"), fmt::format("{} steps", settings.inner->steps),
                fmt::format("give 1 to {}", most_steps));
}

}  // namespace quarkstar
