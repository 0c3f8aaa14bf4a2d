#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/coarse/coarse_operator.hpp"
#include "codelets/coarse/operator_cuda.hpp"
#include "codelets/coarse/operator_kernels.hpp"
#include "codelets/coarse/restriction.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/lattice/placement.hpp"
#include "codelets/stencil/face_format.hpp"
#include "codelets/stencil/halo_tasks.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::coarse {
namespace {

using runtime::Call;
using runtime::Codelet;

SiteList site_list(const TableRange& range) { return {range.offset, range.count, range.first}; }

/// Buffers: matrices, geometry, out; what else there is, and faces.
struct SitesTask {
  SiteList list;
  std::uint32_t neighbours, boundary_faces;
  std::int8_t face_buffer[8];                                                      ///< from first_face on; -1: none
  std::int32_t self_buffer, others_buffer, base_buffer, state_buffer, first_face;  ///< -1: none
  std::int32_t parity, outer_sites, groups, vectors, self_block, add, first_block, end_block;
  Obedience obedience;

  const VectorStatus* status(Call& call) const { return state_buffer < 0 ? nullptr : call.buffer<const VectorStatus>(state_buffer); }

  template <class M>
  OperatorArguments<M> unpack(Call& call) const {
    using F = Computed<M>;
    OperatorArguments<M> a{};
    const auto buffer = [&](std::int32_t number) -> const F* { return number < 0 ? nullptr : call.buffer<const F>(number); };
    a.matrices = call.buffer<const M>(0);
    a.tables = call.buffer<const std::uint32_t>(1);
    a.out = call.buffer<F>(2);
    a.self = buffer(self_buffer);
    a.others = buffer(others_buffer);
    a.base = buffer(base_buffer);
    a.left_out = obedience.left_out(status(call));
    a.list = list;
    a.neighbours = neighbours;
    a.boundary_faces = boundary_faces;
    for (int d = 0; d < 8; ++d) a.faces[d] = face_buffer[d] < 0 ? nullptr : buffer(first_face + face_buffer[d]);
    a.parity = parity;
    a.outer_sites = outer_sites;
    a.groups = groups;
    a.vectors = vectors;
    a.self_block = self_block;
    a.add = add;
    a.first_block = first_block;
    a.end_block = end_block;
    return a;
  }
};

template <class M>
void run_sites(Call& call) {
  const auto& task = call.arguments<SitesTask>();
  if (const std::int32_t* idle = task.obedience.idle(task.status(call)); idle != nullptr && *idle != 0) return call.skip();
  static constexpr arch::KernelTable<OperatorKernel<M> (*)()> table = QUARKSTAR_KERNEL_TABLE(coarse_operator_kernel<M>);
  const OperatorKernel<M> kernel = table.current()();
  const OperatorArguments<M> a = task.unpack<M>(call);
  call.team().for_range(a.list.count, [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
}

/// What the geometry says of a blank task on the interior or the boundary of a block.
void describe_sites(SitesTask& task, const BlockGeometry& geometry, int parity, bool boundary) {
  task.list = site_list(boundary ? geometry.boundary(parity) : geometry.interior(parity));
  task.neighbours = geometry.neighbours(parity);
  task.boundary_faces = geometry.boundary_faces(parity);
  for (std::int8_t& buffer : task.face_buffer) buffer = -1;
  task.self_buffer = task.others_buffer = task.base_buffer = task.state_buffer = -1;
  task.parity = parity;
  task.outer_sites = geometry.outer_sites();
}

/// Buffers: matrices, geometry, columns on the other parity, faces.
struct AdjointTask {
  SitesTask columns;
  std::int32_t first_row;

  template <class F>
  AdjointArguments<F> unpack(Call& call) const {
    return {columns.unpack<F>(call), call.buffer<F>(0), first_row};
  }
};

template <class F>
void run_adjoint(Call& call) {
  const AdjointArguments<F> a = call.arguments<AdjointTask>().template unpack<F>(call);
  call.team().for_range(a.columns.list.count, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i)
      for (int column = 0; column < a.columns.groups * lanes_of_components; ++column)
        for (int j = 0; j < a.columns.vectors; ++j) set_adjoint_element(a, static_cast<std::uint32_t>(i), column, j);
  });
}

/// Buffers: matrices, images on even and on odd sites.
struct ColumnsTask {
  std::int32_t outer_sites, block, first_column, count, components;

  std::int64_t sites() const { return std::int64_t{2} * outer_sites; }
  template <class F>
  ColumnArguments<F> unpack(Call& call) const {
    return {call.buffer<F>(0), {call.buffer<const F>(1), call.buffer<const F>(2)}, outer_sites, block, first_column, count, components};
  }
};

template <class F>
void run_columns(Call& call) {
  const auto& task = call.arguments<ColumnsTask>();
  const ColumnArguments<F> a = task.unpack<F>(call);
  call.team().for_range(task.sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t site = begin; site < end; ++site)
      for (int row = 0; row < a.components; ++row)
        for (int j = 0; j < a.count; ++j) set_column_element(a, static_cast<std::size_t>(site), row, j);
  });
}

/// Buffer: matrices.
struct EliminateTask {
  std::int32_t components;
  std::int64_t sites;
};

template <class F>
void run_eliminate(Call& call) {
  const auto& task = call.arguments<EliminateTask>();
  static constexpr arch::KernelTable<EliminateKernel<F> (*)()> table = QUARKSTAR_KERNEL_TABLE(coarse_eliminate_kernel<F>);
  const EliminateKernel<F> kernel = table.current()();
  call.team().for_range(task.sites,
                        [&](std::int64_t begin, std::int64_t end, int) { kernel(call.buffer<F>(0), task.components, begin, end); });
}

/// Buffers: geometry, in, faces, then the state where there is one.
struct PackTask {
  SiteList lists[8];  ///< of each face
  std::int32_t faces, words, has_state;
  Obedience obedience;

  const std::int32_t* idle(Call& call) const {
    return obedience.idle(has_state != 0 ? call.buffer<const VectorStatus>(2 + faces) : nullptr);
  }
  template <class F>
  PackArguments<F> unpack(Call& call, int i) const {
    return {call.buffer<F>(2 + i), call.buffer<const F>(1), call.buffer<const std::uint32_t>(0), lists[i], words};
  }
};

template <class F>
void run_pack(Call& call) {
  const auto& task = call.arguments<PackTask>();
  if (const std::int32_t* idle = task.idle(call); idle != nullptr && *idle != 0) return call.skip();
  for (int f = 0; f < task.faces; ++f) {
    const PackArguments<F> a = task.unpack<F>(call, f);
    call.team().for_range(a.list.count, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i)
        for (int word = 0; word < a.words; ++word) pack_word(a, static_cast<std::uint32_t>(i), word);
    });
  }
}

#ifdef QUARKSTAR_CUDA
runtime::CudaStream stream_of(const Call& call) { return static_cast<runtime::CudaStream>(call.stream()); }
template <class M>
void run_sites_on_cuda(Call& call) {
  const auto& task = call.arguments<SitesTask>();
  cuda::launch_coarse_operator(task.unpack<M>(call), task.obedience.idle(task.status(call)), stream_of(call));
}
template <class F>
void run_columns_on_cuda(Call& call) {
  const auto& task = call.arguments<ColumnsTask>();
  cuda::launch_set_columns(task.unpack<F>(call), task.sites(), stream_of(call));
}
template <class F>
void run_adjoint_on_cuda(Call& call) {
  cuda::launch_set_adjoint(call.arguments<AdjointTask>().template unpack<F>(call), stream_of(call));
}
template <class F>
void run_eliminate_on_cuda(Call& call) {
  const auto& task = call.arguments<EliminateTask>();
  cuda::launch_coarse_eliminate(call.buffer<F>(0), task.components, task.sites, stream_of(call));
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
  Codelet eliminate{named("eliminate"), runtime::CodeletKind::vector, QUARKSTAR_BOTH(run_eliminate, F)};
  Codelet columns{named("set_columns"), runtime::CodeletKind::copy, QUARKSTAR_BOTH(run_columns, F)};
  Codelet adjoint{named("set_adjoint"), runtime::CodeletKind::copy, QUARKSTAR_BOTH(run_adjoint, F)};
  static const Codelets& all() {
    static const Codelets codelets;
    return codelets;
  }
};

/// With matrices in 16 bits.
struct NarrowCodelets {
  Codelet interior{"coarse.interior.half", runtime::CodeletKind::stencil, QUARKSTAR_BOTH(run_sites, Binary16)};
  Codelet boundary{"coarse.boundary.half", runtime::CodeletKind::stencil, QUARKSTAR_BOTH(run_sites, Binary16)};
  static const NarrowCodelets& all() {
    static const NarrowCodelets codelets;
    return codelets;
  }
};

const Codelet& codelet_of(Precision precision, Codelet Codelets<double>::*in_double, Codelet Codelets<float>::*in_single) {
  return precision == Precision::double_ ? Codelets<double>::all().*in_double : Codelets<float>::all().*in_single;
}
#define QUARKSTAR_COARSE_CODELET(precision, member) codelet_of(precision, &Codelets<double>::member, &Codelets<float>::member)

/// Faces of a block with the words of its vectors `in`.
void submit_pack(runtime::Halo& faces, const Field& in, const runtime::Guard& guard, int b) {
  const BlockGeometry& geometry = in.lattice()->block(b);
  const Precision precision = in.lattice()->precision();
  auto task = runtime::blank<PackTask>();
  task.words = 2 * in.components() * in.vectors();
  task.has_state = guard.state != nullptr ? 1 : 0;
  task.obedience.masked = guard.masked;
  task.obedience.when = guard.when;
  runtime::AccessList accesses{runtime::in(geometry.handle()), runtime::in(in.block(b))};
  double sites = 0;
  for (int d = 0; d < 8; ++d) {
    if (!geometry.is_cut(d / 2)) continue;
    SiteList& list = task.lists[task.faces++];
    list = site_list(geometry.pack(in.parity(), d));
    sites += list.count;
    accesses.push_back(runtime::out(faces.outgoing(b, d)));
  }
  if (guard.state != nullptr) accesses.push_back(runtime::in(*guard.state));
  runtime::submit(QUARKSTAR_COARSE_CODELET(precision, pack), task, accesses,
                  {0, 2 * sites * task.words * static_cast<double>(computed_bytes(precision))},
                  {.owner = geometry.block().owner, .block = b, .urgent = true, .role = runtime::role_of(guard.when)});
}

/// Of vectors at a site of a face.
std::size_t face_bytes(const Lattice& lattice, int components, int vectors) {
  return FaceFormat{2 * components * vectors, true}.bytes(lattice.precision());
}

}  // namespace

CoarseMatrices::CoarseMatrices(const Aggregates& aggregates) : lattice_(aggregates.coarse()), components_(aggregates.components()) {
  blocks_.resize(static_cast<std::size_t>(lattice_->block_count()));
  for (const int b : lattice_->local_blocks())
    blocks_[static_cast<std::size_t>(b)] = runtime::Handle(2 * static_cast<std::size_t>(lattice_->block(b).outer_sites()) *
                                                           bytes_per_site(components_, lattice_->precision()));
}

std::size_t CoarseMatrices::bytes_per_site(int components, Precision precision) {
  const std::size_t number = precision == Precision::half ? sizeof(Binary16) : computed_bytes(precision);
  return static_cast<std::size_t>(blocks_per_site * components * components * 2) * number;
}

void CoarseMatrices::set_columns(const FullField& images, int block, int first_column) {
  for (const int b : lattice_->local_blocks()) {
    auto task = runtime::blank<ColumnsTask>();
    task.outer_sites = lattice_->block(b).outer_sites();
    task.block = block;
    task.first_column = first_column;
    task.count = images.even.vectors();
    task.components = components_;
    const double numbers = static_cast<double>(components_) * task.count, sites = 2.0 * task.outer_sites;
    const bool first = block == 0 && first_column == 0;  // before it there is nothing
    runtime::submit(QUARKSTAR_COARSE_CODELET(lattice_->precision(), columns), task,
                    {first ? runtime::out(this->block(b)) : runtime::inout(this->block(b)), runtime::in(images.even.block(b)),
                     runtime::in(images.odd.block(b))},
                    {(block == 0 ? 0 : 2) * numbers * sites, 4 * images.even.block_bytes(b)}, placement_of(lattice_->block(b)));
  }
}

/// The blocks backward along mu, from the columns of the neighbours' blocks forward.
void CoarseMatrices::set_adjoints(runtime::Halo& faces, const FullField& images, int mu, int first_row) {
  const auto submit_sites = [&](int parity, int b, bool boundary) {
    const BlockGeometry& geometry = lattice_->block(b);
    const Field& columns = images.of(1 - parity);
    auto task = runtime::blank<AdjointTask>();
    describe_sites(task.columns, geometry, parity, boundary);
    task.columns.others_buffer = 2;
    task.columns.first_face = 3;
    task.columns.groups = components_ / lanes_of_components;
    task.columns.vectors = images.even.vectors();
    task.columns.first_block = 1 + (2 * mu + 1);
    task.first_row = first_row;
    runtime::AccessList accesses{runtime::inout(block(b)), runtime::in(geometry.handle()), runtime::in(columns.block(b))};
    if (boundary) read_faces(geometry, faces, task.columns.face_buffer, accesses);
    const double numbers = static_cast<double>(components_) * task.columns.vectors, sites = task.columns.list.count;
    runtime::submit(QUARKSTAR_COARSE_CODELET(lattice_->precision(), adjoint), task, accesses,
                    {2 * numbers * sites, 6 * numbers * sites * static_cast<double>(computed_bytes(lattice_->precision()))},
                    {.owner = geometry.block().owner, .block = b, .urgent = boundary});
  };
  for (const int parity : {0, 1})
    submit_with_faces(
        *lattice_, faces, [&](int b) { submit_pack(faces, images.of(1 - parity), {}, b); },
        [&](int b, bool boundary) { submit_sites(parity, b, boundary); });
}

void CoarseMatrices::eliminate() {
  const double n = components_, reals = static_cast<double>(computed_bytes(lattice_->precision()));
  for (const int b : lattice_->local_blocks()) {
    auto task = runtime::blank<EliminateTask>();
    task.components = components_;
    task.sites = 2 * static_cast<std::int64_t>(lattice_->block(b).outer_sites());
    const auto sites = static_cast<double>(task.sites);
    runtime::submit(QUARKSTAR_COARSE_CODELET(lattice_->precision(), eliminate), task, {runtime::inout(block(b))},
                    {9 * 8 * n * n * n * sites, 2 * 2 * blocks_per_site * n * n * reals * sites}, placement_of(lattice_->block(b)));
  }
  eliminated_ = true;
}

void CoarseMatrices::compute(const Aggregates& aggregates, EvenOdd& m) {
  const int n = null_vectors_at_once(aggregates.null_vector_count());
  if (aggregates.coarse() != lattice_ || aggregates.components() != components_ || m.lattice() != aggregates.fine() || m.vectors() != n)
    throw ShapeError("CoarseMatrices::compute", "aggregates or an operator of another lattice or number of vectors");
  const auto fine_vectors = [&] { return FullField(aggregates.fine(), m.components(), n); };
  const FullField columns = fine_vectors(), images = fine_vectors();
  const FullField parts = aggregates.coarse_field(n);
  Restriction restriction(aggregates, n);
  runtime::Halo faces = make_faces(*lattice_, face_bytes(*lattice_, components_, n), "coarse columns");
  eliminated_ = false;
  const auto on_both_parities = [&](const auto& apply) {
    submit_together([&] {
      for (const int parity : {0, 1}) apply(images.of(parity));
    });
  };
  // body(first column) with columns of one chirality.
  const auto for_columns = [&](auto&& body) {
    for (const int chirality : {0, 1})
      for (int field = 0; field < static_cast<int>(aggregates.null_vectors().size()); ++field) {
        aggregates.columns(columns, chirality, field);
        body(chirality * (components_ / 2) + field * n);
      }
  };
  // A hop's adjoint is in columns of both chiralities, so the sums of all blocks come first.
  for_columns([&](int first) {
    on_both_parities([&](const Field& out) { m.times_m(out, columns, 1); });
    restriction.apply(parts, Aggregates::both(images));
    set_columns(parts, 0, first);
  });
  for_columns([&](int first) {
    for (int mu = 0; mu < 4; ++mu) {
      on_both_parities([&](const Field& out) { m.forward_hop(out, columns, mu); });
      restriction.apply(parts, Aggregates::both(images), {}, aggregates.edge(mu));
      set_columns(parts, 1 + 2 * mu, first);
      set_adjoints(faces, parts, mu, first);
    }
  });
}

CoarseOperator::CoarseOperator(const CoarseMatrices& matrices, int vectors, Stored stored)
    : matrices_(matrices),
      vectors_(vectors),
      stored_(stored),
      faces_(make_faces(*matrices.lattice(), face_bytes(*matrices.lattice(), matrices.components(), vectors), "coarse faces")),
      sums_(partial_sums_on(*matrices.lattice(), 3 * vectors)),
      half_(matrices.lattice(), matrices.components(), vectors) {}

void CoarseOperator::apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) {
  if (adjoint) throw ShapeError("CoarseOperator::apply", "the adjoint of a coarse operator");
  runtime::Guard within = guard;
  within.keeps = false;
  submit(half_.even, {.others = &in}, within);
  submit(out, {.others = &half_.even, .base = &in}, guard);
  if (sums.norm && sums.y != nullptr) blas::submit<blas::NormDot>({&out, sums.y}, {}, guard, &sums_);
  else if (sums.norm) blas::submit<blas::Norm>({&out}, {}, guard, &sums_);
  else if (sums.y != nullptr) blas::submit<blas::Dot>({&out, sums.y}, {}, guard, &sums_);
}

void CoarseOperator::prepare(const Field& rhs, const FullField& b, bool adjoint) {
  if (adjoint) throw ShapeError("CoarseOperator::prepare", "the adjoint of a coarse operator");
  prepare(rhs, b, runtime::Guard{});
}

void CoarseOperator::prepare(const Field& rhs, const FullField& b, const runtime::Guard& guard) {
  runtime::Guard within = guard;
  within.keeps = false;
  submit(half_.even, {.self = &b.even, .own = inverse_block}, within);
  submit(half_.odd, {.self = &b.odd, .own = inverse_block}, within);
  submit(rhs, {.others = &half_.even, .base = &half_.odd}, guard);
}

void CoarseOperator::reconstruct(const Field& other, const FullField& b, const Field& x, bool adjoint) {
  if (adjoint) throw ShapeError("CoarseOperator::reconstruct", "the adjoint of a coarse operator");
  reconstruct(other, b, x, runtime::Guard{});
}

void CoarseOperator::reconstruct(const Field& other, const FullField& b, const Field& x, const runtime::Guard& guard) {
  runtime::Guard within = guard;
  within.keeps = false;
  submit(half_.even, {.self = &b.even, .own = inverse_block}, within);
  submit(other, {.others = &x, .base = &half_.even}, guard);
}

void CoarseOperator::times_m(const Field& out, const FullField& x, double factor, bool adjoint, const runtime::Guard& guard) {
  if (factor != 1 || adjoint) throw ShapeError("CoarseOperator::times_m", "a multiple or the adjoint of a coarse operator");
  const int parity = out.parity();
  runtime::Guard within = guard;
  within.keeps = false;
  if (!matrices_.eliminated()) return submit(out, {.self = &x.of(parity), .others = &x.of(1 - parity)}, guard);
  submit(half_.of(parity), {.others = &x.of(1 - parity), .base = &x.of(parity), .add = true}, within);
  submit(out, {.self = &half_.of(parity)}, guard);
}

void CoarseOperator::forward_hop(const Field& out, const FullField& x, int mu) {
  const Product hop{.others = &x.of(1 - out.parity()), .direction = 2 * mu};
  if (!matrices_.eliminated()) return submit(out, hop, {});
  submit(half_.of(out.parity()), hop, {});
  submit(out, {.self = &half_.of(out.parity())}, {});
}

void CoarseOperator::times_own(const Field& out, const Field& in, const runtime::Guard& guard) { submit(out, {.self = &in}, guard); }

void CoarseOperator::submit(const Field& out, const Product& product, const runtime::Guard& guard) {
  const auto require = [&](const Field* field, int parity) {
    if (field != nullptr &&
        (field->lattice() != lattice() || field->parity() != parity || field->components() != components() || field->vectors() != vectors_))
      throw ShapeError("CoarseOperator", "vectors of another lattice, parity or kind, or another number of them");
  };
  require(&out, out.parity());
  require(product.self, out.parity());
  require(product.base, out.parity());
  require(product.others, 1 - out.parity());
  if (product.others == nullptr) {
    for (const int b : lattice()->local_blocks()) {
      submit_sites(out, product, guard, b, false);
      if (lattice()->block(b).has_faces()) submit_sites(out, product, guard, b, true);
    }
    return;
  }
  submit_with_faces(
      *lattice(), faces_, [&](int b) { submit_pack(faces_, *product.others, guard, b); },
      [&](int b, bool boundary) { submit_sites(out, product, guard, b, boundary); });
}

void CoarseOperator::submit_sites(const Field& out, const Product& product, const runtime::Guard& guard, int b, bool boundary) {
  const BlockGeometry& geometry = lattice()->block(b);
  const int parity = out.parity();
  auto task = runtime::blank<SitesTask>();
  describe_sites(task, geometry, parity, boundary);
  task.groups = components() / lanes_of_components;
  task.vectors = vectors_;
  task.self_block = product.own;
  task.add = product.add ? 1 : 0;
  task.first_block = product.self != nullptr ? 0 : 1 + std::max(product.direction, 0);
  task.end_block = product.others == nullptr ? 1 : product.direction < 0 ? 9 : 2 + product.direction;
  task.obedience.masked = guard.masked;
  task.obedience.when = guard.when;
  // The interior task writes the block first, so that the boundary task finds it whole.
  const bool narrow = stored_ == Stored::narrow;
  runtime::AccessList accesses{runtime::in(narrow ? matrices_.narrow_block(b) : matrices_.block(b)), runtime::in(geometry.handle()),
                               boundary      ? runtime::inout_apart(out.block(b))
                               : guard.keeps ? runtime::inout(out.block(b))
                                             : runtime::out(out.block(b))};
  double vectors_moved = 1;
  const auto add = [&](const runtime::Handle& handle) {
    accesses.push_back(runtime::in(handle));
    return static_cast<std::int32_t>(accesses.size()) - 1;
  };
  const auto add_field = [&](const Field* field) {
    if (field != nullptr) vectors_moved += 1;
    return field == nullptr ? -1 : add(field->block(b));
  };
  task.self_buffer = add_field(product.self);
  task.others_buffer = add_field(product.others);
  task.base_buffer = add_field(product.base);
  task.state_buffer = guard.state == nullptr ? -1 : add(*guard.state);
  task.first_face = static_cast<std::int32_t>(accesses.size());
  if (boundary && product.others != nullptr) read_faces(geometry, faces_, task.face_buffer, accesses);
  const double blocks = task.end_block - task.first_block, sites = task.list.count;
  const double numbers = static_cast<double>(components()) * components() * blocks;
  const Precision precision = lattice()->precision();
  const auto reals = static_cast<double>(computed_bytes(precision)), of_matrices = narrow ? sizeof(Binary16) : reals;
  const NarrowCodelets& of_narrow = NarrowCodelets::all();
  const Codelet& codelet = narrow     ? (boundary ? of_narrow.boundary : of_narrow.interior)
                           : boundary ? QUARKSTAR_COARSE_CODELET(precision, boundary)
                                      : QUARKSTAR_COARSE_CODELET(precision, interior);
  runtime::submit(codelet, task, accesses,
                  {8 * numbers * sites * vectors_, 2 * sites * (of_matrices * numbers + reals * vectors_moved * components() * vectors_)},
                  {.owner = geometry.block().owner, .block = b, .urgent = boundary, .role = runtime::role_of(guard.when)});
}

}  // namespace quarkstar::coarse
