#include "codelets/actions/clover/clover_kernels.hpp"
#include "codelets/actions/clover/clover_site.hpp"
#include "codelets/arch/cuda.cuh"
#include "codelets/arch/on_cuda.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/cuda_launch.cuh"

namespace quarkstar::cuda {
namespace {

constexpr unsigned threads = 128;

/// One thread per site; neighbouring threads are neighbouring sites of a row.
__global__ void __launch_bounds__(threads)
    clover_term_kernel(const __grid_constant__ clover::TermArguments a, const __grid_constant__ gauge::LinkStrides from,
                       const __grid_constant__ gauge::LinkStrides to) {
  const std::int64_t id = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int row_length = a.in_shape.extents[0];
  if (id >= a.in_shape.rows() * row_length) return;
  Coord x = a.in_shape.row_start(id / row_length);
  x[0] = static_cast<int>(id % row_length);
  const gauge::StridedLinks<Lane<double>> links(a.in, from);
  double* out = a.out + a.out_shape.offset(x);
  clover::clover_term(links, a.in_shape.offset(x), a.weights, [&](int real, const Lane<double>& value) { out[real * to.real] = value.v; });
}

}  // namespace

}  // namespace quarkstar::cuda

namespace quarkstar::clover {

void term_on_cuda(runtime::Call& call) {
  const auto a = with_out_and_in<TermArguments>(call);
  const std::int64_t sites = volume(a.in_shape.extents);
  cuda::clover_term_kernel<<<static_cast<unsigned>((sites + cuda::threads - 1) / cuda::threads), cuda::threads, 0,
                             static_cast<runtime::CudaStream>(call.stream())>>>(a, a.in_shape.strides(), a.out_shape.strides());
  runtime::check_launch("clover.term");
}

}  // namespace quarkstar::clover
