#include "codelets/actions/clover/clover_kernels.hpp"
#include "codelets/actions/clover/clover_site.hpp"
#include "codelets/actions/clover/term.hpp"
#include "codelets/arch/on_cuda.hpp"
#include "codelets/arch/table.hpp"
#include "runtime/backend.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace quarkstar::clover {

QUARKSTAR_ON_CUDA(term_on_cuda)

namespace {

void run_term(runtime::Call& call) {
  static constexpr arch::KernelTable<TermKernel (*)()> table = QUARKSTAR_KERNEL_TABLE(clover_term_kernel);
  const auto a = with_out_and_in<TermArguments>(call);
  const TermKernel kernel = table.current()();
  call.team().for_range(a.in_shape.rows(), [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
}

const runtime::Codelet term_codelet("clover.term", runtime::CodeletKind::stencil, run_term, term_on_cuda);

/// Largest sum over a row of a packed hermitian matrix, which no eigenvalue exceeds.
double row_bound(const double* block) {
  double sums[6];
  for (int i = 0; i < 6; ++i) sums[i] = std::abs(block[i]);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < i; ++j) {
      const double size = std::hypot(block[packed_entry(i, j)], block[packed_entry(i, j) + 1]);
      sums[i] += size;
      sums[j] += size;
    }
  return *std::max_element(sums, sums + 6);
}

}  // namespace

void submit_term(const gauge::GaugeField& out, const gauge::GaugeField& links, const PlaneWeights& weights) {
  const runtime::Decomposition &a = out.decomposition(), &b = links.decomposition();
  if (a.lattice() != b.lattice() || a.grid() != b.grid()) throw ShapeError("clover::submit_term", "links of another decomposition");
  links.require_border(1, "clover::submit_term");
  for (const runtime::Block& block : out.blocks()) {
    const TermArguments arguments{nullptr, nullptr, out.shape(block), links.shape(block), weights};
    const auto sites = static_cast<double>(volume(block.extents));
    const double reals = static_cast<double>(arguments.in_shape.reals()) + sites * gauge::LinkShape::site_reals;
    runtime::submit(term_codelet, arguments, {runtime::out(out.handle(block)), runtime::in(links.handle(block))},
                    {6 * 2466 * sites, reals * sizeof(double)}, {.owner = block.owner, .block = block.index});
  }
}

std::shared_ptr<const HostTerm> make_term(const runtime::Decomposition& decomposition, const HostGauge& gauge,
                                          const PlaneWeights& weights) {
  const Box own = decomposition.part();
  const auto made = std::make_shared<HostTerm>();
  if constexpr (!runtime::backend::computes) {
    made->reals = {own.extents, {}, own.origin};
    return made;
  }
  made->reals = {own.extents, HostReals(static_cast<std::size_t>(volume(own.extents)) * HostGauge::reals_per_site), own.origin};
  {
    const gauge::GaugeField links(decomposition, 1), term(decomposition, 0);
    gauge::load(links, gauge);
    gauge::exchange_border(links);
    submit_term(term, links, weights);
    gauge::store(made->reals, term);
    runtime::Session::current().wait_all();
  }
  const HostReals& reals = made->reals.data;
  const runtime::Team& team = runtime::Session::current().cpu_team();
  std::vector<double> largest(static_cast<std::size_t>(team.threads()), 0);
  team.for_range(static_cast<std::int64_t>(reals.size()) / block_reals, [&](std::int64_t begin, std::int64_t end, int thread) {
    double& of_thread = largest[static_cast<std::size_t>(thread)];
    for (std::int64_t i = begin; i < end; ++i) of_thread = std::max(of_thread, row_bound(reals.data() + i * block_reals));
  });
  double norm[] = {*std::max_element(largest.begin(), largest.end())};
  runtime::mpi::Job::current().combine(std::span<double>(norm), runtime::mpi::Combine::maximum);
  made->norm = norm[0];
  return made;
}

}  // namespace quarkstar::clover
