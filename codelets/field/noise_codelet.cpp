#include "codelets/field/noise.hpp"
#include "codelets/field/noise_site.hpp"
#include "codelets/field/places_of.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar {

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
  const runtime::Codelet& codelet =
      lattice.precision() == Precision::double_ ? items_codelet<WriteNoise<double>>() : items_codelet<WriteNoise<float>>();
  for (const int b : lattice.local_blocks()) {
    const BlockGeometry& block = lattice.block(b);
    task.shape = block.shape();
    task.origin = block.block().origin;
    runtime::submit(codelet, task, {runtime::out(field.block(b))}, {},
                    placement_of(block));  // no cost: arithmetic decides, and would look like slow memory
  }
}

}  // namespace quarkstar
