#include "codelets/field/places_of.hpp"
#include "codelets/lattice/placement.hpp"
#include "codelets/quark_smear/colours.hpp"
#include "codelets/quark_smear/colours_site.hpp"
#include "runtime/graph/codelet.hpp"

#include <algorithm>

namespace quarkstar::quark_smear {
namespace {

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
      runtime::submit(items_codelet<MoveColours<Back>>(), task,
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
    runtime::submit(items_codelet<WriteHopLinks>(), task,
                    {runtime::out(even.fat.block(b)), runtime::out(odd.fat.block(b)), runtime::in(links.handle(block.block()))},
                    {0, 3.0 * static_cast<double>(shape.reals()) * sizeof(double)}, placement_of(block));
  }
}

}  // namespace quarkstar::quark_smear
