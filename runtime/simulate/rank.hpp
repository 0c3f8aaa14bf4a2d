#pragma once
// Ranks of a simulated job: the processes of SimGrid's MPI, which are actors of one process of this machine, each with
// globals and a StarPU of its own. What is declared here is defined in simulations only; a real run uses MpiThread.
#include <functional>

#ifndef QUARKSTAR_SIMULATION
#include <thread>
#endif

namespace quarkstar::runtime::simulate {

/// Which rank of the simulated job this one is (the first, where one stands for all), and how many; 0 and 1 where there is no job.
int rank();
int ranks();

/// What a rank does, given to SimGrid's MPI as main(): runs `program` on an actor beside the one that MPI knows, and
/// returns its exit code.
int run_rank(int argc, char** argv, int (*program)(int argc, char** argv));

/// What a thread that calls MPI is in a real run: work for the actor that SimGrid's MPI knows as this rank, by which it
/// finds the receiver of a message; where this rank stands for all, an actor of its own. One at a time.
class RankActor {
 public:
  RankActor() = default;
  explicit RankActor(std::function<void()> work);
  void join();
};

#ifdef QUARKSTAR_SIMULATION
using MpiThread = RankActor;
#else
using MpiThread = std::thread;
#endif

}  // namespace quarkstar::runtime::simulate
