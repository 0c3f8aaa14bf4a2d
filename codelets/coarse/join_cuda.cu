#include "codelets/coarse/join_cuda.hpp"
#include "codelets/coarse/threads_cuda.cuh"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

constexpr unsigned threads = 256;

template <class F>
__global__ void __launch_bounds__(threads)
    join_range(const __grid_constant__ coarse::JoinArguments<F> a, const std::int32_t* idle, std::uint64_t work) {
  const std::uint64_t id = thread_number(), words = static_cast<std::uint64_t>(a.words);
  if (!idles(idle) && id < work) coarse::join_word(a, id / words, static_cast<int>(id % words));
}

}  // namespace

template <class F>
void launch_coarse_join(const coarse::JoinArguments<F>& a, const std::int32_t* idle, runtime::CudaStream stream) {
  const std::uint64_t work = static_cast<std::uint64_t>(a.sites) * static_cast<std::uint64_t>(a.words);
  if (work == 0) return;
  join_range<<<static_cast<unsigned>((work + threads - 1) / threads), threads, 0, stream>>>(a, idle, work);
  runtime::check_launch("coarse.join");
}
template void launch_coarse_join(const coarse::JoinArguments<float>&, const std::int32_t*, runtime::CudaStream);
template void launch_coarse_join(const coarse::JoinArguments<double>&, const std::int32_t*, runtime::CudaStream);

}  // namespace quarkstar::cuda
