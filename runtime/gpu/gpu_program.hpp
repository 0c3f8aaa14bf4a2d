#pragma once
// A program over several GPUs.
#include "runtime/gpu/lane_schedule.hpp"
#include "runtime/gpu/sum_exchange.hpp"
#include "runtime/graph/program.hpp"
#include "runtime/mpi/mailbox_plan.hpp"
#include "runtime/simulate/lane_times.hpp"

#include <cstddef>
#include <vector>

namespace quarkstar::runtime {

/// From submission to its run.
struct GpuProgram {
  Program program;
  LaneSchedule schedule;
  std::vector<int> owners;                ///< worker of each device of the schedule
  std::vector<int> cuda_devices;          ///< its number
  std::vector<std::size_t> bytes;         ///< of each buffer: handles may go while their last tasks wait
  std::vector<simulate::Interval> times;  ///< of each scheduled step, in simulations
  MailboxPlan mailboxes;
  bool has_messages = false;
  SumExchange over_ranks{};           ///< for steps whose sums are of all ranks
  bool leaves_out_refreshes = false;  ///< those behind a scalar step are conditional parts of the graph
};

#ifdef QUARKSTAR_CUDA
/// The task that has the address of such a program as its arguments: enqueues it, as a graph where one is kept, and
/// deletes it.
void run_across_gpus(Call& call);
#endif

}  // namespace quarkstar::runtime
