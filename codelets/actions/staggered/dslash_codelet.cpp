#include "codelets/actions/staggered/dslash.hpp"
#include "codelets/actions/staggered/dslash_cuda.hpp"
#include "codelets/actions/staggered/dslash_kernels.hpp"
#include "codelets/arch/implementations.hpp"
#include "codelets/stencil/halo_tasks.hpp"
#include "codelets/su3/long_link.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace quarkstar::staggered {
namespace {

using runtime::AccessList;
using runtime::BinnedSum;
using runtime::Call;
using runtime::Codelet;

constexpr std::uint32_t every_site = 0xffffffffu;  ///< offset of a site list that is simply 0, 1, 2, ...

/// Arguments of the sites codelet. Buffers: tables, fat links, in, out, partial sums, then those present of long links, x, y, state,
/// faces.
struct SitesTask {
  KernelChoice choice;
  std::uint32_t near, far, sites, near_at, far_at, count;
  PerVector diagonal, scale;
  double long_factor, near_factor;
  int stride[4];
  int vectors;
  OutputSums sums;
  bool has_x, has_y, has_state;
  Obedience obedience;
  std::int8_t face_buffer[8];  ///< number of the face among the face buffers; -1: not cut
};

struct PackTask {
  int lanes, vectors, faces;  ///< ColourField::width() and groups(); faces to pack
  bool has_state;
  runtime::When when;
  struct Face {
    int direction, stride;
    std::uint32_t sites, count;
    int remote;  ///< the reader is another GPU, in whose memory the face is
  } face[8];
};

/// The kernel's view of a task. Returns the solver's flags (on the worker's memory node), or nullptr where the task has none.
template <class F>
const VectorStatus* unpack(Call& call, const SitesTask& task, DslashArguments<F>& a) {
  using T = Real<F>;
  int next = 5;
  a.far_links = task.choice.long_reals > 0 ? call.buffer<const F>(next++) : nullptr;
  a.x = task.has_x ? call.buffer<const F>(next++) : nullptr;
  a.y = task.has_y ? call.buffer<const F>(next++) : nullptr;
  const VectorStatus* status = task.has_state ? call.buffer<const VectorStatus>(next++) : nullptr;
  for (int d = 0; d < 8; ++d) a.faces[d] = task.face_buffer[d] < 0 ? nullptr : call.buffer<const T>(next + task.face_buffer[d]);
  const auto* tables = call.buffer<const std::uint32_t>(0);
  a.near = tables + task.near;
  a.far = tables + task.far;
  a.sites = task.sites == every_site ? nullptr : tables + task.sites;
  a.near_at = tables + task.near_at;
  a.far_at = tables + task.far_at;
  a.fat = call.buffer<const F>(1);
  a.in = call.buffer<const F>(2);
  a.out = call.buffer<F>(3);
  for (int v = 0; v < task.vectors; ++v) {
    a.diagonal[v] = static_cast<T>(task.diagonal[static_cast<std::size_t>(v)]);
    a.scale[v] = static_cast<T>(task.scale[static_cast<std::size_t>(v)]);
  }
  a.long_factor = static_cast<T>(task.long_factor);
  a.near_factor = static_cast<T>(task.near_factor);
  for (int mu = 0; mu < 4; ++mu) a.stride[mu] = task.stride[mu];
  a.vectors = task.vectors;
  a.sums = task.sums;
  a.stream_out = task.choice.launch.memory.stores == arch::Stores::streaming;
  return status;
}

template <class F>
void run_sites(Call& call) {
  const auto& task = call.arguments<SitesTask>();
  DslashArguments<F> a{};
  const VectorStatus* status = unpack(call, task, a);
  if (const std::int32_t* idle = task.obedience.idle(status); idle != nullptr && *idle != 0) return call.skip();
  const std::int32_t* left_out = task.obedience.left_out(status);
  const DslashKernel<F> kernel = dslash_kernel<F>(task.choice);
  const int sums = task.sums.count(task.vectors);
  runtime::ThreadSums partial(call.team().threads(), sums);
  call.team().for_range(task.count,
                        [&](std::int64_t begin, std::int64_t end, int thread) { kernel(a, begin, end, left_out, partial.of(thread)); });
  if (sums > 0) partial.merge_into(call.buffer<BinnedSum>(4), sums);
}

template <class F>
PackArguments<F> unpack(Call& call, const PackTask& task, int number) {
  const PackTask::Face& face = task.face[number];
  return {call.buffer<const std::uint32_t>(0) + face.sites, call.buffer<const F>(1), call.buffer<Real<F>>(2 + number), face.stride,
          task.vectors};
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
    const PackArguments<F> a = unpack<F>(call, task, f);
    const PackKernel<F> kernel = pack_kernel<F>(task.lanes, face.direction % 2 == 0);
    call.team().for_range(face.count, [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
  }
}

#ifdef QUARKSTAR_CUDA
template <class F>
void run_sites_on_cuda(Call& call) {
  const auto& task = call.arguments<SitesTask>();
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  DslashArguments<F> a{};
  const VectorStatus* status = unpack(call, task, a);
  cuda::launch_dslash(task.choice, a, task.count, status, task.obedience, stream);
  runtime::finish_sums(call.buffer<BinnedSum>(4), task.sums.count(task.vectors), task.obedience.idle(status), stream);
}

template <class F>
void run_pack_on_cuda(Call& call) {
  const auto& task = call.arguments<PackTask>();
  for (int f = 0; f < task.faces; ++f)
    cuda::launch_colour_pack(task.lanes, task.face[f].direction % 2 == 0, task.face[f].remote != 0, unpack<F>(call, task, f),
                             task.face[f].count, stop_of(call, task), static_cast<runtime::CudaStream>(call.stream()));
}
#endif

/// A codelet for each format, kind of long link and part, so that traces and models tell them apart.
template <class F>
const Codelet& sites_codelet_of(int long_reals, bool boundary) {
  constexpr int kinds[] = {0, 18, 14, 13, 9};
  static const auto codelets = [&] {
    std::array<std::array<std::unique_ptr<Codelet>, 2>, std::size(kinds)> made;
    for (std::size_t i = 0; i < made.size(); ++i)
      for (std::size_t part = 0; part < 2; ++part)
        made[i][part] = std::make_unique<Codelet>(
            fmt::format("staggered.{}.{}.{}", name_of(NumberFormat<F>::precision), kinds[i], part == 1 ? "boundary" : "interior"),
            runtime::CodeletKind::stencil, QUARKSTAR_BOTH(run_sites, F));
    return made;
  }();
  const auto kind = static_cast<std::size_t>(std::find(std::begin(kinds), std::end(kinds), long_reals) - std::begin(kinds));
  return *codelets[kind][boundary ? 1 : 0];
}
const Codelet& sites_codelet(Precision precision, int long_reals, bool boundary) {
  return with_format(
      precision, [&](auto format) -> const Codelet& { return sites_codelet_of<typename decltype(format)::type>(long_reals, boundary); });
}

const Codelet& pack_codelet(Precision precision) {
  return with_format(precision, [&](auto format) -> const Codelet& {
    using F = typename decltype(format)::type;
    static const Codelet codelet(fmt::format("staggered.{}.pack", name_of(precision)), runtime::CodeletKind::pack,
                                 QUARKSTAR_BOTH(run_pack, F));
    return codelet;
  });
}

}  // namespace

struct Dslash::Submission {
  Output output;
  Control control;
};

Dslash::Dslash(const Links& even, const Links& odd, int vectors)
    : links_{&even, &odd},
      vectors_(vectors),
      faces_(make_faces(*even.fat.lattice(), ColourField::reals * vectors, "face of colour vectors")),
      sums_(parts_of(*even.fat.lattice()) * static_cast<int>(even.fat.lattice()->local_blocks().size()), 2 * vectors) {
  if (even.fat.parity() != 0 || odd.fat.parity() != 1 || even.fat.lattice() != odd.fat.lattice() || even.long_reals() != odd.long_reals())
    throw ShapeError("Dslash", "the links of the two parities do not belong together");
  if (lattice()->vectors_in_lanes() > 1 && long_reals() % 18 != 0)
    throw ShapeError("Dslash", "compressed long links where vectors are in lanes");
}

runtime::Cost Dslash::cost(std::int64_t outer_sites, const Output& output) const {
  const Lattice& l = *lattice();
  const double sites = static_cast<double>(outer_sites) * l.lanes().lanes;
  const double fields = 2.0 + (output.x != nullptr ? 1 : 0) + (output.y != nullptr && output.y != output.x ? 1 : 0);
  double flops = dslash_flops(long_reals() > 0);
  if (output.x != nullptr) flops += 12 + 6;
  if (output.sums.norm) flops += 12;
  if (output.sums.dot) flops += 12;
  const auto both_links = static_cast<double>(8 * (link_bytes(l.precision(), 18) + link_bytes(l.precision(), long_reals())));
  return {sites * flops * vectors_,
          sites * (both_links + vectors_ * fields * static_cast<double>(site_bytes(l.precision(), ColourField::reals)))};
}

void Dslash::apply(const ColourField& out, const ColourField& in, const Output& output, const Control& control) {
  if (out.lattice() != lattice() || in.lattice() != lattice() || out.parity() == in.parity())
    throw ShapeError("Dslash::apply", "fields of another lattice or parity");
  for (const ColourField* field : {&out, &in, output.x, output.y})
    if (field != nullptr && field->vectors() != vectors_) throw ShapeError("Dslash::apply", "a field with another number of vectors");
  if (output.x == &out) throw ShapeError("Dslash::apply", "out = diagonal out + scale D in would read what it overwrites");
  if (output.sums.dot && output.y == nullptr) throw ShapeError("Dslash::apply", "a dot product without its left factor");
  const Submission submission{output, control};
  submit_with_faces(
      *lattice(), faces_, [&](int b) { submit_pack(b, in, submission); },
      [&](int b, bool boundary) { submit_sites(b, boundary, out, in, submission); });
}

void Dslash::submit_pack(int b, const ColourField& in, const Submission& submission) {
  const BlockGeometry& geometry = lattice()->block(b);
  auto task = runtime::blank<PackTask>();
  task.lanes = in.width();
  task.vectors = in.groups();
  AccessList accesses{runtime::in(geometry.handle()), runtime::in(in.block(b))};
  double bytes = 0;
  for (int d = 0; d < 8; ++d) {
    if (!geometry.is_cut(d / 2)) continue;
    const TableRange sites = geometry.pack(in.parity(), d);
    task.face[task.faces++] = {d, geometry.lanes().stride[d / 2], sites.offset, sites.count, faces_.is_far(b, d) ? 1 : 0};
    accesses.push_back(runtime::out(faces_.outgoing(b, d)));
    const std::size_t read = site_bytes(lattice()->precision(), ColourField::reals),
                      written = ColourField::reals * computed_bytes(lattice()->precision());
    bytes += static_cast<double>(vectors_) * sites.count * geometry.face_lanes(d) * static_cast<double>(read + written);
  }
  task.has_state = submission.control.state != nullptr;
  task.when = submission.control.obedience.when;
  if (task.has_state) accesses.push_back(runtime::in(*submission.control.state));
  runtime::submit(
      pack_codelet(lattice()->precision()), task, accesses, {0, bytes},
      {.owner = geometry.block().owner, .block = b, .urgent = true, .role = runtime::role_of(submission.control.obedience.when)});
}

void Dslash::submit_sites(int b, bool boundary, const ColourField& out, const ColourField& in, const Submission& submission) {
  const BlockGeometry& geometry = lattice()->block(b);
  const int parity = out.parity();
  const Links& links = *links_[static_cast<std::size_t>(parity)];
  const TableRange list = boundary ? geometry.boundary(parity) : geometry.interior(parity);
  const Output& output = submission.output;
  auto task = runtime::blank<SitesTask>();
  task.choice = {lattice()->lanes().lanes, long_reals(), launch_, lattice()->vectors_in_lanes()};
  task.near = geometry.neighbours(parity);
  task.far = geometry.far_neighbours(parity);
  task.sites = geometry.has_faces() ? list.offset : every_site;
  task.near_at = geometry.boundary_faces(parity);
  task.far_at = geometry.far_boundary_faces(parity);
  task.count = list.count;
  task.diagonal = output.diagonal;
  task.scale = output.scale;
  for (double& scale : task.scale) scale *= links.far ? links.long_unit : links.fat_unit;
  task.long_factor = links.far ? site::long_link_factor(long_reals(), links.long_scale, lattice()->precision() == Precision::half) : 0;
  task.near_factor = links.fat_unit / links.long_unit;
  for (int mu = 0; mu < 4; ++mu) task.stride[mu] = geometry.lanes().stride[mu];
  task.vectors = vectors_;
  task.sums = output.sums;
  task.has_x = output.x != nullptr;
  task.has_y = output.sums.dot;
  task.has_state = submission.control.state != nullptr;
  task.obedience = submission.control.obedience;

  // The interior task writes the block first, so that the boundary task finds it whole.
  AccessList accesses{runtime::in(geometry.handle()), runtime::in(links.fat.block(b)), runtime::in(in.block(b)),
                      boundary ? runtime::inout_apart(out.block(b)) : runtime::out(out.block(b)),
                      runtime::out(sums_.task(parts_of(*lattice()) * lattice()->decomposition().local_index(b) + (boundary ? 1 : 0)))};
  if (links.far) accesses.push_back(runtime::in(links.far->block(b)));
  if (task.has_x) accesses.push_back(runtime::in(output.x->block(b)));
  if (task.has_y) accesses.push_back(runtime::in(output.y->block(b)));
  if (task.has_state) accesses.push_back(runtime::in(*submission.control.state));
  for (int d = 0; d < 8; ++d) task.face_buffer[d] = -1;
  if (boundary) read_faces(geometry, faces_, task.face_buffer, accesses);
  runtime::submit(
      sites_codelet(lattice()->precision(), long_reals(), boundary), task, accesses, cost(list.count, output),
      {.owner = geometry.block().owner, .block = b, .urgent = boundary, .role = runtime::role_of(submission.control.obedience.when)});
}

}  // namespace quarkstar::staggered
