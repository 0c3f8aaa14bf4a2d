#pragma once
#include "codelets/arch/implementations.hpp"
#include "codelets/field/link_copy.hpp"
#include "codelets/field/link_field.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/graph/codelet.hpp"

#include <fmt/format.h>

namespace quarkstar::cuda {
/// codelets/field/link_copy.cuh; instantiated beside each Form.
template <class F, class Form>
void launch_copy_links(F* to, const double* from, const transfer::LinkCopy<Form>& copy, int parity, runtime::CudaStream stream);
}  // namespace quarkstar::cuda

namespace quarkstar::transfer {

template <class Form>
struct LinkCopyTask {
  LinkCopy<Form> copy;
  int parity;
};

template <class F, class Form>
void run_link_copy(runtime::Call& call) {
  const auto& task = call.arguments<LinkCopyTask<Form>>();
  task.copy.run(call.buffer<F>(0), call.buffer<const double>(1), task.parity, call.team());
}
#ifdef QUARKSTAR_CUDA
template <class F, class Form>
void run_link_copy_on_cuda(runtime::Call& call) {
  const auto& task = call.arguments<LinkCopyTask<Form>>();
  cuda::launch_copy_links(call.buffer<F>(0), call.buffer<const double>(1), task.copy, task.parity,
                          static_cast<runtime::CudaStream>(call.stream()));
}
#endif

/// Submits to = from, block by block: fields of one parity on the same blocks; from: in double precision, with 18 reals. chunked: whether
/// links lie in chunks where their lattices do. name: the codelet's.
template <class Form>
void submit_link_copy(const char* name, const LinkField& to, const LinkField& from, const Form& form, bool chunked) {
  const Lattice &there = *from.lattice(), &here = *to.lattice();
  with_format(here.precision(), [&](auto format) {
    using F = typename decltype(format)::type;
    static const runtime::Codelet codelet(fmt::format("{}.{}", name, name_of(here.precision())), runtime::CodeletKind::copy,
                                          QUARKSTAR_BOTH(run_link_copy, F, Form));
    for (const int b : here.local_blocks())
      runtime::submit(
          codelet,
          LinkCopyTask<Form>{{here.block(b).shape(), there.block(b).shape(), chunked && here.chunked(), chunked && there.chunked(), form},
                             to.parity()},
          {runtime::out(to.block(b)), runtime::in(from.block(b))}, {}, placement_of(here.block(b)));
  });
}

}  // namespace quarkstar::transfer
