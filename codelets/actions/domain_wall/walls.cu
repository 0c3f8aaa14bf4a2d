#include "codelets/actions/domain_wall/walls_arguments.hpp"

namespace quarkstar::cuda {
namespace {

__global__ void walls_kernel(const __grid_constant__ domain_wall::WallArguments a) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < a.count()) a.copy(i);
}

}  // namespace

void launch_walls(const domain_wall::WallArguments& arguments, runtime::CudaStream stream) {
  constexpr unsigned threads = 256;
  if (arguments.count() == 0) return;
  walls_kernel<<<static_cast<unsigned>((arguments.count() + threads - 1) / threads), threads, 0, stream>>>(arguments);
  runtime::check_launch("domain_wall.walls");
}

}  // namespace quarkstar::cuda
