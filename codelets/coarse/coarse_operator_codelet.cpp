#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/coarse/coarse_operator.hpp"
#include "codelets/coarse/operator_cuda.hpp"
#include "codelets/coarse/operator_kernels.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/lattice/placement.hpp"
#include "codelets/stencil/halo_tasks.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::coarse {
namespace {

using runtime::Call;
using runtime::Codelet;

constexpr int words_per_group = 2 * lanes_of_components;

SiteList site_list(const TableRange& range) { return {range.offset, range.count, range.first}; }

/// Buffers: matrices, geometry, in, out, then the state where there is one, and faces.
struct SitesTask {
  SiteList lists[2];
  std::uint32_t neighbours[2], boundary_faces[2];
  std::int32_t face_sites[8];
  std::int8_t face_buffer[8];  ///< -1: none
  std::int32_t outer_sites, groups, vectors, has_state;
  Obedience obedience;

  const VectorStatus* status(Call& call) const { return has_state != 0 ? call.buffer<const VectorStatus>(4) : nullptr; }

  template <class F>
  OperatorArguments<F> unpack(Call& call) const {
    OperatorArguments<F> a{};
    a.matrices = call.buffer<const F>(0);
    a.tables = call.buffer<const std::uint32_t>(1);
    a.in = call.buffer<const F>(2);
    a.out = call.buffer<F>(3);
    a.left_out = obedience.left_out(status(call));
    for (int p = 0; p < 2; ++p) {
      a.lists[p] = lists[p];
      a.neighbours[p] = neighbours[p];
      a.boundary_faces[p] = boundary_faces[p];
    }
    for (int d = 0; d < 8; ++d) {
      a.faces[d] = face_buffer[d] < 0 ? nullptr : call.buffer<const F>(4 + has_state + face_buffer[d]);
      a.face_sites[d] = face_sites[d];
    }
    a.outer_sites = outer_sites;
    a.groups = groups;
    a.vectors = vectors;
    return a;
  }
};

template <class F>
void run_sites(Call& call) {
  const auto& task = call.arguments<SitesTask>();
  if (const std::int32_t* idle = task.obedience.idle(task.status(call)); idle != nullptr && *idle != 0) return call.skip();
  static constexpr arch::KernelTable<OperatorKernel<F> (*)()> table = QUARKSTAR_KERNEL_TABLE(coarse_operator_kernel<F>);
  const OperatorKernel<F> kernel = table.current()();
  const OperatorArguments<F> a = task.unpack<F>(call);
  call.team().for_range(a.lists[0].count + a.lists[1].count, [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
}

/// Buffers: matrices, images, colours.
struct ColumnsTask {
  Colours mask;
  std::int32_t block, first_column, count;
  std::int64_t sites;

  template <class F>
  ColumnArguments<F> unpack(Call& call) const {
    return {call.buffer<F>(0), call.buffer<const F>(1), call.buffer<const std::uint32_t>(2), mask, block, first_column, count};
  }
};

template <class F>
void run_columns(Call& call) {
  const auto& task = call.arguments<ColumnsTask>();
  const ColumnArguments<F> a = task.unpack<F>(call);
  call.team().for_range(task.sites, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t site = begin; site < end; ++site)
      for (int row = 0; row < 2 * a.count; ++row)
        for (int j = 0; j < a.count; ++j) set_element(a, static_cast<std::size_t>(site), row, j);
  });
}

/// Buffers: geometry, in, faces, then the state where there is one.
struct PackTask {
  struct Face {
    SiteList lists[2];
    std::int32_t sites;
  } face[8];
  std::int32_t faces, outer_sites, words, has_state;
  Obedience obedience;

  const std::int32_t* idle(Call& call) const {
    return obedience.idle(has_state != 0 ? call.buffer<const VectorStatus>(2 + faces) : nullptr);
  }
  template <class F>
  PackArguments<F> unpack(Call& call, int i) const {
    return {call.buffer<F>(2 + i),
            call.buffer<const F>(1),
            call.buffer<const std::uint32_t>(0),
            {face[i].lists[0], face[i].lists[1]},
            face[i].sites,
            outer_sites,
            words};
  }
};

template <class F>
void run_pack(Call& call) {
  const auto& task = call.arguments<PackTask>();
  if (const std::int32_t* idle = task.idle(call); idle != nullptr && *idle != 0) return call.skip();
  for (int f = 0; f < task.faces; ++f) {
    const PackArguments<F> a = task.unpack<F>(call, f);
    call.team().for_range(a.lists[0].count + a.lists[1].count, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i)
        for (int word = 0; word < a.words; ++word) pack_word(a, static_cast<std::uint32_t>(i), word);
    });
  }
}

#ifdef QUARKSTAR_CUDA
runtime::CudaStream stream_of(const Call& call) { return static_cast<runtime::CudaStream>(call.stream()); }
template <class F>
void run_sites_on_cuda(Call& call) {
  const auto& task = call.arguments<SitesTask>();
  cuda::launch_coarse_operator(task.unpack<F>(call), task.obedience.idle(task.status(call)), stream_of(call));
}
template <class F>
void run_columns_on_cuda(Call& call) {
  const auto& task = call.arguments<ColumnsTask>();
  cuda::launch_set_columns(task.unpack<F>(call), task.sites, stream_of(call));
}
template <class F>
void run_pack_on_cuda(Call& call) {
  const auto& task = call.arguments<PackTask>();
  for (int f = 0; f < task.faces; ++f) cuda::launch_coarse_pack(task.unpack<F>(call, f), task.idle(call), stream_of(call));
}
#endif

template <class F>
struct Codelets {
  static std::string named(const char* what) { return fmt::format("coarse.{}.{}", what, name_of(NumberFormat<F>::precision)); }
  Codelet interior{named("interior"), runtime::CodeletKind::stencil, QUARKSTAR_BOTH(run_sites, F)};
  Codelet boundary{named("boundary"), runtime::CodeletKind::stencil, QUARKSTAR_BOTH(run_sites, F)};
  Codelet pack{named("pack"), runtime::CodeletKind::pack, QUARKSTAR_BOTH(run_pack, F)};
  Codelet columns{named("set_columns"), runtime::CodeletKind::copy, QUARKSTAR_BOTH(run_columns, F)};
  static const Codelets& all() {
    static const Codelets codelets;
    return codelets;
  }
};

const Codelet& codelet_of(Precision precision, Codelet Codelets<double>::*in_double, Codelet Codelets<float>::*in_single) {
  return precision == Precision::double_ ? Codelets<double>::all().*in_double : Codelets<float>::all().*in_single;
}
#define QUARKSTAR_COARSE_CODELET(precision, member) codelet_of(precision, &Codelets<double>::member, &Codelets<float>::member)

}  // namespace

CoarseMatrices::CoarseMatrices(const Aggregates& aggregates) : lattice_(aggregates.coarse()), components_(aggregates.components()) {
  blocks_.resize(static_cast<std::size_t>(lattice_->block_count()));
  for (const int b : lattice_->local_blocks())
    blocks_[static_cast<std::size_t>(b)] = runtime::Handle(2 * static_cast<std::size_t>(lattice_->block(b).outer_sites()) *
                                                           bytes_per_site(components_, lattice_->precision()));
}

std::size_t CoarseMatrices::bytes_per_site(int components, Precision precision) {
  return static_cast<std::size_t>(blocks_per_site * components * components * 2) * computed_bytes(precision);
}

void CoarseMatrices::set_columns(const Aggregates& aggregates, const Field& images, int block, int first_column, const Colours& mask) {
  for (const int b : lattice_->local_blocks()) {
    auto task = runtime::blank<ColumnsTask>();
    task.mask = mask;
    task.block = block;
    task.first_column = first_column;
    task.count = components_ / 2;
    task.sites = 2 * static_cast<std::int64_t>(lattice_->block(b).outer_sites());
    runtime::submit(QUARKSTAR_COARSE_CODELET(lattice_->precision(), columns), task,
                    {runtime::inout(this->block(b)), runtime::in(images.block(b)), runtime::in(aggregates.colours(b))},
                    {0, 2 * images.block_bytes(b)}, placement_of(lattice_->block(b)));
  }
}

void CoarseMatrices::compute(const Aggregates& aggregates, EvenOdd& m) {
  const int n = components_ / 2;
  if (aggregates.coarse() != lattice_ || aggregates.components() != components_ || m.lattice() != aggregates.fine() || m.vectors() != n)
    throw ShapeError("CoarseMatrices::compute", "aggregates or an operator of another lattice or number of vectors");
  const FullField columns(aggregates.fine(), spinor_components, n), images(aggregates.fine(), spinor_components, n);
  const Field parts = aggregates.coarse_field(n);
  const auto image_of = [&](int chirality, const Colours& mask) {
    aggregates.columns(columns, chirality, mask);
    submit_together([&] {
      for (const int parity : {0, 1}) m.times_m(images.of(parity), columns, 1);
    });
  };
  for (const int b : lattice_->local_blocks()) {  // tasks write it in part
    const runtime::HostView<char> all(block(b), runtime::HostAccess::overwrite);
    std::fill(all.get(), all.get() + block(b).bytes(), char{0});
  }
  for (const int chirality : {0, 1})
    for (const int odd : {0, 1}) {
      constexpr int all_directions = 0b1111;
      image_of(chirality, {all_directions, odd});
      aggregates.restrict(parts, Aggregates::both(images));
      set_columns(aggregates, parts, 0, chirality * n, {all_directions, odd});
      for (int mu = 0; mu < 4; ++mu) {
        image_of(chirality, {1 << mu, odd});
        for (const int direction : {2 * mu, 2 * mu + 1}) {
          aggregates.restrict(parts, Aggregates::both(images), {}, aggregates.edge(direction));
          set_columns(aggregates, parts, 1 + direction, chirality * n, {1 << mu, 1 - odd});
        }
      }
    }
}

CoarseOperator::CoarseOperator(const CoarseMatrices& matrices, int vectors)
    : matrices_(matrices),
      vectors_(vectors),
      faces_(make_faces(*matrices.lattice(), 2 * 2 * matrices.components() * vectors, "coarse faces")),
      sums_(static_cast<int>(matrices.lattice()->local_blocks().size()), 3 * vectors) {}

void CoarseOperator::apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) {
  if (adjoint) throw ShapeError("CoarseOperator::apply", "the adjoint of a coarse operator");
  in.require_alike("CoarseOperator::apply", out);
  if (in.lattice() != lattice() || in.parity() != both_parities || in.components() != components() || in.vectors() != vectors_ ||
      out.vectors() != vectors_)
    throw ShapeError("CoarseOperator::apply", "vectors of another lattice or kind, or another number of them");
  submit_with_faces(
      *lattice(), faces_, [&](int b) { submit_pack(in, guard, b); },
      [&](int b, bool boundary) { submit_sites(out, in, guard, b, boundary); });
  if (sums.norm && sums.y != nullptr) blas::submit<blas::NormDot>({&out, sums.y}, {}, guard, &sums_);
  else if (sums.norm) blas::submit<blas::Norm>({&out}, {}, guard, &sums_);
  else if (sums.y != nullptr) blas::submit<blas::Dot>({&out, sums.y}, {}, guard, &sums_);
}

void CoarseOperator::submit_pack(const Field& in, const runtime::Guard& guard, int b) {
  const BlockGeometry& geometry = lattice()->block(b);
  auto task = runtime::blank<PackTask>();
  task.outer_sites = geometry.outer_sites();
  task.words = 2 * components() * vectors_;
  task.has_state = guard.state != nullptr ? 1 : 0;
  task.obedience.masked = guard.masked;
  task.obedience.when = guard.when;
  runtime::AccessList accesses{runtime::in(geometry.handle()), runtime::in(in.block(b))};
  double sites = 0;
  for (int d = 0; d < 8; ++d) {
    if (!geometry.is_cut(d / 2)) continue;
    PackTask::Face& face = task.face[task.faces++];
    for (const int parity : {0, 1}) {
      face.lists[parity] = site_list(geometry.pack(parity, d));
      sites += face.lists[parity].count;
    }
    face.sites = geometry.face_sites(d);
    accesses.push_back(runtime::out(faces_.outgoing(b, d)));
  }
  if (guard.state != nullptr) accesses.push_back(runtime::in(*guard.state));
  runtime::submit(QUARKSTAR_COARSE_CODELET(lattice()->precision(), pack), task, accesses,
                  {0, 2 * sites * task.words * static_cast<double>(computed_bytes(lattice()->precision()))},
                  {.owner = geometry.block().owner, .block = b, .urgent = true, .role = runtime::role_of(guard.when)});
}

void CoarseOperator::submit_sites(const Field& out, const Field& in, const runtime::Guard& guard, int b, bool boundary) {
  const BlockGeometry& geometry = lattice()->block(b);
  auto task = runtime::blank<SitesTask>();
  double sites = 0;
  for (const int parity : {0, 1}) {
    task.lists[parity] = site_list(boundary ? geometry.boundary(parity) : geometry.interior(parity));
    task.neighbours[parity] = geometry.neighbours(parity);
    task.boundary_faces[parity] = geometry.boundary_faces(parity);
    sites += task.lists[parity].count;
  }
  for (int d = 0; d < 8; ++d) {
    task.face_buffer[d] = -1;
    task.face_sites[d] = geometry.face_sites(d);
  }
  task.outer_sites = geometry.outer_sites();
  task.groups = components() / lanes_of_components;
  task.vectors = vectors_;
  task.has_state = guard.state != nullptr ? 1 : 0;
  task.obedience.masked = guard.masked;
  task.obedience.when = guard.when;
  // The interior task writes the block first, so that the boundary task finds it whole.
  runtime::AccessList accesses{runtime::in(matrices_.block(b)), runtime::in(geometry.handle()), runtime::in(in.block(b)),
                               boundary      ? runtime::inout_apart(out.block(b))
                               : guard.keeps ? runtime::inout(out.block(b))
                                             : runtime::out(out.block(b))};
  if (guard.state != nullptr) accesses.push_back(runtime::in(*guard.state));
  if (boundary) read_faces(geometry, faces_, task.face_buffer, accesses);
  const double numbers = static_cast<double>(components()) * components() * blocks_per_site;
  const auto reals = static_cast<double>(computed_bytes(lattice()->precision()));
  const Codelet& codelet =
      boundary ? QUARKSTAR_COARSE_CODELET(lattice()->precision(), boundary) : QUARKSTAR_COARSE_CODELET(lattice()->precision(), interior);
  runtime::submit(codelet, task, accesses,
                  {8 * numbers * sites * vectors_, sites * reals * (2 * numbers + 2.0 * words_per_group * task.groups * vectors_)},
                  {.owner = geometry.block().owner, .block = b, .urgent = boundary, .role = runtime::role_of(guard.when)});
}

}  // namespace quarkstar::coarse
