// Built for simulations only (cmake/layers.cmake).
#include "runtime/simulate/rank.hpp"

#include "runtime/simulate/rank_times.hpp"
#include "runtime/simulate/waiting.hpp"

#include <mpi.h>
#include <simgrid/actor.h>
#include <starpu.h>

#include <array>
#include <mutex>
#include <utility>

namespace quarkstar::runtime::simulate {
namespace {

int own_rank = 0, all_ranks = 1;

/// Where the actor that MPI knows waits for work, until the program has ended.
struct Desk {
  Mutex mutex;
  Condition changed;
  std::function<void()> work;
  bool over = false;
};

/// Never destroyed: SimGrid has gone when the destructors of this rank's globals run.
Desk& desk() {
  static Desk* const only = new Desk;
  return *only;
}

struct Program {
  int argc;
  char** argv;
  int (*run)(int argc, char** argv);
  int exit_code = 0;
};

void* run_program(void* argument) {
  auto* program = static_cast<Program*>(argument);
  program->exit_code = program->run(program->argc, program->argv);
  const std::lock_guard lock(desk().mutex);
  desk().over = true;
  desk().changed.notify_all();
  return nullptr;
}

/// Of a rank that stands for all.
starpu_pthread_t own_actor;

void* do_work(void*) {
  desk().work();
  return nullptr;
}

void serve() {
  std::unique_lock lock(desk().mutex);
  for (;;) {
    desk().changed.wait(lock, [] { return desk().over || desk().work; });
    if (!desk().work) return;
    lock.unlock();
    desk().work();
    lock.lock();
    desk().work = nullptr;
    desk().changed.notify_all();
  }
}

}  // namespace

int rank() { return own_rank; }
int ranks() { return stands_for_ranks() ? ranks_stood_for() : all_ranks; }

int run_rank(int argc, char** argv, int (*program)(int argc, char** argv)) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  // StarPU gives each of its own actors an array for what is a thread's own (MAX_TSD in its common/thread.h, 16), and
  // expects one here.
  std::array<void*, 17> own_data{};
  sg_actor_set_data(sg_actor_self(), own_data.data());
  Program started{argc, argv, program};
  starpu_pthread_t actor;
  starpu_pthread_create(&actor, nullptr, run_program, &started);
  serve();
  MPI_Finalize();
  return started.exit_code;
}

RankActor::RankActor(std::function<void()> work) {
  if (stands_for_ranks()) {
    desk().work = std::move(work);
    starpu_pthread_create(&own_actor, nullptr, do_work, nullptr);
    return;
  }
  const std::lock_guard lock(desk().mutex);
  desk().work = std::move(work);
  desk().changed.notify_all();
}

void RankActor::join() {
  if (stands_for_ranks()) {
    starpu_pthread_join(own_actor, nullptr);
    return;
  }
  std::unique_lock lock(desk().mutex);
  desk().changed.wait(lock, [] { return !desk().work; });
}

}  // namespace quarkstar::runtime::simulate

/// StarPU asks for it where SimGrid's MPI runs: the hosts of a rank have its number in their names.
extern "C" int starpu_mpi_world_rank(void) { return quarkstar::runtime::simulate::rank(); }
