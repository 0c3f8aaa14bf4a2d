#pragma once
// The one place that knows whether tasks run or their time is computed. In a build for simulation (QUARKSTAR_SIMULATION) the same program
// runs on StarPU over SimGrid: the task graph, the policies and the copies are the real ones, no kernel is executed, and clocks show
// the time of the simulated machine. docs/howto/simulation.md has the models.
#include "runtime/gpu/cuda.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/simulate/machine.hpp"
#include "runtime/system/topology.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

struct starpu_task;

namespace quarkstar::runtime {

struct Program;

namespace simulate {

#ifdef QUARKSTAR_SIMULATION
inline constexpr bool active = true;
#else
inline constexpr bool active = false;
#endif

/// The machine that this process simulates; to be set before the first session. Without one machine() throws Error(internal).
void use(Machine machine);
const Machine& machine();

// ---- the machine as the session sees it
Topology topology();
std::vector<GpuDescription> gpus();

/// Memory that costs nothing until it is touched, as no kernel ever does. nullptr: none.
void* allocate(std::size_t bytes);
void deallocate(void* memory, std::size_t bytes);

// ---- tasks
/// Whether a codelet has a GPU version in a build with CUDA: all but those that read or write fields of the host, and a few scalar steps.
bool has_gpu_version(std::string_view codelet);

/// What it means that a codelet is a program of many steps: how long it runs beside how many teams (kernel_us), and
/// what is left to do when it has.
struct Composite {
  double (*microseconds)(const void* arguments, int worker, int teams);
  void (*finish)(const void* arguments, int worker, double begin_us, double end_us);
};
void describe(const Codelet& codelet, Composite composite);

/// CPU workers of the same domain, the worker among them; 1 for a GPU.
int teams_beside(int worker);
/// What a task costs beside the runtime, while `teams` share the domain of a CPU worker. The tasks of a refresh that is
/// not due find nothing to do.
double kernel_us(const Codelet& codelet, const Cost& cost, int worker, int teams);
/// From here on refreshes are submitted that are due, or not: no residual says so.
void set_refresh_due(bool due);
Cost cost_of(Cost cost, const Placement& placement);

/// Lets simulated time pass.
void pause(double microseconds);

/// Microseconds of a task on a worker while all teams of its domain are at work, above 0: predicted, and simulated but
/// where spend() is called.
double task_us(starpu_task* task, int worker);
/// Lets the calling CPU worker spend the time of its task, which depends on who is at work meanwhile
/// (Machine::busy_teams_share).
void spend(starpu_task* task, int worker);
/// Lets the submitting thread pay for the task, and has it recorded as an event when its time is over.
void prepare(starpu_task* task);

/// Microseconds of the steps one after the other on one worker, beside so many teams.
double program_us(const Program& program, int worker, int teams);
/// Records the steps one after the other as events, each with its part of the interval.
void record_program(const Program& program, int worker, double begin_us, double end_us);

}  // namespace simulate
}  // namespace quarkstar::runtime
