#pragma once
// Scalar steps on a GPU: one thread, but the numbers stay where the fields are.
#include <type_traits>

#include "runtime/cuda.hpp"
#include "runtime/cuda_launch.cuh"
#include "runtime/scalar.hpp"

namespace quarkstar::runtime::detail {

/// Partial sums that one launch gathers; more take several launches.
inline constexpr int partials_a_launch = 128;

struct PartialPointers {
  const BinnedSum* pointers[partials_a_launch];
};

template <class State, class Step>
__global__ void scalar_step_kernel(State* state, double* history, const __grid_constant__ PartialPointers partials, int count, int sums,
                                   int most_steps, BinnedSum* carried, bool first, bool last) {
  wait_for_predecessors();
  // A step goes from one number to the next. Taken from memory each of them would be a wait, so all come at once and go back at once.
  using Word = unsigned long long;
  constexpr int words = sizeof(State) / sizeof(Word);
  static_assert(sizeof(State) % sizeof(Word) == 0 && alignof(State) == alignof(Word) && std::is_trivially_copyable_v<State>);
  __shared__ Word copy[words];
  __shared__ double values[most_sums_on_cuda];
  auto* state_words = reinterpret_cast<Word*>(state);
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < words; i += most_sums_on_cuda) copy[i] = state_words[i];
  if (thread < sums) {
    BinnedSum total = first ? BinnedSum::zero() : carried[thread];
    for (int p = 0; p < count; ++p) total.merge(partials.pointers[p][thread]);
    carried[thread] = total;
    values[thread] = value_of(total);
  }
  __syncthreads();
  State& here = reinterpret_cast<State&>(copy);
  if (!last || idles<Step>(here.status)) return;
  if (thread == 0) take_step<Step>(here, values, history, most_steps);
  __syncthreads();
  for (int i = thread; i < words; i += most_sums_on_cuda) state_words[i] = copy[i];
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
