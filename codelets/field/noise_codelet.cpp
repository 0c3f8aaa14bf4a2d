#include "codelets/arch/implementations.hpp"
#include "codelets/field/noise.hpp"
#include "codelets/field/noise_cuda.hpp"
#include "codelets/field/places_of.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar {
namespace {

using runtime::Call;
using runtime::Codelet;

template <class F>
void run(Call& call) {
  const auto& task = call.arguments<NoiseTask>();
  F* field = call.buffer<F>(0);
  call.team().for_range(task.shape.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (auto outer = static_cast<int>(begin); outer < end; ++outer)
      for (int v = 0; v < task.places.vectors; ++v)
        for (int lane = 0; lane < task.shape.lanes; ++lane) write_noise_at(field, task, outer, lane, v);
  });
}

#ifdef QUARKSTAR_CUDA
template <class F>
void run_on_cuda(Call& call) {
  cuda::launch_noise(call.buffer<F>(0), call.arguments<NoiseTask>(), static_cast<runtime::CudaStream>(call.stream()));
}
#endif

template <class F>
const Codelet& codelet() {
  static const Codelet codelet(fmt::format("noise.{}", name_of(NumberFormat<F>::precision)), runtime::CodeletKind::copy,
                               QUARKSTAR_BOTH(run, F));
  return codelet;
}

}  // namespace

void write_noise(const Field& field, std::uint64_t seed, std::uint64_t first) {
  const Lattice& lattice = *field.lattice();
  if (lattice.precision() == Precision::half) throw ShapeError("write_noise", "a field in half precision");
  if (field.components() > spinor_components) throw ShapeError("write_noise", "a field of coarse vectors");
  if (field.parity() == both_parities) {
    const FullField halves(field.lattice(), field.components(), field.vectors());
    for (const int parity : {0, 1}) {
      write_noise(halves.of(parity), seed, first);
      transfer::convert(field, halves.of(parity));
    }
    return;
  }
  auto task = runtime::blank<NoiseTask>();
  task.seed = seed;
  task.first = first;
  task.places = places_of(field);
  task.lattice = lattice.decomposition().lattice();
  task.parity = field.parity();
  task.components = field.components();
  for (const int b : lattice.local_blocks()) {
    const BlockGeometry& block = lattice.block(b);
    task.shape = block.shape();
    task.origin = block.block().origin;
    runtime::submit(lattice.precision() == Precision::double_ ? codelet<double>() : codelet<float>(), task, {runtime::out(field.block(b))},
                    {}, placement_of(block));  // no cost: arithmetic decides, and would look like slow memory
  }
}

}  // namespace quarkstar
