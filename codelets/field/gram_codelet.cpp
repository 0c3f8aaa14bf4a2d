#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/field/chunks.hpp"
#include "codelets/field/gram.hpp"
#include "codelets/field/gram_cuda.hpp"
#include "codelets/field/gram_kernels.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::blas {
namespace {

using runtime::Call;
using runtime::Codelet;

/// Buffers: state, out, then those of in and base that are no other buffer.
struct MultiplyTask {
  std::int64_t outer_sites;
  std::int32_t matrix;  ///< offset in the state
  int vectors, in_vectors, lanes;
  int in, base;  ///< numbers of their buffers; base -1: none
  int chunked;
};

const std::int32_t* stop_of(Call& call) { return &call.buffer<const runtime::GraphStatus>(0)->stop; }

template <class F>
MultiplyArguments<F> unpack(Call& call, const MultiplyTask& task) {
  const auto* matrix = reinterpret_cast<const runtime::ComplexScalar*>(call.buffer<const char>(0) + task.matrix);
  return {call.buffer<F>(1),
          task.base < 0 ? nullptr : call.buffer<const F>(task.base),
          call.buffer<const F>(task.in),
          matrix,
          task.vectors,
          task.in_vectors,
          task.lanes};
}

template <class F, int Components>
void run_multiply(Call& call) {
  const auto& task = call.arguments<MultiplyTask>();
  if (*stop_of(call) != 0) return call.skip();
  static constexpr arch::KernelTable<MultiplyKernel<F> (*)(int)> table = QUARKSTAR_KERNEL_TABLE(multiply_kernel<F, Components>);
  const MultiplyKernel<F> kernel = table.current()(task.lanes);
  const MultiplyArguments<F> a = unpack<F>(call, task);
  call.team().for_range(task.outer_sites, [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
}

/// Buffers: state, partial sums, a, and b where it is another field.
struct GramTask {
  std::int64_t outer_sites;
  int vectors, lanes, b, chunked;
};

template <class F>
GramArguments<F> unpack(Call& call, const GramTask& task) {
  return {call.buffer<const F>(2), call.buffer<const F>(task.b), task.vectors, task.lanes};
}

template <class F, int Components>
void run_gram(Call& call) {
  const auto& task = call.arguments<GramTask>();
  if (*stop_of(call) != 0) return call.skip();
  static constexpr arch::KernelTable<GramKernel<F> (*)(int)> table = QUARKSTAR_KERNEL_TABLE(gram_kernel<F, Components>);
  const GramKernel<F> kernel = table.current()(task.lanes);
  const GramArguments<F> a = unpack<F>(call, task);
  const int sums = task.vectors * task.vectors;
  runtime::ThreadSums partial(call.team().threads(), sums);
  call.team().for_range(task.outer_sites,
                        [&](std::int64_t begin, std::int64_t end, int thread) { kernel(a, begin, end, partial.of(thread)); });
  partial.merge_into(call.buffer<runtime::BinnedSum>(1), sums);
}

/// Buffers: partial sums, a, b.
struct ProductsTask {
  std::int64_t outer_sites;
  int a_vectors, b_vectors, lanes, chunked;
};

template <class F>
ProductsArguments<F> unpack(Call& call, const ProductsTask& task) {
  return {call.buffer<const F>(1), call.buffer<const F>(2), task.a_vectors, task.b_vectors, task.lanes};
}

template <class F, int Components>
void run_products(Call& call) {
  const auto& task = call.arguments<ProductsTask>();
  static constexpr arch::KernelTable<ProductsKernel<F> (*)(int)> table = QUARKSTAR_KERNEL_TABLE(products_kernel<F, Components>);
  const ProductsKernel<F> kernel = table.current()(task.lanes);
  const ProductsArguments<F> a = unpack<F>(call, task);
  const int sums = 2 * task.a_vectors * task.b_vectors;
  runtime::ThreadSums partial(call.team().threads(), sums);
  call.team().for_range(task.outer_sites,
                        [&](std::int64_t begin, std::int64_t end, int thread) { kernel(a, begin, end, partial.of(thread)); });
  partial.merge_into(call.buffer<runtime::BinnedSum>(0), sums);
}

#ifdef QUARKSTAR_CUDA
template <class F, int Components>
void run_multiply_on_cuda(Call& call) {
  const auto& task = call.arguments<MultiplyTask>();
  with_chunks<Components>(task.chunked, [&](auto chunked) {
    cuda::launch_multiply<Components, chunked>(unpack<F>(call, task), task.outer_sites, stop_of(call),
                                               static_cast<runtime::CudaStream>(call.stream()));
  });
}
template <class F, int Components>
void run_gram_on_cuda(Call& call) {
  const auto& task = call.arguments<GramTask>();
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  with_chunks<Components>(task.chunked, [&](auto chunked) {
    cuda::launch_gram<Components, chunked>(unpack<F>(call, task), task.outer_sites, stop_of(call), stream);
  });
  runtime::finish_sums(call.buffer<runtime::BinnedSum>(1), task.vectors * task.vectors, stop_of(call), stream);
}
template <class F, int Components>
void run_products_on_cuda(Call& call) {
  const auto& task = call.arguments<ProductsTask>();
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  with_chunks<Components>(
      task.chunked, [&](auto chunked) { cuda::launch_products<Components, chunked>(unpack<F>(call, task), task.outer_sites, stream); });
  runtime::finish_sums(call.buffer<runtime::BinnedSum>(0), 2 * task.a_vectors * task.b_vectors, nullptr, stream);
}
#endif

/// body(type_identity<F>, integral constant of the components): a codelet for each.
template <class Body>
const Codelet& for_fields(const Field& field, Body&& body) {
  return with_format(field.lattice()->precision(), [&](auto format) -> const Codelet& {
    return with_components(field.components(), [&](auto components) -> const Codelet& { return body(format, components); });
  });
}
std::string name_for(const char* operation, const Field& field) {
  return fmt::format("blas.{}.{}.{}", operation, field.components(), name_of(field.lattice()->precision()));
}

const Codelet& multiply_codelet(const Field& field) {
  return for_fields(field, [&](auto format, auto components) -> const Codelet& {
    using F = typename decltype(format)::type;
    constexpr int count = components;
    static const Codelet codelet(name_for("multiply", field), runtime::CodeletKind::vector, QUARKSTAR_BOTH(run_multiply, F, count));
    return codelet;
  });
}
const Codelet& gram_codelet(const Field& field) {
  return for_fields(field, [&](auto format, auto components) -> const Codelet& {
    using F = typename decltype(format)::type;
    constexpr int count = components;
    static const Codelet codelet(name_for("gram", field), runtime::CodeletKind::vector, QUARKSTAR_BOTH(run_gram, F, count));
    return codelet;
  });
}
const Codelet& products_codelet(const Field& field) {
  return for_fields(field, [&](auto format, auto components) -> const Codelet& {
    using F = typename decltype(format)::type;
    constexpr int count = components;
    static const Codelet codelet(name_for("products", field), runtime::CodeletKind::vector, QUARKSTAR_BOTH(run_products, F, count));
    return codelet;
  });
}

void require_alike(const char* where, const Field& a, const Field& b) {
  a.require_alike(where, b);
  if (a.lattice()->vectors_in_lanes() > 1) throw ShapeError(where, "vectors are in lanes");
}
void require_as_many(const char* where, const Field& a, const Field& b) {
  if (a.vectors() != b.vectors()) throw ShapeError(where, "fields with other numbers of vectors");
}

}  // namespace

void multiply(const Field& out, const Field* base, const Field& in, const VectorMatrix& matrix, const runtime::Handle& state) {
  require_alike("multiply", out, in);
  if (base != nullptr) {
    require_alike("multiply", out, *base);
    require_as_many("multiply", out, *base);
  }
  const Lattice& lattice = *out.lattice();
  const int n = out.vectors();
  for (const int b : lattice.local_blocks()) {
    const bool updates = &in == &out || base == &out;
    runtime::AccessList accesses{runtime::in(state), updates ? runtime::inout(out.block(b)) : runtime::out(out.block(b))};
    const auto buffer_of = [&](const Field& field) {
      if (&field == &out) return 1;
      if (&field == base && &field == &in && accesses.size() == 3) return 2;
      accesses.push_back(runtime::in(field.block(b)));
      return static_cast<int>(accesses.size()) - 1;
    };
    auto task = runtime::blank<MultiplyTask>();
    task.outer_sites = out.outer_sites(b);
    task.matrix = matrix.offset;
    task.vectors = n;
    task.in_vectors = in.vectors();
    task.lanes = lattice.lanes().lanes;
    task.in = buffer_of(in);
    task.base = base != nullptr ? buffer_of(*base) : -1;
    task.chunked = out.chunked() ? 1 : 0;
    runtime::submit(multiply_codelet(out), task, accesses,
                    {static_cast<double>(out.block_vectors(b)) * 8 * out.components() * in.vectors(),
                     out.block_bytes(b) * (base != nullptr ? 2 : 1) + in.block_bytes(b)},
                    placement_of(lattice.block(b)));
  }
}

void gram(const Field& a, const Field& b, const runtime::PartialSums& partials, const runtime::Handle& state) {
  require_alike("gram", a, b);
  require_as_many("gram", a, b);
  const Lattice& lattice = *a.lattice();
  for (const int i : lattice.local_blocks()) {
    runtime::AccessList accesses{runtime::in(state), runtime::out(partials.task(lattice.decomposition().local_index(i))),
                                 runtime::in(a.block(i))};
    if (&b != &a) accesses.push_back(runtime::in(b.block(i)));
    auto task = runtime::blank<GramTask>();
    task.outer_sites = a.outer_sites(i);
    task.vectors = a.vectors();
    task.lanes = lattice.lanes().lanes;
    task.b = &b != &a ? 3 : 2;
    task.chunked = a.chunked() ? 1 : 0;
    runtime::submit(
        gram_codelet(a), task, accesses,
        {static_cast<double>(a.block_vectors(i)) * 4 * a.components() * (a.vectors() + 1), a.block_bytes(i) * (&b != &a ? 2 : 1)},
        placement_of(lattice.block(i)));
  }
}

void products(const Field& a, const Field& b, const runtime::PartialSums& partials) {
  require_alike("products", a, b);
  if (a.vectors() * b.vectors() > most_products) throw ShapeError("products", "more pairs of vectors than a task has sums for");
  if (&a == &b) throw ShapeError("products", "of a field with itself gram() takes half as many");
  const Lattice& lattice = *a.lattice();
  for (const int i : lattice.local_blocks()) {
    auto task = runtime::blank<ProductsTask>();
    task.outer_sites = a.outer_sites(i);
    task.a_vectors = a.vectors();
    task.b_vectors = b.vectors();
    task.lanes = lattice.lanes().lanes;
    task.chunked = a.chunked() ? 1 : 0;
    runtime::submit(products_codelet(a), task,
                    {runtime::out(partials.task(lattice.decomposition().local_index(i))), runtime::in(a.block(i)), runtime::in(b.block(i))},
                    {static_cast<double>(a.block_vectors(i)) * 8 * a.components() * b.vectors(), a.block_bytes(i) + b.block_bytes(i)},
                    placement_of(lattice.block(i)));
  }
}

}  // namespace quarkstar::blas
