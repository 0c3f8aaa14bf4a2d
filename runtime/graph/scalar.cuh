#pragma once
// Scalar steps on a GPU: one thread, or one a vector, but the numbers stay where the fields are.
#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"
#include "runtime/gpu/gpu_sums.cuh"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/gpu/sum_exchange.cuh"
#include "runtime/graph/scalar.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace quarkstar::runtime::detail {

/// Partial sums that one launch gathers; more take several launches.
inline constexpr int partials_a_launch = 128;
/// Each finishes a sum at a time; together they fetch the state. More than 16 would leave a thread too few registers for the steps.
inline constexpr int least_scalar_warps = 4, most_scalar_warps = 16;
static_assert(32 * least_scalar_warps >= most_sums_on_cuda);

/// What a launch gathers.
struct ScalarSums {
  const BinnedSum* partials[partials_a_launch];
  int count, sums;
  UnfinishedSums unfinished;                 ///< at most most_sums_on_cuda of them
  int unfinished_partial, first_unfinished;  ///< where they go: of which partial, from which of its sums on
  BinnedSum* carried;                        ///< from one launch to the next
  bool first, last;
  SumExchange exchange;                  ///< devices = 0: none
  unsigned long long refresh_condition;  ///< 0: none
};

template <class State, class Step>
__global__ void __launch_bounds__(32 * most_scalar_warps, 1)
    scalar_step_kernel(State* state, double* history, int most_steps, const __grid_constant__ ScalarSums work) {
  const bool exchanges = work.last && work.exchange.devices > 0;
  // A kernel that waits for other devices lets none take room meanwhile.
  if (!exchanges) let_successors_start();
  wait_for_predecessors_alone();
  // A step goes from one number to the next. Taken from memory each of them would be a wait, so all come at once and go
  // back at once.
  using Word = unsigned long long;
  constexpr bool in_place = requires { State::has_tail; };
  constexpr int words = in_place ? 0 : sizeof(State) / sizeof(Word);
  static_assert(sizeof(State) % sizeof(Word) == 0 && alignof(State) == alignof(Word) && std::is_trivially_copyable_v<State>);
  __shared__ Word copy[words > 0 ? words : 1];
  __shared__ double values[most_sums_on_cuda];
  __shared__ BinnedSum finished[most_sums_on_cuda], totals[most_sums_on_cuda];
  auto* state_words = reinterpret_cast<Word*>(state);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const auto gather = [&] {
    // What does not depend on each other is asked for together.
    const UnfinishedSums& unfinished = work.unfinished;
    int s = thread / 32;
    unsigned long long seen = s < unfinished.count ? seen_in(unfinished.tables[s]) : 0;
    const bool finishes = unfinished.count > 0 && (unfinished.idle == nullptr || *unfinished.idle == 0);
    for (int i = thread; i < words; i += threads) copy[i] = state_words[i];
    while (finishes && s < unfinished.count) {
      const BinnedSum sum = take_sum(unfinished.tables[s], seen);
      if (thread % 32 == 0) unfinished.partial[s] = finished[s] = sum;
      s += threads / 32;
      if (s < unfinished.count) seen = seen_in(unfinished.tables[s]);
    }
    __syncthreads();
    if (work.sums == 0 && thread == 0) totals[0] = BinnedSum::zero();  // what is exchanged where nothing is summed
    if (thread >= work.sums) return;
    BinnedSum total = work.first ? BinnedSum::zero() : work.carried[thread];
    const int new_one = thread - work.first_unfinished;
    const bool is_new = finishes && new_one >= 0 && new_one < unfinished.count;
    for (int p = 0; p < work.count; ++p) total.merge(is_new && p == work.unfinished_partial ? finished[new_one] : work.partials[p][thread]);
    if (!work.last) work.carried[thread] = total;
    totals[thread] = total;
  };
  if (exchanges) {
    const BlockExchange exchange(work.exchange, max(work.sums, 1));  // no sums: still a word, that this device is here
    gather();
    __syncthreads();
    exchange.merge_all(totals);
    let_successors_start();
  } else {
    gather();
  }
  if (thread < work.sums) values[thread] = value_of(totals[thread]);
  __syncthreads();
  State& here = in_place ? *state : reinterpret_cast<State&>(copy);
  const bool idle = !work.last || idles<Step>(here.status);
  __syncthreads();  // the step may stop the graph: all must have asked before
  if (idle) return;
  if constexpr (StepOfVectors<Step, State>) {
    if (thread < here.vectors) take_step_of<Step>(here, thread, values);
    __syncthreads();
  }
  if (thread == 0) {
    if constexpr (StepOfVectors<Step, State>) end_step<Step>(here, history, most_steps);
    else take_step<Step>(here, values, history, most_steps);
#if CUDART_VERSION >= 13000
    if (work.refresh_condition != 0) cudaGraphSetConditional(work.refresh_condition, here.status.resting == 0 ? 1 : 0);
#endif
  }
  __syncthreads();
  for (int i = thread; i < words; i += threads) state_words[i] = copy[i];
}

/// What the lane has not finished becomes a part of the step where it is of one of these partials; otherwise it is
/// enqueued.
inline void take_unfinished(ScalarSums& work, CudaStream stream) {
  const UnfinishedSums unfinished = take_unfinished_sums(stream);
  if (unfinished.count == 0) return;
  for (int p = 0; p < work.count && unfinished.count <= most_sums_on_cuda; ++p) {
    const auto begin = reinterpret_cast<std::uintptr_t>(work.partials[p]), at = reinterpret_cast<std::uintptr_t>(unfinished.partial);
    if (at < begin || at >= begin + static_cast<std::size_t>(work.sums) * sizeof(BinnedSum)) continue;
    work.unfinished = unfinished;
    work.unfinished_partial = p;
    work.first_unfinished = static_cast<int>((at - begin) / sizeof(BinnedSum));
    return;
  }
  enqueue_finish(unfinished, stream);
}

template <class State, class Step>
void run_scalar_step_on_cuda(Call& call) {
  const auto& arguments = call.arguments<ScalarArguments>();
  const auto stream = static_cast<CudaStream>(call.stream());
  constexpr int slot = 1;
  ScalarSums work{};
  work.sums = arguments.sums;
  if (arguments.partials > partials_a_launch) {
    flush_sums(stream);
    work.carried = static_cast<BinnedSum*>(worker_memory(slot, most_sums_on_cuda * sizeof(BinnedSum)));
  }
  if (call.exchange() != nullptr) work.exchange = *call.exchange();
  const int sending_warps = call.exchange() != nullptr ? 2 : 0;  // enough for eight sums and one other device
  work.refresh_condition = call.refresh_condition();
  int done = 0;
  do {
    work.first = done == 0;
    for (work.count = 0; done < arguments.partials && work.count < partials_a_launch; ++done)
      if (const auto* partial = call.buffer<const BinnedSum>(2 + done); partial != nullptr) work.partials[work.count++] = partial;
    work.last = done == arguments.partials;
    take_unfinished(work, stream);
    const int warps = std::clamp(work.unfinished.count + sending_warps, least_scalar_warps, most_scalar_warps);
    launch_overlapping(scalar_step_kernel<State, Step>, 1, static_cast<unsigned>(32 * warps), stream, call.buffer<State>(0),
                       call.buffer<double>(1), arguments.most_steps, work);
  } while (done < arguments.partials);
  check_launch(Step::name);
}

}  // namespace quarkstar::runtime::detail

/// In a .cu: makes the GPU version of one step.
#define QUARKSTAR_SCALAR_STEP_ON_CUDA(State, Step) \
  template void quarkstar::runtime::detail::run_scalar_step_on_cuda<State, Step>(quarkstar::runtime::Call&);
