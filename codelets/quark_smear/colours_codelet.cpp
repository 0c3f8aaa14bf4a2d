#include "codelets/field/places_of.hpp"
#include "codelets/lattice/placement.hpp"
#include "codelets/quark_smear/colours.hpp"
#include "codelets/quark_smear/colours_cuda.hpp"
#include "runtime/graph/codelet.hpp"

#include <algorithm>

namespace quarkstar::quark_smear {
namespace {

using runtime::Call;

/// Buffers: what is written, what is read. Back: colour vectors become spinors.
template <bool Back>
void run_colours(Call& call) {
  const auto& task = call.arguments<ColoursTask>();
  double* to = call.buffer<double>(0);
  const double* from = call.buffer<const double>(1);
  call.team().for_range(task.colours.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (auto outer = static_cast<int>(begin); outer < end; ++outer)
      for (int lane = 0; lane < task.colours.lanes; ++lane)
        if constexpr (Back) move_colours(to, from, task, outer, lane);
        else move_colours(from, to, task, outer, lane);
  });
}

/// Buffers: links of even and odd sites, the configuration's.
void run_links(Call& call) {
  const auto& task = call.arguments<HopLinksTask>();
  const double* links = call.buffer<const double>(2);
  for (const int parity : {0, 1}) {
    double* to = call.buffer<double>(parity);
    call.team().for_range(task.shape.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
      for (auto outer = static_cast<int>(begin); outer < end; ++outer)
        for (int lane = 0; lane < task.shape.lanes; ++lane) write_hop_links(to, links, task, parity, outer, lane);
    });
  }
}

#ifdef QUARKSTAR_CUDA
template <bool Back>
void run_colours_on_cuda(Call& call) {
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  double* to = call.buffer<double>(0);
  const double* from = call.buffer<const double>(1);
  if constexpr (Back) cuda::launch_colours(to, from, call.arguments<ColoursTask>(), stream);
  else cuda::launch_colours(from, to, call.arguments<ColoursTask>(), stream);
}
void run_links_on_cuda(Call& call) {
  cuda::launch_hop_links(call.buffer<double>(0), call.buffer<double>(1), call.buffer<const double>(2), call.arguments<HopLinksTask>(),
                         static_cast<runtime::CudaStream>(call.stream()));
}
#else
template <bool Back>
constexpr runtime::Implementation run_colours_on_cuda = nullptr;
constexpr runtime::Implementation run_links_on_cuda = nullptr;
#endif

const runtime::Codelet spread_codelet("quark_smear.spread", runtime::CodeletKind::copy, run_colours<false>, run_colours_on_cuda<false>);
const runtime::Codelet gather_codelet("quark_smear.gather", runtime::CodeletKind::copy, run_colours<true>, run_colours_on_cuda<true>);
const runtime::Codelet links_codelet("quark_smear.links", runtime::CodeletKind::copy, run_links, run_links_on_cuda);

template <bool Back>
void submit(const FullField& spinors, const FullField& colours, std::span<const int> vectors, int first, bool keeps) {
  for (const int parity : {0, 1}) {
    const Field &a = spinors.of(parity), &b = colours.of(parity);
    auto task = runtime::blank<ColoursTask>();
    task.spinor_places = places_of(a);
    task.colour_places = places_of(b);
    task.parity = parity;
    task.spins = a.components() / colour_components;
    task.count = static_cast<int>(vectors.size());
    task.first = first;
    std::copy(vectors.begin(), vectors.end(), task.vector);
    for (const int i : b.lattice()->local_blocks()) {
      task.spinors = a.lattice()->block(i).shape();
      task.colours = b.lattice()->block(i).shape();
      const runtime::Handle &of_spinors = a.block(i), &of_colours = b.block(i), &to = Back ? of_spinors : of_colours;
      runtime::submit(Back ? gather_codelet : spread_codelet, task,
                      {keeps ? runtime::inout(to) : runtime::out(to), runtime::in(Back ? of_colours : of_spinors)},
                      {0, 2 * b.block_bytes(i) / b.vectors() * task.spins * task.count}, placement_of(b.lattice()->block(i)));
    }
  }
}

}  // namespace

void spread(const FullField& colours, const FullField& from, std::span<const int> vectors, int first) {
  submit<false>(from, colours, vectors, first, first > 0);
}

void gather(const FullField& to, const FullField& colours, std::span<const int> vectors, bool keeps) {
  submit<true>(to, colours, vectors, 0, keeps);
}

void write_links(const staggered::Links& even, const staggered::Links& odd, const gauge::GaugeField& links, unsigned directions,
                 double factor) {
  const Lattice& lattice = *even.fat.lattice();
  for (const int b : lattice.local_blocks()) {
    const BlockGeometry& block = lattice.block(b);
    const gauge::LinkShape shape = links.shape(block.block());
    auto task = runtime::blank<HopLinksTask>();
    task.shape = block.shape();
    task.links = shape;
    task.directions = directions;
    task.factor = factor;
    runtime::submit(links_codelet, task,
                    {runtime::out(even.fat.block(b)), runtime::out(odd.fat.block(b)), runtime::in(links.handle(block.block()))},
                    {0, 3.0 * static_cast<double>(shape.reals()) * sizeof(double)}, placement_of(block));
  }
}

}  // namespace quarkstar::quark_smear
