#include "codelets/arch/table.hpp"
#include "codelets/gauge/gauge_cuda.hpp"
#include "codelets/gauge/smear/ape_site.hpp"
#include "codelets/gauge/smear/smear.hpp"
#include "codelets/gauge/smear/smear_kernels.hpp"
#include "codelets/su3/unitarize.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>

namespace quarkstar::smear {
namespace {

using runtime::Call;

/// Buffers: out, in. The arguments' pointers are filled in when the task runs.
template <class Arguments>
Arguments arguments_of(Call& call) {
  Arguments a = call.arguments<Arguments>();
  a.out = call.buffer<double>(0);
  a.in = call.buffer<const double>(1);
  return a;
}

void run_smear(Call& call) {
  static constexpr arch::KernelTable<SmearKernel (*)()> table = QUARKSTAR_KERNEL_TABLE(smear_kernel);
  const SmearArguments a = arguments_of<SmearArguments>(call);
  const SmearKernel kernel = table.current()();
  call.team().for_range(a.in_shape.rows(), [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
}

void run_ape(Call& call) {
  const ApeArguments a = arguments_of<ApeArguments>(call);
  call.team().for_range(a.in_shape.rows(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row)
      for (int mu = 0; mu < 4; ++mu) {
        Coord x = a.in_shape.row_start(row);
        for (; x[0] < a.in_shape.extents[0]; ++x[0]) write_ape_link(a, x, mu);
      }
  });
}

void run_unitarize(Call& call) {
  const auto& shape = call.arguments<gauge::LinkShape>();
  double* links = call.buffer<double>(0);
  const gauge::LinkStrides strides = shape.strides();
  call.team().for_range(shape.rows(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row)
      for (int mu = 0; mu < 4; ++mu) {
        double* first = links + shape.offset(shape.row_start(row)) + mu * strides.link;
        for (int x = 0; x < shape.extents[0]; ++x) site::unitarize_in_place(first + x, strides.real);
      }
  });
}

#ifdef QUARKSTAR_CUDA
void smear_on_cuda(Call& call) { cuda::launch_smear(arguments_of<SmearArguments>(call), static_cast<runtime::CudaStream>(call.stream())); }
void ape_on_cuda(Call& call) { cuda::launch_ape(arguments_of<ApeArguments>(call), static_cast<runtime::CudaStream>(call.stream())); }
void unitarize_on_cuda(Call& call) {
  cuda::launch_unitarize(call.buffer<double>(0), call.arguments<gauge::LinkShape>(), static_cast<runtime::CudaStream>(call.stream()));
}
#else
constexpr runtime::Implementation smear_on_cuda = nullptr, ape_on_cuda = nullptr, unitarize_on_cuda = nullptr;
#endif

const runtime::Codelet fat_codelet("smear.fat", runtime::CodeletKind::stencil, run_smear, smear_on_cuda);
const runtime::Codelet naik_codelet("smear.naik", runtime::CodeletKind::stencil, run_smear, smear_on_cuda);
const runtime::Codelet ape_codelet("smear.ape", runtime::CodeletKind::stencil, run_ape, ape_on_cuda);
const runtime::Codelet unitarize_codelet("smear.unitarize", run_unitarize, unitarize_on_cuda);

template <class Arguments>
void submit_blocks(const runtime::Codelet& codelet, const GaugeField& out, const GaugeField& in, Arguments arguments,
                   double flops_per_site) {
  const runtime::Decomposition &a = out.decomposition(), &b = in.decomposition();
  if (a.lattice() != b.lattice() || a.grid() != b.grid()) throw ShapeError(codelet.name(), "links of another decomposition");
  for (const runtime::Block& block : out.blocks()) {
    arguments.out_shape = out.shape(block);
    arguments.in_shape = in.shape(block);
    const auto sites = static_cast<double>(volume(block.extents));
    const double reals = static_cast<double>(arguments.in_shape.reals()) + sites * gauge::LinkShape::site_reals;
    runtime::submit(codelet, arguments, {runtime::out(out.handle(block)), runtime::in(in.handle(block))},
                    {flops_per_site * sites, reals * sizeof(double)}, {.owner = block.owner, .block = block.index});
  }
}

void submit(const runtime::Codelet& codelet, const GaugeField& out, const GaugeField& in, const SmearArguments& arguments, int border,
            double flops_per_site) {
  in.require_border(border, codelet.name());
  submit_blocks(codelet, out, in, arguments, flops_per_site);
}

}  // namespace

void smear_links(const GaugeField& out, const GaugeField& in, const PathWeights& weights) {
  const bool lepage = weights.lepage != 0;
  SmearArguments arguments{};
  arguments.weights = weights;
  submit(fat_codelet, out, in, arguments, lepage ? 2 : 1, lepage ? 145e3 : 132e3);
}

void naik_links(const GaugeField& out, const GaugeField& in, double weight) {
  SmearArguments arguments{};
  arguments.naik = true;
  arguments.naik_weight = weight;
  submit(naik_codelet, out, in, arguments, 2, 4 * (2 * 198 + 18));  // two products and the weight
}

void ape_links(const GaugeField& out, const GaugeField& in, double alpha) {
  const Coord& depth = in.depth();
  if (std::min({depth[0], depth[1], depth[2]}) < 1) throw ShapeError(ape_codelet.name(), "a border of 0 sites, 1 is read");
  ApeArguments arguments{};
  arguments.alpha = alpha;
  submit_blocks(ape_codelet, out, in, arguments, 3 * 2e4);
}

void unitarize_links(const GaugeField& links) {
  for (const runtime::Block& block : links.blocks()) {
    const gauge::LinkShape shape = links.shape(block);
    const auto sites = static_cast<double>(volume(block.extents));
    runtime::submit(unitarize_codelet, shape, {runtime::inout(links.handle(block))},
                    {4e3 * sites, 2 * sites * gauge::LinkShape::site_reals * sizeof(double)}, {.owner = block.owner, .block = block.index});
  }
}

}  // namespace quarkstar::smear
