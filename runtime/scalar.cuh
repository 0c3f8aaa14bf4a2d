#pragma once
// Scalar steps on a GPU: one thread, but the numbers stay where the fields are.
#include "runtime/cuda.hpp"
#include "runtime/cuda_launch.cuh"
#include "runtime/scalar.hpp"

namespace quarkstar::runtime::detail {

/// Sums that a step on a GPU can gather: a thread each.
inline constexpr int most_sums_on_cuda = 64;

/// Partial sums that one launch gathers; more take several launches.
inline constexpr int partials_a_launch = 128;

struct PartialPointers {
  const BinnedSum* pointers[partials_a_launch];
};

template <class State, class Step>
__global__ void scalar_step_kernel(State* state, double* history, const __grid_constant__ PartialPointers partials, int count, int sums,
                                   int most_steps, BinnedSum* carried, bool first, bool last) {
  wait_for_predecessors();
  if (idles<Step>(state->status)) return;
  // One thread a sum; thread 0 then takes the step.
  __shared__ double values[most_sums_on_cuda];
  const int s = static_cast<int>(threadIdx.x);
  if (s < sums) {
    BinnedSum total = first ? BinnedSum::zero() : carried[s];
    for (int p = 0; p < count; ++p) total.merge(partials.pointers[p][s]);
    carried[s] = total;
    values[s] = value_of(total);
  }
  __syncthreads();
  if (s == 0 && last) take_step<Step>(*state, values, history, most_steps);
}

template <class State, class Step>
void run_scalar_step_on_cuda(Call& call) {
  const auto& arguments = call.arguments<ScalarArguments>();
  constexpr int slot = 1;
  auto* carried = static_cast<BinnedSum*>(worker_memory(slot, most_sums_on_cuda * sizeof(BinnedSum)));
  int done = 0;
  do {
    PartialPointers partials{};
    const int count = std::min(arguments.partials - done, partials_a_launch);
    for (int p = 0; p < count; ++p) partials.pointers[p] = call.buffer<const BinnedSum>(2 + done + p);
    launch_overlapping(scalar_step_kernel<State, Step>, 1, most_sums_on_cuda, static_cast<cudaStream_t>(call.stream()), call.buffer<State>(0),
                       call.buffer<double>(1), partials, count, arguments.sums, arguments.most_steps, carried, done == 0,
                       done + count == arguments.partials);
    done += count;
  } while (done < arguments.partials);
  check_launch(Step::name);
}

}  // namespace quarkstar::runtime::detail

/// In a .cu: makes the GPU version of one step.
#define QUARKSTAR_SCALAR_STEP_ON_CUDA(State, Step) \
  template void quarkstar::runtime::detail::run_scalar_step_on_cuda<State, Step>(quarkstar::runtime::Call&);
