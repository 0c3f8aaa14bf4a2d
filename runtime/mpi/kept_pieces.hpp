#pragma once

namespace quarkstar::runtime::mpi {

class Job;

/// Gives back the pieces of GPU memory (runtime/mpi/gpu_peers.hpp) that sessions of a job have left for the next one: those of a guest,
/// whose process goes on when the job has ended. Collective, after the last session: nothing is under way in them.
void free_kept_pieces(Job& job);

}  // namespace quarkstar::runtime::mpi
