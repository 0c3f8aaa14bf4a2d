#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/field/chunks.hpp"
#include "codelets/field/projection.hpp"
#include "codelets/field/projection_cuda.hpp"
#include "codelets/field/rounding.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace quarkstar::blas {
namespace {

using runtime::BinnedSum;
using runtime::Call;
using runtime::Codelet;
using runtime::ComplexScalar;

/// Buffers: partial sums, scales of the tiles, b, its scales, the tiles.
struct RoundedProductsTask {
  std::int64_t outer_sites;
  int tiles, tile_vectors, all_vectors, b_vectors, lanes, chunked;
};
/// Buffers: out, coefficients, the tiles, base where it is another field than out.
struct CombineTask {
  std::int64_t outer_sites;
  int tiles, tile_vectors, all_vectors, vectors, lanes, base, chunked;  ///< base: number of its buffer; -1: none
};
/// Buffers: scales, partial sums.
struct ScalesTask {
  int partials, vectors;
};
/// Buffers: coefficients, scales and values of the modes, scales of b, partial sums.
struct CoefficientsTask {
  double shifts[most_vectors];
  int partials, modes, b_vectors, vectors;
};

template <class Task>
Tiles unpack_tiles(Call& call, int first, const Task& task) {
  Tiles tiles{};
  for (int i = 0; i < task.tiles; ++i) tiles.fields[i] = call.buffer<const double>(first + i);
  tiles.count = task.tiles;
  tiles.vectors = task.tile_vectors;
  tiles.all_vectors = task.all_vectors;
  return tiles;
}
RoundedProductsArguments unpack(Call& call, const RoundedProductsTask& task) {
  return {unpack_tiles(call, 4, task),
          call.buffer<const double>(1),
          call.buffer<const double>(2),
          call.buffer<const double>(3),
          task.b_vectors,
          task.lanes};
}
CombineArguments unpack(Call& call, const CombineTask& task) {
  return {unpack_tiles(call, 2, task),
          call.buffer<const ComplexScalar>(1),
          call.buffer<double>(0),
          task.base < 0 ? nullptr : call.buffer<const double>(task.base),
          task.vectors,
          task.lanes};
}
CoefficientsArguments unpack(Call& call, const CoefficientsTask& task) {
  const auto* modes = call.buffer<const double>(1);
  CoefficientsArguments a{
      call.buffer<ComplexScalar>(0), modes, modes + task.modes, call.buffer<const double>(2), task.modes, task.b_vectors, task.vectors, {}};
  std::copy(std::begin(task.shifts), std::end(task.shifts), a.shifts);
  return a;
}

template <int Components>
void run_rounded_products(Call& call) {
  const auto& task = call.arguments<RoundedProductsTask>();
  static constexpr arch::KernelTable<RoundedProductsKernel (*)(int)> table = QUARKSTAR_KERNEL_TABLE(rounded_products_kernel<Components>);
  const RoundedProductsKernel kernel = table.current()(task.lanes);
  const RoundedProductsArguments a = unpack(call, task);
  const int sums = 2 * task.all_vectors * task.b_vectors;
  runtime::ThreadSums partial(call.team().threads(), sums);
  call.team().for_range(task.outer_sites,
                        [&](std::int64_t begin, std::int64_t end, int thread) { kernel(a, begin, end, partial.of(thread)); });
  partial.merge_into(call.buffer<BinnedSum>(0), sums);
}

template <int Components>
void run_combine(Call& call) {
  const auto& task = call.arguments<CombineTask>();
  static constexpr arch::KernelTable<CombineKernel (*)(int)> table = QUARKSTAR_KERNEL_TABLE(combine_kernel<Components>);
  const CombineKernel kernel = table.current()(task.lanes);
  const CombineArguments a = unpack(call, task);
  call.team().for_range(task.outer_sites, [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
}

void run_scales(Call& call) {
  const auto& task = call.arguments<ScalesTask>();
  const auto value = [&](int s) { return value_of_sum(s, task.partials, [&](int p) { return call.buffer<const BinnedSum>(1 + p); }); };
  for (int v = 0; v < task.vectors; ++v) call.buffer<double>(0)[v] = scale_of_rounding(value(v), value(task.vectors + v));
}

void run_coefficients(Call& call) {
  const auto& task = call.arguments<CoefficientsTask>();
  const CoefficientsArguments a = unpack(call, task);
  const auto value = [&](int s) { return value_of_sum(s, task.partials, [&](int p) { return call.buffer<const BinnedSum>(3 + p); }); };
  for (int mode = 0; mode < task.modes; ++mode)
    for (int v = 0; v < task.vectors; ++v) a.coefficients[mode * task.vectors + v] = coefficient_of(a, mode, v, value);
}

#ifdef QUARKSTAR_CUDA
/// Behind the first buffers of a task come its partial sums.
PartialsOfTask unpack_partials(Call& call, int first, int count) {
  PartialsOfTask partials{};
  for (int p = 0; p < count; ++p) partials.of[p] = call.buffer<const BinnedSum>(first + p);
  partials.count = count;
  return partials;
}
runtime::CudaStream stream_of(Call& call) { return static_cast<runtime::CudaStream>(call.stream()); }

template <int Components>
void run_rounded_products_on_cuda(Call& call) {
  const auto& task = call.arguments<RoundedProductsTask>();
  with_chunks<Components>(task.chunked, [&](auto chunked) {
    cuda::launch_rounded_products<Components, chunked>(unpack(call, task), task.outer_sites, call.buffer<BinnedSum>(0), stream_of(call));
  });
}
template <int Components>
void run_combine_on_cuda(Call& call) {
  const auto& task = call.arguments<CombineTask>();
  with_chunks<Components>(task.chunked, [&](auto chunked) {
    cuda::launch_combine<Components, chunked>(unpack(call, task), task.outer_sites, stream_of(call));
  });
}
void run_scales_on_cuda(Call& call) {
  const auto& task = call.arguments<ScalesTask>();
  cuda::launch_scales(call.buffer<double>(0), unpack_partials(call, 1, task.partials), task.vectors, stream_of(call));
}
void run_coefficients_on_cuda(Call& call) {
  const auto& task = call.arguments<CoefficientsTask>();
  cuda::launch_coefficients(unpack(call, task), unpack_partials(call, 3, task.partials), stream_of(call));
}
#else
void (*const run_scales_on_cuda)(Call&) = nullptr;
void (*const run_coefficients_on_cuda)(Call&) = nullptr;
#endif

const Codelet& rounded_products_codelet(const Field& field) {
  return with_components(field.components(), [](auto components) -> const Codelet& {
    constexpr int count = components;
    static const Codelet codelet(fmt::format("blas.rounded_products.{}", count), runtime::CodeletKind::vector,
                                 QUARKSTAR_BOTH(run_rounded_products, count));
    return codelet;
  });
}
const Codelet& combine_codelet(const Field& field) {
  return with_components(field.components(), [](auto components) -> const Codelet& {
    constexpr int count = components;
    static const Codelet codelet(fmt::format("blas.combine.{}", count), runtime::CodeletKind::vector, QUARKSTAR_BOTH(run_combine, count));
    return codelet;
  });
}

/// Small steps run beside the fields, but for more partial sums than a launch has parameters for.
struct SmallStep {
  SmallStep(const std::string& name, void (*cpu)(Call&), void (*cuda)(Call&))
      : codelet(name, runtime::CodeletKind::scalar, cpu, cuda), on_cpus(name + ".cpu", runtime::CodeletKind::scalar, cpu) {}
  const Codelet& of(int partials) const { return partials <= PartialsOfTask::most ? codelet : on_cpus; }
  Codelet codelet, on_cpus;
};
const SmallStep& scales_step() {
  static const SmallStep step("blas.scales", run_scales, run_scales_on_cuda);
  return step;
}
const SmallStep& coefficients_step() {
  static const SmallStep step("blas.coefficients", run_coefficients, run_coefficients_on_cuda);
  return step;
}

/// Adds what sums over all ranks are in; returns how many parts they have.
int add_partials(runtime::AccessList& accesses, const runtime::PartialSums& partials, int sums, int owner, const char* name) {
  if (partials.is_distributed()) {
    runtime::detail::submit_sum_over_ranks(partials, sums, {}, owner, name);
    accesses.push_back(runtime::in(partials.all_ranks()));
    return 1;
  }
  for (int p = 0; p < partials.tasks(); ++p) accesses.push_back(runtime::in(partials.task(p)));
  return partials.tasks();
}

void require_tiles(const char* where, const Field& field, const VectorsInTiles& a) {
  if (a.fields.empty() || a.fields.size() > most_tiles) throw ShapeError(where, "not 1 to 16 fields");
  const int room = a.fields[0]->vectors(), fields = static_cast<int>(a.fields.size());
  for (const Field* tile : a.fields) {
    field.require_alike(where, *tile);
    if (tile->vectors() != room || room > tile_vectors) throw ShapeError(where, "fields of other vectors");
  }
  if (a.count <= (fields - 1) * room || a.count > fields * room) throw ShapeError(where, "not so many vectors");
  if (field.lattice()->precision() != Precision::double_ || field.lattice()->vectors_in_lanes() > 1)
    throw ShapeError(where, "fields are not in double precision, or vectors are in lanes");
}

/// What tasks on block b do with the vectors a and those of a field.
template <class Task>
Task task_on(int b, const VectorsInTiles& a, const Field& field) {
  auto task = runtime::blank<Task>();
  task.outer_sites = field.outer_sites(b);
  task.tiles = static_cast<int>(a.fields.size());
  task.tile_vectors = a.fields[0]->vectors();
  task.all_vectors = a.count;
  task.lanes = field.lanes();
  task.chunked = field.chunked() ? 1 : 0;
  return task;
}
runtime::Cost cost_on(int b, const VectorsInTiles& a, const Field& field, int passes) {
  const double vectors = static_cast<double>(field.block_vectors(b)), of_each = field.block_bytes(b) / field.vectors();
  return {vectors * 8 * field.components() * a.count, of_each * a.count + field.block_bytes(b) * passes};
}

}  // namespace

std::vector<double> scales_of(const Field& x) {
  const runtime::PartialSums sums = partial_sums_on(*x.lattice(), 2 * x.vectors());
  blas::submit<Magnitudes>({&x}, {}, {}, &sums);
  return scales_of(sums, x.vectors());
}

std::vector<double> scales_of(const runtime::PartialSums& magnitudes, int n) {
  const std::vector<double> values = runtime::values_of(magnitudes, 2 * n);
  std::vector<double> scales;
  for (std::size_t v = 0; v < static_cast<std::size_t>(n); ++v)
    scales.push_back(scale_of_rounding(values[v], values[static_cast<std::size_t>(n) + v]));
  return scales;
}

void submit_scales(const runtime::Handle& scales, const Field& x, const runtime::PartialSums& sums) {
  blas::submit<Magnitudes>({&x}, {}, {}, &sums);
  const int owner = x.lattice()->decomposition().first_owner();
  runtime::AccessList accesses{runtime::out(scales)};
  auto task = runtime::blank<ScalesTask>();
  task.partials = add_partials(accesses, sums, 2 * x.vectors(), owner, Magnitudes::name);
  task.vectors = x.vectors();
  runtime::submit(scales_step().of(task.partials), task, accesses, {}, {.owner = owner, .urgent = true});
}

void rounded_products(const VectorsInTiles& a, const runtime::Handle& modes, const Field& b, const runtime::Handle& scales,
                      const runtime::PartialSums& partials) {
  require_tiles("rounded_products", b, a);
  const Lattice& lattice = *b.lattice();
  for (const int i : lattice.local_blocks()) {
    auto task = task_on<RoundedProductsTask>(i, a, b);
    task.b_vectors = b.vectors();
    runtime::AccessList accesses{runtime::out(partials.task(lattice.decomposition().local_index(i))), runtime::in(modes),
                                 runtime::in(b.block(i)), runtime::in(scales)};
    for (const Field* tile : a.fields) accesses.push_back(runtime::in(tile->block(i)));
    runtime::submit(rounded_products_codelet(b), task, accesses, cost_on(i, a, b, 1), placement_of(lattice.block(i)));
  }
}

void submit_coefficients(const runtime::Handle& coefficients, const runtime::PartialSums& partials, const runtime::Handle& modes, int count,
                         const runtime::Handle& scales, int b_vectors, int vectors, const PerVector& shifts, int owner) {
  if (b_vectors != vectors && b_vectors != 1) throw ShapeError("submit_coefficients", "fields of other numbers of vectors");
  auto task = runtime::blank<CoefficientsTask>();
  task.modes = count;
  task.b_vectors = b_vectors;
  task.vectors = vectors;
  std::copy(shifts.begin(), shifts.end(), task.shifts);
  runtime::AccessList accesses{runtime::out(coefficients), runtime::in(modes), runtime::in(scales)};
  task.partials = add_partials(accesses, partials, 2 * task.modes * b_vectors, owner, "blas.rounded_products");
  runtime::submit(coefficients_step().of(task.partials), task, accesses, {}, {.owner = owner, .urgent = true});
}

void combine(const Field& out, const Field* base, const VectorsInTiles& a, const runtime::Handle& coefficients) {
  require_tiles("combine", out, a);
  if (base != nullptr) {
    out.require_alike("combine", *base);
    if (base->vectors() != out.vectors()) throw ShapeError("combine", "fields with other numbers of vectors");
  }
  const Lattice& lattice = *out.lattice();
  for (const int i : lattice.local_blocks()) {
    auto task = task_on<CombineTask>(i, a, out);
    task.vectors = out.vectors();
    task.base = base == nullptr ? -1 : base == &out ? 0 : 2 + task.tiles;
    runtime::AccessList accesses{base == &out ? runtime::inout(out.block(i)) : runtime::out(out.block(i)), runtime::in(coefficients)};
    for (const Field* tile : a.fields) accesses.push_back(runtime::in(tile->block(i)));
    if (task.base > 0) accesses.push_back(runtime::in(base->block(i)));
    runtime::submit(combine_codelet(out), task, accesses, cost_on(i, a, out, base != nullptr ? 2 : 1), placement_of(lattice.block(i)));
  }
}

}  // namespace quarkstar::blas
