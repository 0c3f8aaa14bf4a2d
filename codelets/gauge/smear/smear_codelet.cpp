#include "codelets/arch/on_cuda.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/gauge/smear/link_items.hpp"
#include "codelets/gauge/smear/smear.hpp"
#include "codelets/gauge/smear/smear_kernels.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>

namespace quarkstar::smear {

QUARKSTAR_ON_CUDA(smear_on_cuda)

namespace {

void run_smear(runtime::Call& call) {
  static constexpr arch::KernelTable<SmearKernel (*)()> table = QUARKSTAR_KERNEL_TABLE(smear_kernel);
  const auto a = with_out_and_in<SmearArguments>(call);
  const SmearKernel kernel = table.current()();
  call.team().for_range(a.in_shape.rows(), [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
}

const runtime::Codelet fat_codelet("smear.fat", runtime::CodeletKind::stencil, run_smear, smear_on_cuda);
const runtime::Codelet naik_codelet("smear.naik", runtime::CodeletKind::stencil, run_smear, smear_on_cuda);

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
  if (std::min({depth[0], depth[1], depth[2]}) < 1) throw ShapeError(SmearApe::name, "a border of 0 sites, 1 is read");
  ApeArguments arguments{};
  arguments.alpha = alpha;
  submit_blocks(items_codelet<SmearApe>(), out, in, arguments, 3 * 2e4);
}

void unitarize_links(const GaugeField& links) {
  for (const runtime::Block& block : links.blocks()) {
    const gauge::LinkShape shape = links.shape(block);
    const auto sites = static_cast<double>(volume(block.extents));
    runtime::submit(items_codelet<Unitarize>(), shape, {runtime::inout(links.handle(block))},
                    {4e3 * sites, 2 * sites * gauge::LinkShape::site_reals * sizeof(double)}, {.owner = block.owner, .block = block.index});
  }
}

}  // namespace quarkstar::smear
