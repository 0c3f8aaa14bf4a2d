#pragma once
#include "codelets/arch/items.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar {

inline constexpr unsigned item_threads = 128;

template <class Work, class Task, class... Elements>
__global__ void __launch_bounds__(item_threads) items_kernel(const __grid_constant__ Task task, std::int64_t items, Elements*... buffers) {
  runtime::wait_for_predecessors();
  const std::int64_t item = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (item < items) Work::run(task, item, buffers...);
}

template <class Work>
void run_items_on_cuda(runtime::Call& call) {
  ItemTraits<decltype(&Work::run)>::with(call, [&call]<class Task, class... Elements>(const Task& task, Elements*... buffers) {
    const std::int64_t items = Work::items(task);
    if (items == 0) return;
    runtime::launch_overlapping(items_kernel<Work, Task, Elements...>, static_cast<unsigned>((items + item_threads - 1) / item_threads),
                                item_threads, static_cast<runtime::CudaStream>(call.stream()), task, items, buffers...);
    runtime::check_launch(Work::name);
  });
}

}  // namespace quarkstar

/// In a .cu: makes the GPU version of a Work.
#define QUARKSTAR_ITEMS_ON_CUDA(Work) template void quarkstar::run_items_on_cuda<Work>(quarkstar::runtime::Call&);
