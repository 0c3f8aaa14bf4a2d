#include "codelets/actions/wilson/hopping.hpp"
#include "codelets/actions/wilson/hopping_cuda.hpp"
#include "codelets/actions/wilson/hopping_kernels.hpp"
#include "codelets/stencil/run.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar::wilson {
namespace {

struct Kernels {
  template <class F>
  using Arguments = HoppingArguments<F>;
  static constexpr const char* name = "wilson";
  static constexpr int components = spinor_components;
  static constexpr int link_forms[] = {18, 12, 8};

  template <class F>
  static void complete(HoppingArguments<F>& a, const stencil::SitesTask& task, const std::uint32_t*, const F* const (&links)[2],
                       std::size_t links_before) {
    a.links = links[0] + links_before * NumberFormat<F>::link_words(task.choice.link_reals);
    for (int d = 0; d < 8; ++d) {  // constants: the boundary phase of each direction
      a.phase_re[d] = static_cast<Real<F>>(task.constants[2 * d]);
      a.phase_im[d] = static_cast<Real<F>>(task.constants[2 * d + 1]);
    }
  }
  template <class F>
  static HoppingKernel<F> kernel(const KernelChoice& choice) {
    return hopping_kernel<F>(choice);
  }
  template <class F>
  static PackKernel<F> pack_kernel(const stencil::PackTask& task, const stencil::PackTask::Face& face) {
    return wilson::pack_kernel<F>(task.lanes, face.direction, task.sign);
  }
#ifdef QUARKSTAR_CUDA
  template <class F>
  static void launch(const stencil::SitesTask& task, const HoppingArguments<F>& a, const VectorStatus* status, runtime::CudaStream stream) {
    cuda::launch_hopping(task.choice, a, task.count, status, task.obedience, stream);
  }
  template <class F>
  static void launch_pack(const stencil::PackTask& task, const stencil::PackTask::Face& face, const PackArguments<F>& a,
                          const std::int32_t* stop, runtime::CudaStream stream) {
    cuda::launch_pack<F>({task.lanes, face.direction, task.sign, face.remote != 0, task.chunked}, a, face.count, stop, stream);
  }
#endif
};

}  // namespace

Hopping::Hopping(const LinkField& even, const LinkField& odd, int vectors)
    : Stencil(even.lattice(),
              {.name = "Wilson hopping term",
               .components = spinor_components,
               .face_reals = 12,
               .flops = 1320,
               .link_bytes = links_bytes(even.lattice()->precision(), even.reals())},
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
  return stencil::sites_codelet_of<Kernels>(lattice()->precision(), link_reals(), boundary);
}
const runtime::Codelet& Hopping::pack_codelet() const { return stencil::pack_codelet_of<Kernels>(lattice()->precision()); }

}  // namespace quarkstar::wilson
