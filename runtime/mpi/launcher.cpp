#include "runtime/mpi/launcher.hpp"

#include "runtime/system/error.hpp"
#include "runtime/system/number_variable.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <optional>

namespace quarkstar::runtime::mpi {
namespace {

constexpr const char* slurm_size = "SLURM_STEP_NUM_TASKS";

/// The first one that is set tells of the job's launcher: mpirun inside an allocation leaves Slurm's variables, which count its daemons.
struct Launcher {
  const char* present;  ///< the variable that shows that it started this process
  const char* size;
  const char* rank;
  bool always;  ///< whether there may be others although no size is told, or it is 1
};
constexpr Launcher launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", false},
                                  {"PMI_SIZE", "PMI_SIZE", "PMI_RANK", false},
                                  {"PMIX_RANK", slurm_size, "PMIX_RANK", true},
                                  {"PMI_RANK", slurm_size, "PMI_RANK", true}};

int launched_number(const Environment& variable, const char* name, int otherwise) {
  const char* text = variable(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

}  // namespace

Launch read_launch(const Environment& variable) {
  Launch launch;
  for (const Launcher& launcher : launchers) {
    if (variable(launcher.present) == nullptr) continue;
    launch.by = launcher.present;
    launch.size = launched_number(variable, launcher.size, 1);
    launch.rank = launched_number(variable, launcher.rank, 0);
    launch.wants_mpi = launcher.always || launch.size > 1;
    break;
  }
  const std::optional<std::int64_t> wish = runtime::number_in("QUARKSTAR_MPI", variable("QUARKSTAR_MPI"), 1);
  if (wish) launch.wants_mpi = *wish == 1;
  if (!launch.by.empty()) return launch;
  launch.size = launched_number(variable, slurm_size, 1);
  launch.rank = launched_number(variable, "SLURM_PROCID", 0);
  if (launch.size <= 1) return launch;
  launch.by = slurm_size;
  if (!wish)
    throw Error(
        ErrorKind::environment, "srun",
        fmt::format("{} processes were started that nothing connects: each would run alone and write the same files", launch.size),
        "use `srun --mpi=pmix` (`srun --mpi=list` shows what there is) or mpirun; with QUARKSTAR_MPI=0 each runs alone all the same");
  return launch;
}

void require_all_connected(const Launch& launch, int size) {
  if (size >= launch.size) return;
  throw Error(ErrorKind::environment, "MPI",
              fmt::format("{} processes were started ({}), but the MPI library of this program connects {}", launch.size, launch.by, size),
              "start them with the mpirun of that library, or with `srun --mpi=pmix`; with QUARKSTAR_MPI=0 each runs alone");
}

}  // namespace quarkstar::runtime::mpi
