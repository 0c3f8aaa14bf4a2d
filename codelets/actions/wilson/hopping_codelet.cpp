#include "codelets/actions/wilson/face_words.hpp"
#include "codelets/actions/wilson/hopping.hpp"
#include "codelets/actions/wilson/hopping_run.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar::wilson {
Hopping::Hopping(const LinkField& even, const LinkField& odd, int vectors, double epilogue_flops)
    : Stencil(even.lattice(),
              {.name = "Wilson hopping term",
               .components = spinor_components,
               .face = face_format,
               .flops = 1320,
               .link_bytes = links_bytes(even.lattice()->precision(), even.reals()),
               .epilogue_flops = epilogue_flops,
               .single_hops = true},
              vectors, default_launch),
      links_{&even, &odd} {
  if (even.parity() != 0 || odd.parity() != 1 || even.lattice() != odd.lattice() || even.reals() != odd.reals())
    throw ShapeError("Hopping", "the two link fields do not belong together");
}

void Hopping::complete(stencil::SitesTask& task, int) const {
  task.choice.link_reals = link_reals();
  for (int d = 0; d < 8; ++d) {
    const auto phase = boundary_phase(lattice()->boundary()[static_cast<std::size_t>(d / 2)] * (d % 2 == 0 ? 1 : -1));
    task.constants[2 * d] = phase.real();
    task.constants[2 * d + 1] = phase.imag();
  }
}

const runtime::Codelet& Hopping::sites_codelet(bool boundary) const {
  return stencil::sites_codelet_of<HoppingKernels<stencil::LinearEpilogue>>(lattice()->precision(), link_reals(), boundary);
}
const runtime::Codelet& Hopping::pack_codelet() const {
  return stencil::pack_codelet_of<HoppingKernels<stencil::LinearEpilogue>>(lattice()->precision());
}

}  // namespace quarkstar::wilson
