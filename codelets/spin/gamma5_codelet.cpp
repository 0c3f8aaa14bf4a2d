#include "codelets/arch/on_cuda.hpp"
#include "codelets/lattice/placement.hpp"
#include "codelets/spin/gamma5.hpp"
#include "codelets/spin/gamma5_task.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar {

QUARKSTAR_ON_CUDA(run_gamma5_on_cuda)

namespace {

void run_gamma5(runtime::Call& call) {
  const auto& task = call.arguments<Gamma5Task>();
  double* const out = call.buffer<double>(0);
  const double* const in = call.buffer<const double>(1);
  call.team().for_range(task.groups, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t group = begin; group < end; ++group) {
      const double* const from = in + 2 * group * task.half;
      double* const to = out + task.offset + 2 * group * task.half;
      for (std::int64_t i = 0; i < task.half; ++i) to[i] = from[i];
      for (std::int64_t i = task.half; i < 2 * task.half; ++i) to[i] = -from[i];
    }
  });
}

const runtime::Codelet gamma5_codelet("spin.gamma5", runtime::CodeletKind::vector, run_gamma5, run_gamma5_on_cuda);

}  // namespace

void apply_gamma5(const Field& out, const Field& in) {
  const Lattice& lattice = *in.lattice();
  if (out.lattice() != in.lattice() || out.parity() != both_parities || in.parity() == both_parities ||
      in.components() != spinor_components || out.components() != in.components() || out.vectors() != in.vectors() ||
      lattice.precision() != Precision::double_)
    throw ShapeError("apply_gamma5", "no spinors of one parity and of both in double precision, on one lattice");
  for (const int b : lattice.local_blocks()) {
    Gamma5Task task{};
    task.groups = in.outer_sites(b) / lattice.slices() * in.groups();
    task.half = in.reals() / 2 * in.width();
    task.offset = in.parity() == 1 ? 2 * task.groups * task.half : 0;
    runtime::submit(gamma5_codelet, task,
                    {task.offset > 0 ? runtime::inout(out.block(b)) : runtime::out(out.block(b)), runtime::in(in.block(b))},
                    {0, 2 * in.block_bytes(b)}, placement_of(lattice.block(b)));
  }
}

}  // namespace quarkstar
