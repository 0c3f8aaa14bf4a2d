#include "codelets/actions/domain_wall/hopping.hpp"
#include "codelets/actions/domain_wall/slice_arguments.hpp"
#include "codelets/actions/domain_wall/slice_cuda.hpp"
#include "codelets/actions/wilson/hopping_run.hpp"

namespace quarkstar::domain_wall {
namespace {

struct SliceHoppingKernels : wilson::HoppingKernels<SliceEpilogue> {
  static constexpr const char* name = "domain_wall";

  template <class F>
  static void complete_mixing(Arguments<F>& a, const stencil::SitesTask& task, const F* beside, const Real<F>* numbers) {
    const auto product_of = [&](int i) -> Product<F> {
      const stencil::MixingTerm& term = task.terms[i];
      return {static_cast<Form>(term.form), term.step, static_cast<Real<F>>(term.factor), i == task.of_hops ? nullptr : beside,
              numbers + term.offset};
    };
    a.epilogue = {product_of(0), product_of(1), task.vectors / task.right_hand_sides, task.right_hand_sides};
  }
  template <class F>
  static wilson::HoppingKernel<F, SliceEpilogue> kernel(const wilson::KernelChoice& choice) {
    static constexpr arch::KernelTable<wilson::HoppingKernel<F, SliceEpilogue> (*)(const wilson::KernelChoice&)> table =
        QUARKSTAR_KERNEL_TABLE(slice_hopping_kernel<F>);
    return table.current()(choice);
  }
#ifdef QUARKSTAR_CUDA
  template <class F>
  static void launch(const stencil::SitesTask& task, const wilson::HoppingArguments<F>& a, const VectorStatus* status,
                     runtime::CudaStream stream) {
    if constexpr (!is_half<F>)
      if (task.choice.vectors_in_lanes > 1)
        return cuda::launch_slice_hopping_in_lanes<F>(task.choice, static_cast<const Arguments<F>&>(a), task.count, status, task.obedience,
                                                      stream);
    cuda::launch_slice_hopping<F>(task.choice, static_cast<const Arguments<F>&>(a), task.count, status, task.obedience, stream);
  }
#endif
};

class Hopping final : public wilson::Hopping {
 public:
  using wilson::Hopping::Hopping;

 private:
  const runtime::Codelet* mixing_codelet(bool boundary) const override {
    return &stencil::sites_codelet_of<SliceHoppingKernels>(lattice()->precision(), link_reals(), boundary);
  }
};

}  // namespace

std::unique_ptr<wilson::Hopping> hopping(const LinkField& even, const LinkField& odd, int vectors) {
  return std::make_unique<Hopping>(even, odd, vectors);
}

}  // namespace quarkstar::domain_wall
