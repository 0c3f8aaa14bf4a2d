#include "runtime/graph/scalar.hpp"
#include "runtime/graph/typed_codelet.hpp"

#include <cstring>
#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/cuda.hpp"

#include <cuda_runtime_api.h>
#endif

namespace quarkstar::runtime::detail {
namespace {

const TypedCodelet publish_codelet(
    "scalar.publish", CodeletKind::scalar,
    [](Call&, Out<std::byte, 1> to, In<std::byte, 1> from, std::size_t bytes) { std::memcpy(to.data, from.data, bytes); }
#ifdef QUARKSTAR_CUDA
    ,
    [](Call& call, Out<std::byte, 1> to, In<std::byte, 1> from, std::size_t bytes) {
      cudaMemcpyAsync(to.data, from.data, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(call.stream()));
      check_launch("scalar.publish");
    }
#endif
);

}  // namespace

void submit_copy(const Handle& to, const Handle& from, std::size_t bytes, int worker) {
  submit(publish_codelet.on(to, from, bytes), {}, Placement{.owner = worker, .block = -1, .urgent = true});
}

}  // namespace quarkstar::runtime::detail
