#include "codelets/actions/staggered/dslash.hpp"
#include "codelets/actions/staggered/dslash_cuda.hpp"
#include "codelets/actions/staggered/dslash_kernels.hpp"
#include "codelets/stencil/run.hpp"
#include "codelets/su3/long_link.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar::staggered {
namespace {

/// Numbers of SitesTask::constants.
enum Constant { long_factor, near_factor };

struct Kernels {
  template <class F>
  using Arguments = DslashArguments<F>;
  static constexpr const char* name = "staggered";
  static constexpr int components = colour_components;
  static constexpr int link_forms[] = {0, 18, 14, 13, 9};

  template <class F>
  static void complete(DslashArguments<F>& a, const stencil::SitesTask& task, const std::uint32_t* tables, const F* const (&links)[2],
                       std::size_t links_before) {
    a.links = links[0] + links_before * NumberFormat<F>::link_words(18);
    a.far_links = links[1] != nullptr ? links[1] + links_before * NumberFormat<F>::link_words(task.choice.link_reals) : nullptr;
    a.far = tables + task.far + static_cast<std::size_t>(task.first) * 8;
    a.far_at = tables + task.far_at;
    a.long_factor = static_cast<Real<F>>(task.constants[long_factor]);
    a.near_factor = static_cast<Real<F>>(task.constants[near_factor]);
  }
  template <class F>
  static DslashKernel<F> kernel(const KernelChoice& choice) {
    return dslash_kernel<F>(choice);
  }
  template <class F>
  static PackKernel<F> pack_kernel(const stencil::PackTask& task, const stencil::PackTask::Face& face) {
    return staggered::pack_kernel<F>(task.lanes, face.direction % 2 == 0);
  }
#ifdef QUARKSTAR_CUDA
  template <class F>
  static void launch(const stencil::SitesTask& task, const DslashArguments<F>& a, const VectorStatus* status, runtime::CudaStream stream) {
    cuda::launch_dslash(task.choice, a, task.count, status, task.obedience, stream);
  }
  template <class F>
  static void launch_pack(const stencil::PackTask& task, const stencil::PackTask::Face& face, const PackArguments<F>& a,
                          const std::int32_t* stop, runtime::CudaStream stream) {
    cuda::launch_colour_pack(task.lanes, face.direction % 2 == 0, face.remote != 0, a, face.count, stop, stream);
  }
#endif
};

}  // namespace

Dslash::Dslash(const Links& even, const Links& odd, int vectors)
    : Stencil(even.fat.lattice(),
              {.name = "staggered Dslash",
               .components = colour_components,
               .face = {2 * colour_components, true},
               .flops = dslash_flops(even.long_reals() > 0),
               .link_bytes = dslash_link_bytes(even.fat.lattice()->precision(), even.long_reals()),
               .neighbours = even.long_reals() > 0 ? 16 : 8,
               .complex_dot = false},
              vectors, default_launch(vectors)),
      links_{&even, &odd} {
  if (even.fat.parity() != 0 || odd.fat.parity() != 1 || even.fat.lattice() != odd.fat.lattice() || even.long_reals() != odd.long_reals())
    throw ShapeError("Dslash", "the links of the two parities do not belong together");
  if (lattice()->vectors_in_lanes() > 1 && long_reals() % 18 != 0)
    throw ShapeError("Dslash", "compressed long links where vectors are in lanes");
}

std::array<const LinkField*, 2> Dslash::links(int parity) const {
  const Links& of_parity = *links_[static_cast<std::size_t>(parity)];
  return {&of_parity.fat, of_parity.far ? &*of_parity.far : nullptr};
}

void Dslash::complete(stencil::SitesTask& task, int parity) const {
  const Links& links = *links_[static_cast<std::size_t>(parity)];
  task.choice.link_reals = long_reals();
  for (double& scale : task.scale) scale *= task.choice.sign * (links.far ? links.long_unit : links.fat_unit);
  task.choice.sign = 1;  // D^+ = -D
  task.constants[long_factor] =
      links.far ? site::long_link_factor(long_reals(), links.long_scale, lattice()->precision() == Precision::half) : 0;
  task.constants[near_factor] = links.fat_unit / links.long_unit;
}

const runtime::Codelet& Dslash::sites_codelet(bool boundary) const {
  return stencil::sites_codelet_of<Kernels>(lattice()->precision(), long_reals(), boundary);
}
const runtime::Codelet& Dslash::pack_codelet() const { return stencil::pack_codelet_of<Kernels>(lattice()->precision()); }

}  // namespace quarkstar::staggered
