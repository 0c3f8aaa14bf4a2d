#pragma once
// What a task of a hopping operator does on a worker. An operator's Kernels supplies its name, components and link_forms, and for a number
// format F:
//
// - Arguments<F>: what its kernels read and write, stencil::Arguments<F> with what is its own behind it;
//
// - complete(a, task, tables, links, before): fills in what is its own. links: the buffers of its link fields; before: links, times lanes,
//   before those of the first site;
//
// - complete_epilogue(a, task, fields, before): fills in what is the epilogue's own. fields: the buffers of its site fields; before: sites,
//   times lanes, before the first;
//
// - of an epilogue that mixes vectors, in place of that, complete_mixing(a, task, beside, numbers): fills in what is its own. beside: the
//   second field from the first site on, nullptr where there is none;
//
// - kernel<F>(choice) and pack_kernel<F>(task, face): the kernels on CPUs;
//
// - launch(task, a, status, stream) and launch_pack(task, face, a, stop, stream): their launches on GPUs;
//
// - with an epilogue that is not linear: epilogue_kernel<F>(lanes) and launch_epilogue(task, a, status, stream), the epilogue without hops.
#include "codelets/arch/implementations.hpp"
#include "codelets/stencil/arguments.hpp"
#include "codelets/stencil/stencil.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/graph/thread_sums.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>

namespace quarkstar::stencil {

inline constexpr std::uint32_t every_site = 0xffffffffu;  ///< offset of a site list that is simply first, first + 1, ...
inline constexpr int sums_buffer = 4;

template <class F>
void set_coefficients(Arguments<F>& a, const SitesTask& task) {
  a.vectors = task.vectors;
  for (int v = 0; v < task.vectors; ++v) {
    a.diagonal[v] = static_cast<Real<F>>(task.diagonal[static_cast<std::size_t>(v)]);
    a.scale[v] = static_cast<Real<F>>(task.scale[static_cast<std::size_t>(v)]);
  }
}

/// The kernel's view of a task. Returns the solver's flags (on the worker's memory node), or nullptr where the task has none.
template <class Kernels, class F>
const VectorStatus* unpack(runtime::Call& call, const SitesTask& task, typename Kernels::template Arguments<F>& a) {
  using T = Real<F>;
  int next = sums_buffer + (task.sums.count(1) > 0 ? 1 : 0);
  const F* links[2] = {call.buffer<const F>(1), task.link_fields > 1 ? call.buffer<const F>(next++) : nullptr};
  a.x = task.has_x ? call.buffer<const F>(next++) : nullptr;
  a.y = task.has_y ? call.buffer<const F>(next++) : nullptr;
  const F* fields[most_site_fields] = {};
  for (int i = 0; i < task.site_fields; ++i) fields[i] = call.buffer<const F>(next++);
  const F* beside = task.has_beside ? call.buffer<const F>(next++) : nullptr;
  const T* numbers = task.mixes ? call.buffer<const T>(next++) : nullptr;
  const VectorStatus* status = task.has_state ? call.buffer<const VectorStatus>(next++) : nullptr;
  for (int d = 0; d < 8; ++d) a.faces[d] = task.face_buffer[d] < 0 ? nullptr : call.buffer<const T>(next + task.face_buffer[d]);
  const auto* tables = call.buffer<const std::uint32_t>(0);
  a.sites = task.sites == every_site ? nullptr : tables + task.sites;
  a.faces_at = tables + task.near_at;
  // What belongs to a site itself starts at the first one; `in` is reached through the neighbour table.
  const auto first = static_cast<std::size_t>(task.first), lanes = static_cast<std::size_t>(task.choice.lanes);
  const std::size_t before = first * lanes * static_cast<std::size_t>(task.vectors * NumberFormat<F>::site_words(2 * Kernels::components));
  a.neighbours = tables + task.near + first * 8;
  a.in = call.buffer<const F>(2);
  a.out = call.buffer<F>(3) + before;
  if (task.has_x) a.x += before;
  if (task.has_y) a.y += before;
  if (task.has_beside) beside += before;
  set_coefficients(a, task);
  for (int mu = 0; mu < 4; ++mu) a.stride[mu] = task.stride[mu];
  a.sums = task.sums;
  a.stream_out = task.choice.launch.memory.stores == arch::Stores::streaming;
  Kernels::template complete<F>(a, task, tables, links, first * lanes * 8);
  if constexpr (requires { Kernels::template complete_mixing<F>(a, task, beside, numbers); })
    Kernels::template complete_mixing<F>(a, task, beside, numbers);
  else if constexpr (requires { a.epilogue; }) Kernels::template complete_epilogue<F>(a, task, fields, first * lanes);
  return status;
}

/// The same without hops.
template <class Kernels, class F>
const VectorStatus* unpack_epilogue(runtime::Call& call, const SitesTask& task, typename Kernels::template Arguments<F>& a) {
  a.out = call.buffer<F>(0);
  a.x = call.buffer<const F>(1);
  const F* fields[most_site_fields] = {};
  for (int i = 0; i < task.site_fields; ++i) fields[i] = call.buffer<const F>(2 + i);
  set_coefficients(a, task);
  Kernels::template complete_epilogue<F>(a, task, fields, 0);
  return task.has_state ? call.buffer<const VectorStatus>(2 + task.site_fields) : nullptr;
}

template <class Kernels, class F>
void run_sites(runtime::Call& call) {
  const auto& task = call.arguments<SitesTask>();
  typename Kernels::template Arguments<F> a{};
  const VectorStatus* status = unpack<Kernels, F>(call, task, a);
  if (const std::int32_t* idle = task.obedience.idle(status); idle != nullptr && *idle != 0) return call.skip();
  const std::int32_t* left_out = task.obedience.left_out(status);
  const auto kernel = Kernels::template kernel<F>(task.choice);
  const int sums = task.sums.count(task.right_hand_sides);
  runtime::ThreadSums partial(call.team().threads(), sums);
  call.team().for_range(task.count,
                        [&](std::int64_t begin, std::int64_t end, int thread) { kernel(a, begin, end, left_out, partial.of(thread)); });
  if (sums > 0) partial.merge_into(call.buffer<runtime::BinnedSum>(sums_buffer), sums);
}

template <class Kernels, class F>
void run_epilogue(runtime::Call& call) {
  const auto& task = call.arguments<SitesTask>();
  typename Kernels::template Arguments<F> a{};
  const VectorStatus* status = unpack_epilogue<Kernels, F>(call, task, a);
  if (const std::int32_t* idle = task.obedience.idle(status); idle != nullptr && *idle != 0) return call.skip();
  const std::int32_t* left_out = task.obedience.left_out(status);
  const auto kernel = Kernels::template epilogue_kernel<F>(task.choice.lanes);
  call.team().for_range(task.count, [&](std::int64_t begin, std::int64_t end, int) { kernel(a, task.choice.lanes, begin, end, left_out); });
}

template <class F>
PackArguments<F> unpack(runtime::Call& call, const PackTask& task, int number) {
  const PackTask::Face& face = task.face[number];
  return {call.buffer<const std::uint32_t>(0) + face.sites, call.buffer<const F>(1), call.buffer<Real<F>>(2 + number), face.stride,
          task.vectors};
}

inline const std::int32_t* stop_of(runtime::Call& call, const PackTask& task) {
  return task.has_state ? idle_flag(call.buffer<const runtime::GraphStatus>(2 + task.faces), task.when) : nullptr;
}

template <class Kernels, class F>
void run_pack(runtime::Call& call) {
  const auto& task = call.arguments<PackTask>();
  if (const std::int32_t* stop = stop_of(call, task); stop != nullptr && *stop != 0) return call.skip();
  for (int f = 0; f < task.faces; ++f) {
    const PackArguments<F> a = unpack<F>(call, task, f);
    const PackKernel<F> kernel = Kernels::template pack_kernel<F>(task, task.face[f]);
    call.team().for_range(task.face[f].count, [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
  }
}

#ifdef QUARKSTAR_CUDA
template <class Kernels, class F>
void run_sites_on_cuda(runtime::Call& call) {
  const auto& task = call.arguments<SitesTask>();
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  typename Kernels::template Arguments<F> a{};
  const VectorStatus* status = unpack<Kernels, F>(call, task, a);
  Kernels::launch(task, a, status, stream);
  if (const int sums = task.sums.count(task.right_hand_sides); sums > 0)
    runtime::finish_sums(call.buffer<runtime::BinnedSum>(sums_buffer), sums, task.obedience.idle(status), stream);
}

template <class Kernels, class F>
void run_epilogue_on_cuda(runtime::Call& call) {
  const auto& task = call.arguments<SitesTask>();
  typename Kernels::template Arguments<F> a{};
  const VectorStatus* status = unpack_epilogue<Kernels, F>(call, task, a);
  Kernels::launch_epilogue(task, a, status, static_cast<runtime::CudaStream>(call.stream()));
}

template <class Kernels, class F>
void run_pack_on_cuda(runtime::Call& call) {
  const auto& task = call.arguments<PackTask>();
  for (int f = 0; f < task.faces; ++f)
    Kernels::launch_pack(task, task.face[f], unpack<F>(call, task, f), stop_of(call, task),
                         static_cast<runtime::CudaStream>(call.stream()));
}
#endif

/// A codelet for each format, form of link and part, so that traces and models tell them apart.
template <class Kernels>
const runtime::Codelet& sites_codelet_of(Precision precision, int link_reals, bool boundary) {
  return with_format(precision, [&](auto format) -> const runtime::Codelet& {
    using F = typename decltype(format)::type;
    using Codelets = std::map<std::pair<int, bool>, std::unique_ptr<runtime::Codelet>>;
    static const Codelets codelets = [] {
      Codelets made;
      for (const int reals : Kernels::link_forms)
        for (const bool edge : {false, true})
          made[{reals, edge}] = std::make_unique<runtime::Codelet>(
              fmt::format("{}.{}.{}.{}", Kernels::name, name_of(NumberFormat<F>::precision), reals, edge ? "boundary" : "interior"),
              runtime::CodeletKind::stencil, QUARKSTAR_BOTH(run_sites, Kernels, F));
      return made;
    }();
    return *codelets.at({link_reals, boundary});
  });
}

template <class Kernels>
const runtime::Codelet& epilogue_codelet_of(Precision precision) {
  return with_format(precision, [&](auto format) -> const runtime::Codelet& {
    using F = typename decltype(format)::type;
    static const runtime::Codelet codelet(fmt::format("{}.{}.epilogue", Kernels::name, name_of(precision)), runtime::CodeletKind::vector,
                                          QUARKSTAR_BOTH(run_epilogue, Kernels, F));
    return codelet;
  });
}

template <class Kernels>
const runtime::Codelet& pack_codelet_of(Precision precision) {
  return with_format(precision, [&](auto format) -> const runtime::Codelet& {
    using F = typename decltype(format)::type;
    static const runtime::Codelet codelet(fmt::format("{}.{}.pack", Kernels::name, name_of(precision)), runtime::CodeletKind::pack,
                                          QUARKSTAR_BOTH(run_pack, Kernels, F));
    return codelet;
  });
}

}  // namespace quarkstar::stencil
