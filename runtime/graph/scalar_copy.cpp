#include "runtime/graph/scalar.hpp"

#include <cstring>
#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/cuda.hpp"

#include <cuda_runtime_api.h>
#endif

namespace quarkstar::runtime::detail {
namespace {

void copy(Call& call) { std::memcpy(call.buffer<void>(0), call.buffer<const void>(1), call.arguments<std::size_t>()); }

#ifdef QUARKSTAR_CUDA
void copy_on_cuda(Call& call) {
  cudaMemcpyAsync(call.buffer<void>(0), call.buffer<const void>(1), call.arguments<std::size_t>(), cudaMemcpyDeviceToDevice,
                  static_cast<cudaStream_t>(call.stream()));
  check_launch("scalar.publish");
}
const Codelet publish_codelet("scalar.publish", CodeletKind::scalar, copy, copy_on_cuda);
#else
const Codelet publish_codelet("scalar.publish", CodeletKind::scalar, copy);
#endif

}  // namespace

void submit_copy(const Handle& to, const Handle& from, std::size_t bytes, int worker) {
  submit(publish_codelet, bytes, {out(to), in(from)}, {}, Placement{.owner = worker, .block = -1, .urgent = true});
}

}  // namespace quarkstar::runtime::detail
