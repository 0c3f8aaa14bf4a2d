#include "codelets/actions/wilson/hopping.hpp"
#include "codelets/actions/wilson/hopping_cuda.hpp"
#include "codelets/actions/wilson/hopping_kernels.hpp"
#include "codelets/arch/implementations.hpp"
#include "codelets/stencil/halo_tasks.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <memory>

namespace quarkstar::wilson {
namespace {

using runtime::AccessList;
using runtime::BinnedSum;
using runtime::Call;
using runtime::Codelet;
using runtime::role_of;

constexpr int sums_buffer = 4;
constexpr std::uint32_t no_list = 0xffffffffu;  ///< offset of a site list that is simply first, first + 1, ...

/// Arguments of the sites codelet. Buffers: tables, links, in, out, then those present of partial sums, x, y, state, faces.
struct SitesTask {
  KernelChoice choice;
  std::uint32_t neighbours, sites, faces_at, count;
  std::int32_t first;  ///< outer site from which sites without a list count
  double diagonal, scale;
  double phase_re[8], phase_im[8];
  int stride[4];
  OutputSums sums;
  bool has_x, has_y, has_state;
  runtime::When when;
  std::int8_t face_buffer[8];  ///< number of the face among the face buffers; -1: not cut
};

struct PackTask {
  int lanes, sign, faces;
  bool has_state;
  runtime::When when;
  struct Face {
    int direction, stride;
    std::uint32_t sites, count;
    int remote;  ///< the reader is another GPU, in whose memory the face is
  } face[8];
};

/// The kernel's view of a task. Returns the stop flag (on the worker's memory node), or nullptr where the task has none.
template <class F>
const std::int32_t* unpack(Call& call, const SitesTask& task, HoppingArguments<F>& a) {
  using T = Real<F>;
  int next = sums_buffer + (task.sums.count() > 0 ? 1 : 0);
  a.x = task.has_x ? call.buffer<const F>(next++) : nullptr;
  a.y = task.has_y ? call.buffer<const F>(next++) : nullptr;
  const std::int32_t* stop = task.has_state ? idle_flag(call.buffer<const runtime::GraphStatus>(next++), task.when) : nullptr;
  for (int d = 0; d < 8; ++d) a.faces[d] = task.face_buffer[d] < 0 ? nullptr : call.buffer<const T>(next + task.face_buffer[d]);
  const auto* tables = call.buffer<const std::uint32_t>(0);
  a.sites = task.sites == no_list ? nullptr : tables + task.sites;
  a.faces_at = tables + task.faces_at;
  // What belongs to a site itself starts at the first one; `in` is reached through the neighbour table.
  const auto first = static_cast<std::size_t>(task.first), lanes = static_cast<std::size_t>(task.choice.lanes);
  const std::size_t spinors = first * lanes * spinor_words<F>;
  a.neighbours = tables + task.neighbours + first * 8;
  a.links = call.buffer<const F>(1) + first * lanes * 8 * NumberFormat<F>::link_words(task.choice.link_reals);
  a.in = call.buffer<const F>(2);
  a.out = call.buffer<F>(3) + spinors;
  if (task.has_x) a.x += spinors;
  if (task.has_y) a.y += spinors;
  a.diagonal = static_cast<T>(task.diagonal);
  a.scale = static_cast<T>(task.scale);
  for (int mu = 0; mu < 4; ++mu) a.stride[mu] = task.stride[mu];
  for (int d = 0; d < 8; ++d) {
    a.phase_re[d] = static_cast<T>(task.phase_re[d]);
    a.phase_im[d] = static_cast<T>(task.phase_im[d]);
  }
  a.sums = task.sums;
  return stop;
}

template <class F>
void run_sites(Call& call) {
  const auto& task = call.arguments<SitesTask>();
  HoppingArguments<F> a{};
  if (const std::int32_t* stop = unpack(call, task, a); stop != nullptr && *stop != 0) return call.skip();
  const HoppingKernel<F> kernel = hopping_kernel<F>(task.choice);
  const runtime::Team& team = call.team();
  runtime::ThreadSums partial(team.threads());
  team.for_range(task.count, [&](std::int64_t begin, std::int64_t end, int thread) { kernel(a, begin, end, partial.of(thread)); });
  if (task.sums.count() > 0) partial.merge_into(call.buffer<BinnedSum>(sums_buffer), task.sums.count());
}

template <class F>
PackArguments<F> unpack(Call& call, const PackTask::Face& face, int number) {
  return {call.buffer<const std::uint32_t>(0) + face.sites, call.buffer<const F>(1), call.buffer<Real<F>>(2 + number), face.stride};
}

const std::int32_t* stop_of(Call& call, const PackTask& task) {
  return task.has_state ? idle_flag(call.buffer<const runtime::GraphStatus>(2 + task.faces), task.when) : nullptr;
}

template <class F>
void run_pack(Call& call) {
  const auto& task = call.arguments<PackTask>();
  if (const std::int32_t* stop = stop_of(call, task); stop != nullptr && *stop != 0) return call.skip();
  for (int f = 0; f < task.faces; ++f) {
    const PackTask::Face& face = task.face[f];
    const PackArguments<F> a = unpack<F>(call, face, f);
    const PackKernel<F> kernel = pack_kernel<F>(task.lanes, face.direction, task.sign);
    call.team().for_range(face.count, [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
  }
}

#ifdef QUARKSTAR_CUDA
template <class F>
void run_sites_on_cuda(Call& call) {
  const auto& task = call.arguments<SitesTask>();
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  HoppingArguments<F> a{};
  const std::int32_t* stop = unpack(call, task, a);
  cuda::launch_hopping(task.choice, a, task.count, stop, stream);
  if (task.sums.count() > 0) runtime::finish_sums(call.buffer<BinnedSum>(sums_buffer), task.sums.count(), stop, stream);
}

template <class F>
void run_pack_on_cuda(Call& call) {
  const auto& task = call.arguments<PackTask>();
  for (int f = 0; f < task.faces; ++f)
    cuda::launch_pack<F>({task.lanes, task.face[f].direction, task.sign, task.face[f].remote != 0}, unpack<F>(call, task.face[f], f),
                         task.face[f].count, stop_of(call, task), static_cast<runtime::CudaStream>(call.stream()));
}
#endif

/// A codelet for each format, link format and part, so that traces and models tell them apart.
template <class F>
const Codelet& sites_codelet_of(int link_reals, bool boundary) {
  static const auto make = [](const char* part) {
    return std::make_unique<Codelet>(fmt::format("wilson.{}.{}", name_of(NumberFormat<F>::precision), part), runtime::CodeletKind::stencil,
                                     QUARKSTAR_BOTH(run_sites, F));
  };
  static const std::unique_ptr<Codelet> codelets[3][2] = {
      {make("18.interior"), make("18.boundary")}, {make("12.interior"), make("12.boundary")}, {make("8.interior"), make("8.boundary")}};
  return *codelets[link_reals == 18 ? 0 : link_reals == 12 ? 1 : 2][boundary];
}
const Codelet& sites_codelet(Precision precision, int link_reals, bool boundary) {
  return with_format(
      precision, [&](auto format) -> const Codelet& { return sites_codelet_of<typename decltype(format)::type>(link_reals, boundary); });
}

const Codelet& pack_codelet(Precision precision) {
  return with_format(precision, [&](auto format) -> const Codelet& {
    using F = typename decltype(format)::type;
    static const Codelet codelet(fmt::format("wilson.{}.pack", name_of(precision)), runtime::CodeletKind::pack,
                                 QUARKSTAR_BOTH(run_pack, F));
    return codelet;
  });
}

}  // namespace

struct Hopping::Submission {
  Output output;
  int sign;
  runtime::Guard guard;
};

Hopping::Hopping(const LinkField& even, const LinkField& odd)
    : links_{&even, &odd},
      faces_(make_faces(*even.lattice(), 12, "face of half spinors")),
      sums_(parts_of(*even.lattice()) * static_cast<int>(even.lattice()->local_blocks().size())) {
  if (even.parity() != 0 || odd.parity() != 1 || even.lattice() != odd.lattice() || even.reals() != odd.reals())
    throw ShapeError("Hopping", "the two link fields do not belong together");
}

runtime::Cost Hopping::cost(std::int64_t outer_sites, const Output& output) const {
  const Lattice& l = *lattice();
  const double sites = static_cast<double>(outer_sites) * l.lanes().lanes;
  const double fields = 2.0 + (output.x != nullptr ? 1 : 0) + (output.y != nullptr && output.y != output.x ? 1 : 0);
  double flops = 1320;
  if (output.x != nullptr) flops += 48 + 24;
  if (output.sums.norm) flops += 48;
  if (output.sums.dot) flops += 96;
  const auto link_bytes = static_cast<double>(8 * static_cast<std::size_t>(link_reals()) * bytes_of(l.precision()));
  return {sites * flops, sites * (link_bytes + fields * static_cast<double>(site_bytes(l.precision(), SpinorField::reals)))};
}

void Hopping::apply(const SpinorField& out, const SpinorField& in, const Output& output, bool adjoint, const runtime::Guard& guard) {
  if (out.lattice() != lattice() || in.lattice() != lattice() || out.parity() == in.parity())
    throw ShapeError("Hopping::apply", "fields of another lattice or parity");
  if (output.x == &out) throw ShapeError("Hopping::apply", "out = diagonal out + scale H in would read what it overwrites");
  if (output.sums.dot && output.y == nullptr) throw ShapeError("Hopping::apply", "a dot product without its left factor");
  const Submission submission{output, adjoint ? -1 : 1, guard};
  submit_with_faces(
      *lattice(), faces_, [&](int b) { submit_pack(b, in, submission); },
      [&](int b, bool boundary) { submit_sites(b, boundary, out, in, submission); });
}

void Hopping::submit_pack(int b, const SpinorField& in, const Submission& submission) {
  const BlockGeometry& geometry = lattice()->block(b);
  auto task = runtime::blank<PackTask>();
  task.lanes = lattice()->lanes().lanes;
  task.sign = submission.sign;
  AccessList accesses{runtime::in(geometry.handle()), runtime::in(in.block(b))};
  double bytes = 0;
  for (int d = 0; d < 8; ++d) {
    if (!geometry.is_cut(d / 2)) continue;
    const TableRange sites = geometry.pack(in.parity(), d);
    task.face[task.faces++] = {d, geometry.lanes().stride[d / 2], sites.offset, sites.count, faces_.is_far(b, d) ? 1 : 0};
    accesses.push_back(runtime::out(faces_.outgoing(b, d)));
    const std::size_t read = site_bytes(lattice()->precision(), SpinorField::reals), written = 12 * computed_bytes(lattice()->precision());
    bytes += static_cast<double>(sites.count) * geometry.face_lanes(d) * static_cast<double>(read + written);
  }
  task.has_state = submission.guard.state != nullptr;
  task.when = submission.guard.when;
  if (task.has_state) accesses.push_back(runtime::in(*submission.guard.state));
  runtime::submit(pack_codelet(lattice()->precision()), task, accesses, {0, bytes},
                  {.owner = geometry.block().owner, .block = b, .urgent = true, .role = role_of(submission.guard.when)});
}

void Hopping::submit_sites(int b, bool boundary, const SpinorField& out, const SpinorField& in, const Submission& submission) {
  const BlockGeometry& geometry = lattice()->block(b);
  const int parity = out.parity();
  const TableRange list = boundary ? geometry.boundary(parity) : geometry.interior(parity);
  const Output& output = submission.output;
  auto task = runtime::blank<SitesTask>();
  task.choice = {lattice()->lanes().lanes, link_reals(), submission.sign, block_threads_, memory_};
  task.neighbours = geometry.neighbours(parity);
  const bool listed = geometry.has_faces() && list.first < 0;
  task.sites = listed ? list.offset : no_list;
  task.first = listed || !geometry.has_faces() ? 0 : list.first;
  task.faces_at = geometry.boundary_faces(parity);
  task.count = list.count;
  task.diagonal = output.diagonal;
  task.scale = output.scale;
  for (int d = 0; d < 8; ++d) {
    const auto phase = boundary_phase(lattice()->boundary()[static_cast<std::size_t>(d / 2)] * (d % 2 == 0 ? 1 : -1));
    task.phase_re[d] = phase.real();
    task.phase_im[d] = phase.imag();
    task.face_buffer[d] = -1;
  }
  for (int mu = 0; mu < 4; ++mu) task.stride[mu] = geometry.lanes().stride[mu];
  task.sums = output.sums;
  task.has_x = output.x != nullptr;
  task.has_y = output.sums.dot;
  task.has_state = submission.guard.state != nullptr;
  task.when = submission.guard.when;

  // The interior task writes the block first, so that the boundary task finds it whole.
  AccessList accesses{runtime::in(geometry.handle()), runtime::in(links_[static_cast<std::size_t>(parity)]->block(b)),
                      runtime::in(in.block(b)), boundary ? runtime::inout_apart(out.block(b)) : runtime::out(out.block(b))};
  // Without sums no order with those who read them.
  if (task.sums.count() > 0)
    accesses.push_back(runtime::out(sums_.task(parts_of(*lattice()) * lattice()->decomposition().local_index(b) + (boundary ? 1 : 0))));
  if (task.has_x) accesses.push_back(runtime::in(output.x->block(b)));
  if (task.has_y) accesses.push_back(runtime::in(output.y->block(b)));
  if (task.has_state) accesses.push_back(runtime::in(*submission.guard.state));
  if (boundary) read_faces(geometry, faces_, task.face_buffer, accesses);
  runtime::submit(sites_codelet(lattice()->precision(), link_reals(), boundary), task, accesses, cost(list.count, output),
                  {.owner = geometry.block().owner, .block = b, .urgent = boundary, .role = role_of(submission.guard.when)});
}

}  // namespace quarkstar::wilson
