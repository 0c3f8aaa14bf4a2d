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

SiteList site_list(const TableRange& range) { return {range.offset, range.count, range.first}; }

/// Buffers: matrices, geometry, out; what else there is, and faces.
struct SitesTask {
  SiteList list;
  std::uint32_t neighbours, boundary_faces;
  std::int8_t face_buffer[8];                                                      ///< from first_face on; -1: none
  std::int32_t self_buffer, others_buffer, base_buffer, state_buffer, first_face;  ///< -1: none
  std::int32_t parity, outer_sites, groups, vectors, self_block, add;
  Obedience obedience;

  const VectorStatus* status(Call& call) const { return state_buffer < 0 ? nullptr : call.buffer<const VectorStatus>(state_buffer); }

  template <class F>
  OperatorArguments<F> unpack(Call& call) const {
    OperatorArguments<F> a{};
    const auto buffer = [&](std::int32_t number) -> const F* { return number < 0 ? nullptr : call.buffer<const F>(number); };
    a.matrices = buffer(0);
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
  call.team().for_range(a.list.count, [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
}

/// Buffers: matrices, images on even and on odd sites, colours.
struct ColumnsTask {
  Colours mask;
  std::int32_t outer_sites, block, first_column, count;

  std::int64_t sites() const { return std::int64_t{2} * outer_sites; }
  template <class F>
  ColumnArguments<F> unpack(Call& call) const {
    return {call.buffer<F>(0),
            {call.buffer<const F>(1), call.buffer<const F>(2)},
            call.buffer<const std::uint32_t>(3),
            mask,
            outer_sites,
            block,
            first_column,
            count};
  }
};

template <class F>
void run_columns(Call& call) {
  const auto& task = call.arguments<ColumnsTask>();
  const ColumnArguments<F> a = task.unpack<F>(call);
  call.team().for_range(task.sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t site = begin; site < end; ++site)
      for (int row = 0; row < 2 * a.count; ++row)
        for (int j = 0; j < a.count; ++j) set_element(a, static_cast<std::size_t>(site), row, j);
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
template <class F>
void run_sites_on_cuda(Call& call) {
  const auto& task = call.arguments<SitesTask>();
  cuda::launch_coarse_operator(task.unpack<F>(call), task.obedience.idle(task.status(call)), stream_of(call));
}
template <class F>
void run_columns_on_cuda(Call& call) {
  const auto& task = call.arguments<ColumnsTask>();
  cuda::launch_set_columns(task.unpack<F>(call), task.sites(), stream_of(call));
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

void CoarseMatrices::set_columns(const Aggregates& aggregates, const FullField& images, int block, int first_column, const Colours& mask) {
  for (const int b : lattice_->local_blocks()) {
    auto task = runtime::blank<ColumnsTask>();
    task.mask = mask;
    task.outer_sites = lattice_->block(b).outer_sites();
    task.block = block;
    task.first_column = first_column;
    task.count = components_ / 2;
    const double n = components_, sites = 2.0 * task.outer_sites;
    runtime::submit(QUARKSTAR_COARSE_CODELET(lattice_->precision(), columns), task,
                    {runtime::inout(this->block(b)), runtime::in(images.even.block(b)), runtime::in(images.odd.block(b)),
                     runtime::in(aggregates.colours(b))},
                    {block == 0 ? 0 : 2 * n * (n / 2) * sites * mask.count() / 16, 4 * images.even.block_bytes(b)},
                    placement_of(lattice_->block(b)));
  }
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
  const int n = components_ / 2;
  if (aggregates.coarse() != lattice_ || aggregates.components() != components_ || m.lattice() != aggregates.fine() || m.vectors() != n)
    throw ShapeError("CoarseMatrices::compute", "aggregates or an operator of another lattice or number of vectors");
  const auto fine_vectors = [&] { return FullField(aggregates.fine(), m.components(), n); };
  const FullField columns = fine_vectors(), whole = fine_vectors(), images = fine_vectors();
  const FullField parts = aggregates.coarse_field(n);
  eliminated_ = false;
  for (const int b : lattice_->local_blocks()) {  // tasks write it in part
    const runtime::HostView<char> all(block(b), runtime::HostAccess::overwrite);
    std::fill(all.get(), all.get() + block(b).bytes(), char{0});
  }
  const auto apply = [&](const FullField& out) {
    submit_together([&] {
      for (const int parity : {0, 1}) m.times_m(out.of(parity), columns, 1);
    });
  };
  for (const int chirality : {0, 1}) {
    aggregates.columns(columns, chirality, {});
    apply(whole);
    aggregates.restrict(parts, Aggregates::both(whole));
    set_columns(aggregates, parts, 0, chirality * n, {});
    for (int mu = 0; mu < 4; ++mu) {
      const Colours even = Colours::with_even(mu), odd = even.others();
      const auto set_both_edges = [&](const Colours& mask) {
        for (const int direction : {2 * mu, 2 * mu + 1}) {
          aggregates.restrict(parts, Aggregates::both(images), {}, aggregates.edge(direction), mask);
          set_columns(aggregates, parts, 1 + direction, chirality * n, mask);
        }
      };
      aggregates.columns(columns, chirality, even);
      apply(images);
      set_both_edges(odd);
      for (const int parity : {0, 1}) blas::submit<blas::Direction>({&images.of(parity), &whole.of(parity)}, {-1.0});  // of the odd ones
      set_both_edges(even);
    }
  }
}

CoarseOperator::CoarseOperator(const CoarseMatrices& matrices, int vectors)
    : matrices_(matrices),
      vectors_(vectors),
      faces_(make_faces(*matrices.lattice(), 2 * matrices.components() * vectors, "coarse faces")),
      sums_(static_cast<int>(matrices.lattice()->local_blocks().size()), 3 * vectors),
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
      *lattice(), faces_, [&](int b) { submit_pack(*product.others, guard, b); },
      [&](int b, bool boundary) { submit_sites(out, product, guard, b, boundary); });
}

void CoarseOperator::submit_pack(const Field& in, const runtime::Guard& guard, int b) {
  const BlockGeometry& geometry = lattice()->block(b);
  auto task = runtime::blank<PackTask>();
  task.words = 2 * components() * vectors_;
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
    accesses.push_back(runtime::out(faces_.outgoing(b, d)));
  }
  if (guard.state != nullptr) accesses.push_back(runtime::in(*guard.state));
  runtime::submit(QUARKSTAR_COARSE_CODELET(lattice()->precision(), pack), task, accesses,
                  {0, 2 * sites * task.words * static_cast<double>(computed_bytes(lattice()->precision()))},
                  {.owner = geometry.block().owner, .block = b, .urgent = true, .role = runtime::role_of(guard.when)});
}

void CoarseOperator::submit_sites(const Field& out, const Product& product, const runtime::Guard& guard, int b, bool boundary) {
  const BlockGeometry& geometry = lattice()->block(b);
  const int parity = out.parity();
  auto task = runtime::blank<SitesTask>();
  task.list = site_list(boundary ? geometry.boundary(parity) : geometry.interior(parity));
  task.neighbours = geometry.neighbours(parity);
  task.boundary_faces = geometry.boundary_faces(parity);
  for (std::int8_t& buffer : task.face_buffer) buffer = -1;
  task.parity = parity;
  task.outer_sites = geometry.outer_sites();
  task.groups = components() / lanes_of_components;
  task.vectors = vectors_;
  task.self_block = product.own;
  task.add = product.add ? 1 : 0;
  task.obedience.masked = guard.masked;
  task.obedience.when = guard.when;
  // The interior task writes the block first, so that the boundary task finds it whole.
  runtime::AccessList accesses{runtime::in(matrices_.block(b)), runtime::in(geometry.handle()),
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
  const double blocks = (product.self != nullptr ? 1.0 : 0) + (product.others != nullptr ? 8.0 : 0), sites = task.list.count;
  const double numbers = static_cast<double>(components()) * components() * blocks;
  const auto reals = static_cast<double>(computed_bytes(lattice()->precision()));
  const Codelet& codelet =
      boundary ? QUARKSTAR_COARSE_CODELET(lattice()->precision(), boundary) : QUARKSTAR_COARSE_CODELET(lattice()->precision(), interior);
  runtime::submit(codelet, task, accesses,
                  {8 * numbers * sites * vectors_, sites * reals * (2 * numbers + vectors_moved * 2 * components() * vectors_)},
                  {.owner = geometry.block().owner, .block = b, .urgent = boundary, .role = runtime::role_of(guard.when)});
}

}  // namespace quarkstar::coarse
