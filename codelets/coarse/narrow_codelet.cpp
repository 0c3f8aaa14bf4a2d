// Coarse matrices in 16 bits.
#include "codelets/coarse/coarse_operator.hpp"
#include "codelets/coarse/operator_cuda.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar::coarse {
namespace {

using runtime::Call;

/// Buffers: the same numbers in 16 bits, matrices.
struct NarrowTask {
  std::int64_t numbers;
};

void run_narrow(Call& call) {
  Binary16* const narrow = call.buffer<Binary16>(0);
  const float* const wide = call.buffer<const float>(1);
  call.team().for_range(call.arguments<NarrowTask>().numbers, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) narrow[i] = narrowed(wide[i]);
  });
}

#ifdef QUARKSTAR_CUDA
void run_narrow_on_cuda(Call& call) {
  cuda::launch_coarse_narrow(call.buffer<Binary16>(0), call.buffer<const float>(1), call.arguments<NarrowTask>().numbers,
                             static_cast<runtime::CudaStream>(call.stream()));
}
#endif

const runtime::Codelet& narrow_codelet() {
#ifdef QUARKSTAR_CUDA
  static const runtime::Codelet codelet("coarse.narrow", runtime::CodeletKind::copy, run_narrow, run_narrow_on_cuda);
#else
  static const runtime::Codelet codelet("coarse.narrow", runtime::CodeletKind::copy, run_narrow);
#endif
  return codelet;
}

}  // namespace

void CoarseMatrices::narrow() {
  if (!eliminated_ || lattice_->precision() != Precision::single)
    throw ShapeError("CoarseMatrices::narrow", "not eliminated, or not in single precision");
  narrow_.resize(blocks_.size());
  for (const int b : lattice_->local_blocks()) {
    auto task = runtime::blank<NarrowTask>();
    const std::size_t bytes = 2 * static_cast<std::size_t>(lattice_->block(b).outer_sites()) * bytes_per_site(components_, Precision::half);
    task.numbers = static_cast<std::int64_t>(bytes / sizeof(Binary16));
    runtime::Handle& narrow = narrow_[static_cast<std::size_t>(b)];
    if (!narrow) narrow = runtime::Handle(bytes);
    runtime::submit(narrow_codelet(), task, {runtime::out(narrow), runtime::in(block(b))}, {0, 3.0 * static_cast<double>(bytes)},
                    placement_of(lattice_->block(b)));
  }
}

}  // namespace quarkstar::coarse
