#pragma once
// What started this process, and whether MPI sees the others that were started with it.
#include <functional>
#include <string>

namespace quarkstar::runtime::mpi {

/// What the environment says.
struct Launch {
  bool wants_mpi = false;  ///< MPI is to be initialised
  std::string by{};        ///< the variable that tells of other processes; empty: none does
  int rank = 0;            ///< 0 where nothing tells
  int size = 1;            ///< processes that were started, at least
};

/// The value of a variable, or nullptr, as std::getenv.
using Environment = std::function<const char*(const char* variable)>;

/// Knows Open MPI's mpirun (OMPI_COMM_WORLD_SIZE), MPICH's and `srun --mpi=pmi2` (PMI_SIZE), `srun --mpi=pmix` (PMIX_RANK), and Slurm
/// without any of them (SLURM_STEP_NUM_TASKS). $QUARKSTAR_MPI: 1 or 0 decide in their place.
/// Throws Error(environment) where srun has started several processes that nothing connects, Error(input) where $QUARKSTAR_MPI is something
/// else.
Launch read_launch(const Environment& variable);

/// Throws Error(environment) where MPI connects fewer processes than were started: a library other than the launcher's makes each of them a
/// job of its own, and all would write the same files.
void require_all_connected(const Launch& launch, int size);

}  // namespace quarkstar::runtime::mpi
