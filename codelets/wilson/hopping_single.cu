#include "codelets/wilson/hopping_cuda.cuh"

namespace quarkstar::cuda {

using SingleLanes = std::integer_sequence<int, 16, 8, 1>;

template <>
void launch_hopping(const wilson::KernelChoice& choice, const wilson::HoppingArguments<float>& arguments, std::int64_t count,
                    const std::int32_t* stop, runtime::CudaStream stream) {
  launch_hopping_over(choice, arguments, count, stop, stream, SingleLanes{});
}
template <>
void launch_pack(int lanes, int direction, int sign, const wilson::PackArguments<float>& arguments, std::int64_t count,
                 const std::int32_t* stop, runtime::CudaStream stream) {
  launch_pack_over(lanes, direction, sign, arguments, count, stop, stream, SingleLanes{});
}

}  // namespace quarkstar::cuda
