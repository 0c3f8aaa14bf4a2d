#pragma once
// Kernels of stencil/run.hpp for Wilson's hops with an epilogue, for the codelet file of an action. An epilogue that is not linear also has
// a `name`, in traces, and complete(epilogue arguments, task, site fields, sites before).
#include "codelets/actions/wilson/hopping.hpp"
#include "codelets/actions/wilson/hopping_cuda.hpp"
#include "codelets/actions/wilson/hopping_kernels.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/stencil/run.hpp"

namespace quarkstar::wilson {

template <class Epilogue>
struct HoppingKernels {
  template <class F>
  using Arguments = ArgumentsOf<F, Epilogue>;
  static constexpr const char* name = [] {
    if constexpr (requires { Epilogue::name; }) return Epilogue::name;
    else return "wilson";
  }();
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
  static void complete_epilogue(Arguments<F>& a, const stencil::SitesTask& task, const F* const (&fields)[stencil::most_site_fields],
                                std::size_t sites_before) {
    Epilogue::template complete<F>(a.epilogue, task, fields, sites_before);
  }
  template <class F>
  static HoppingKernel<F, Epilogue> kernel(const KernelChoice& choice) {
    static constexpr arch::KernelTable<HoppingKernel<F, Epilogue> (*)(const KernelChoice&)> table =
        QUARKSTAR_KERNEL_TABLE(hopping_kernel<F, Epilogue>);
    return table.current()(choice);
  }
  template <class F>
  static EpilogueKernel<F, Epilogue> epilogue_kernel(int lanes) {
    static constexpr arch::KernelTable<EpilogueKernel<F, Epilogue> (*)(int)> table = QUARKSTAR_KERNEL_TABLE(epilogue_kernel<F, Epilogue>);
    return table.current()(lanes);
  }
  template <class F>
  static PackKernel<F> pack_kernel(const stencil::PackTask& task, const stencil::PackTask::Face& face) {
    return wilson::pack_kernel<F>(task.lanes, face.direction, task.sign);
  }
#ifdef QUARKSTAR_CUDA
  template <class F>
  static void launch(const stencil::SitesTask& task, const HoppingArguments<F>& a, const VectorStatus* status, runtime::CudaStream stream) {
    cuda::launch_hopping<F, Epilogue>(task.choice, static_cast<const Arguments<F>&>(a), task.count, status, task.obedience, stream);
  }
  template <class F>
  static void launch_epilogue(const stencil::SitesTask& task, const HoppingArguments<F>& a, const VectorStatus* status,
                              runtime::CudaStream stream) {
    cuda::launch_epilogue<F, Epilogue>(task.choice, static_cast<const Arguments<F>&>(a), task.count, status, task.obedience, stream);
  }
  template <class F>
  static void launch_pack(const stencil::PackTask& task, const stencil::PackTask::Face& face, const PackArguments<F>& a,
                          const std::int32_t* stop, runtime::CudaStream stream) {
    cuda::launch_pack<F>({task.lanes, face.direction, task.sign, face.remote != 0, task.chunked}, a, face.count, stop, stream);
  }
#endif
};

/// The hopping term with an epilogue that is not linear; epilogue_flops: as stencil::Kind's.
template <class Epilogue>
class HoppingWith final : public Hopping {
 public:
  HoppingWith(const LinkField& even, const LinkField& odd, int vectors, double epilogue_flops = Epilogue::flops)
      : Hopping(even, odd, vectors, epilogue_flops) {}

 private:
  const runtime::Codelet& sites_codelet(bool boundary) const override {
    return stencil::sites_codelet_of<HoppingKernels<Epilogue>>(lattice()->precision(), link_reals(), boundary);
  }
  const runtime::Codelet* epilogue_codelet() const override {
    return &stencil::epilogue_codelet_of<HoppingKernels<Epilogue>>(lattice()->precision());
  }
};

}  // namespace quarkstar::wilson
