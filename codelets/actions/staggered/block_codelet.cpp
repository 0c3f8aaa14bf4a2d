#include "codelets/actions/staggered/block_cuda.hpp"
#include "codelets/actions/staggered/block_kernels.hpp"
#include "codelets/actions/staggered/block_operations.hpp"
#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::staggered {
namespace {

using runtime::Call;
using runtime::Codelet;

/// Buffers: state, out, then those of in and base that are no other buffer.
struct MultiplyTask {
  std::int64_t outer_sites;
  std::int32_t matrix;  ///< offset in the state
  int vectors, lanes;
  int in, base;  ///< numbers of their buffers; base -1: none
};

const std::int32_t* stop_of(Call& call) { return &call.buffer<const runtime::GraphStatus>(0)->stop; }

template <class F>
BlockMultiplyArguments<F> unpack(Call& call, const MultiplyTask& task) {
  const auto* matrix = reinterpret_cast<const runtime::ComplexScalar*>(call.buffer<const char>(0) + task.matrix);
  return {call.buffer<F>(1), task.base < 0 ? nullptr : call.buffer<const F>(task.base), call.buffer<const F>(task.in), matrix, task.vectors,
          task.lanes};
}

template <class F>
void run_multiply(Call& call) {
  const auto& task = call.arguments<MultiplyTask>();
  if (*stop_of(call) != 0) return call.skip();
  static constexpr arch::KernelTable<BlockMultiplyKernel<F> (*)(int)> table = QUARKSTAR_KERNEL_TABLE(block_multiply_kernel<F>);
  const BlockMultiplyKernel<F> kernel = table.current()(task.lanes);
  const BlockMultiplyArguments<F> a = unpack<F>(call, task);
  call.team().for_range(task.outer_sites, [&](std::int64_t begin, std::int64_t end, int) { kernel(a, begin, end); });
}

/// Buffers: state, partial sums, a, and b where it is another field.
struct GramTask {
  std::int64_t outer_sites;
  int vectors, lanes, b;
};

template <class F>
BlockGramArguments<F> unpack(Call& call, const GramTask& task) {
  return {call.buffer<const F>(2), call.buffer<const F>(task.b), task.vectors, task.lanes};
}

template <class F>
void run_gram(Call& call) {
  const auto& task = call.arguments<GramTask>();
  if (*stop_of(call) != 0) return call.skip();
  static constexpr arch::KernelTable<BlockGramKernel<F> (*)(int)> table = QUARKSTAR_KERNEL_TABLE(block_gram_kernel<F>);
  const BlockGramKernel<F> kernel = table.current()(task.lanes);
  const BlockGramArguments<F> a = unpack<F>(call, task);
  const int sums = task.vectors * task.vectors;
  runtime::ThreadSums partial(call.team().threads(), sums);
  call.team().for_range(task.outer_sites,
                        [&](std::int64_t begin, std::int64_t end, int thread) { kernel(a, begin, end, partial.of(thread)); });
  partial.merge_into(call.buffer<runtime::BinnedSum>(1), sums);
}

#ifdef QUARKSTAR_CUDA
template <class F>
void run_multiply_on_cuda(Call& call) {
  const auto& task = call.arguments<MultiplyTask>();
  cuda::launch_block_multiply(unpack<F>(call, task), task.outer_sites, stop_of(call), static_cast<runtime::CudaStream>(call.stream()));
}
template <class F>
void run_gram_on_cuda(Call& call) {
  const auto& task = call.arguments<GramTask>();
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  cuda::launch_block_gram(unpack<F>(call, task), task.outer_sites, stop_of(call), stream);
  runtime::finish_sums(call.buffer<runtime::BinnedSum>(1), task.vectors * task.vectors, stop_of(call), stream);
}
#endif

const Codelet& multiply_codelet(Precision precision) {
  return with_format(precision, [&](auto format) -> const Codelet& {
    using F = typename decltype(format)::type;
    static const Codelet codelet(fmt::format("staggered.block_multiply.{}", name_of(precision)), runtime::CodeletKind::vector,
                                 QUARKSTAR_BOTH(run_multiply, F));
    return codelet;
  });
}
const Codelet& gram_codelet(Precision precision) {
  return with_format(precision, [&](auto format) -> const Codelet& {
    using F = typename decltype(format)::type;
    static const Codelet codelet(fmt::format("staggered.block_gram.{}", name_of(precision)), runtime::CodeletKind::vector,
                                 QUARKSTAR_BOTH(run_gram, F));
    return codelet;
  });
}

void require_alike(const char* where, const ColourField& a, const ColourField& b) {
  if (a.lattice() != b.lattice() || a.parity() != b.parity() || a.vectors() != b.vectors())
    throw ShapeError(where, "fields of another lattice, parity or number of vectors");
  if (a.lattice()->vectors_in_lanes() > 1) throw ShapeError(where, "vectors are in lanes");
}

double block_bytes(const ColourField& field, int b) {
  return static_cast<double>(field.block_vectors(b)) * static_cast<double>(site_bytes(field.lattice()->precision(), ColourField::reals));
}

runtime::Placement placement_of(const BlockGeometry& block) { return {.owner = block.block().owner, .block = block.block().index}; }

}  // namespace

void block_multiply(const ColourField& out, const ColourField* base, const ColourField& in, const BlockMatrix& matrix,
                    const runtime::Handle& state) {
  require_alike("block_multiply", out, in);
  if (base != nullptr) require_alike("block_multiply", out, *base);
  const Lattice& lattice = *out.lattice();
  const int n = out.vectors();
  for (const int b : lattice.local_blocks()) {
    const bool updates = &in == &out || base == &out;
    runtime::AccessList accesses{runtime::in(state), updates ? runtime::inout(out.block(b)) : runtime::out(out.block(b))};
    const auto buffer_of = [&](const ColourField& field) {
      if (&field == &out) return 1;
      if (&field == base && &field == &in && accesses.size() == 3) return 2;
      accesses.push_back(runtime::in(field.block(b)));
      return static_cast<int>(accesses.size()) - 1;
    };
    auto task = runtime::blank<MultiplyTask>();
    task.outer_sites = lattice.block(b).outer_sites();
    task.matrix = matrix.offset;
    task.vectors = n;
    task.lanes = lattice.lanes().lanes;
    task.in = buffer_of(in);
    task.base = base != nullptr ? buffer_of(*base) : -1;
    runtime::submit(multiply_codelet(lattice.precision()), task, accesses,
                    {static_cast<double>(out.block_vectors(b)) * 24 * n, block_bytes(out, b) * (base != nullptr ? 3 : 2)},
                    placement_of(lattice.block(b)));
  }
}

void block_gram(const ColourField& a, const ColourField& b, const runtime::PartialSums& partials, const runtime::Handle& state) {
  require_alike("block_gram", a, b);
  const Lattice& lattice = *a.lattice();
  for (const int i : lattice.local_blocks()) {
    runtime::AccessList accesses{runtime::in(state), runtime::out(partials.task(lattice.decomposition().local_index(i))),
                                 runtime::in(a.block(i))};
    if (&b != &a) accesses.push_back(runtime::in(b.block(i)));
    auto task = runtime::blank<GramTask>();
    task.outer_sites = lattice.block(i).outer_sites();
    task.vectors = a.vectors();
    task.lanes = lattice.lanes().lanes;
    task.b = &b != &a ? 3 : 2;
    runtime::submit(gram_codelet(lattice.precision()), task, accesses,
                    {static_cast<double>(a.block_vectors(i)) * 12 * (a.vectors() + 1), block_bytes(a, i) * (&b != &a ? 2 : 1)},
                    placement_of(lattice.block(i)));
  }
}

}  // namespace quarkstar::staggered
