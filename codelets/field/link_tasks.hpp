#pragma once
// The tasks that fill a LinkField, for any Form of codelets/field/link_places.hpp.
#include "codelets/arch/implementations.hpp"
#include "codelets/field/link_field.hpp"
#include "codelets/field/link_places.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::cuda {

/// even, odd <- the links of `host` that touch the block's sites. The host's are read until the stream has ended.
template <class F, class Form>
void launch_load_links(F* even, F* odd, const HostGauge& host, const transfer::LinkLoad<Form>& load, runtime::CudaStream stream);
/// All links of one parity.
template <class F, class Form>
void launch_copy_links(F* to, const double* from, const transfer::LinkCopy<Form>& copy, int parity, runtime::CudaStream stream);

}  // namespace quarkstar::cuda

namespace quarkstar::transfer {

template <class Form>
struct LinkLoadTask {
  LinkLoad<Form> load;
  const HostGauge* host;
};
template <class Form>
struct LinkCopyTask {
  LinkCopy<Form> copy;
  int parity;
};

template <class F, class Form>
void run_link_load(runtime::Call& call) {
  const auto& task = call.arguments<LinkLoadTask<Form>>();
  for (const int parity : {0, 1}) task.load.run(call.buffer<F>(parity), *task.host, parity, call.team());
}
template <class F, class Form>
void run_link_copy(runtime::Call& call) {
  const auto& task = call.arguments<LinkCopyTask<Form>>();
  task.copy.run(call.buffer<F>(0), call.buffer<const double>(1), task.parity, call.team());
}
#ifdef QUARKSTAR_CUDA
template <class F, class Form>
void run_link_load_on_cuda(runtime::Call& call) {
  const auto& task = call.arguments<LinkLoadTask<Form>>();
  cuda::launch_load_links(call.buffer<F>(0), call.buffer<F>(1), *task.host, task.load, static_cast<runtime::CudaStream>(call.stream()));
}
template <class F, class Form>
void run_link_copy_on_cuda(runtime::Call& call) {
  const auto& task = call.arguments<LinkCopyTask<Form>>();
  cuda::launch_copy_links(call.buffer<F>(0), call.buffer<const double>(1), task.copy, task.parity,
                          static_cast<runtime::CudaStream>(call.stream()));
}
#endif

/// Submits even, odd = the links of `host` that touch their sites; it must outlive the tasks. hops: sites that a link spans. chunked:
/// whether the lattice's chunks are for these links, too. name: the codelets'. A Form that is for CPUs alone says so.
template <class Form>
void submit_link_load(const char* name, const LinkField& even, const LinkField& odd, const HostGauge& host, int hops, const Form& form,
                      bool chunked) {
  const Lattice& lattice = *even.lattice();
  with_format(lattice.precision(), [&](auto format) {
    using F = typename decltype(format)::type;
    const auto make = [name, &lattice](auto... implementations) {
      return runtime::Codelet(fmt::format("{}.{}", name, name_of(lattice.precision())), runtime::CodeletKind::copy, implementations...);
    };
    static const runtime::Codelet codelet = [&] {
      if constexpr (Form::on_cpus_alone) return make(run_link_load<F, Form>);
      else return make(QUARKSTAR_BOTH(run_link_load, F, Form));
    }();
    for (const int b : lattice.local_blocks()) {
      const BlockGeometry& block = lattice.block(b);
      runtime::submit(codelet,
                      LinkLoadTask<Form>{{{block.shape(), chunked && lattice.chunked()},
                                          {block.block().origin, block.block().extents},
                                          lattice.decomposition().lattice(),
                                          hops,
                                          form},
                                         &host},
                      {runtime::out(even.block(b)), runtime::out(odd.block(b))}, {}, placement_of(block));
    }
  });
}

/// Submits to = from, of one parity on the same blocks. Throws ShapeError unless `from` is in double precision, with 18 reals.
template <class Form>
void submit_link_copy(const char* name, const LinkField& to, const LinkField& from, const Form& form, bool chunked) {
  const Lattice &there = *from.lattice(), &here = *to.lattice();
  const runtime::Decomposition &a = there.decomposition(), &b = here.decomposition();
  if (there.precision() != Precision::double_ || from.reals() != 18 || from.parity() != to.parity() || a.lattice() != b.lattice() ||
      a.grid() != b.grid())
    throw ShapeError(name, "links are copied from those of other blocks, or of another form than 18 reals in double precision");
  with_format(here.precision(), [&](auto format) {
    using F = typename decltype(format)::type;
    static const runtime::Codelet codelet(fmt::format("{}.{}", name, name_of(here.precision())), runtime::CodeletKind::copy,
                                          QUARKSTAR_BOTH(run_link_copy, F, Form));
    for (const int b : here.local_blocks())
      runtime::submit(codelet,
                      LinkCopyTask<Form>{
                          {{here.block(b).shape(), chunked && here.chunked()}, {there.block(b).shape(), chunked && there.chunked()}, form},
                          to.parity()},
                      {runtime::out(to.block(b)), runtime::in(from.block(b))}, {}, placement_of(here.block(b)));
  });
}

}  // namespace quarkstar::transfer
