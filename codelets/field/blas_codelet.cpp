#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/field/blas_cuda.hpp"
#include "codelets/field/blas_kernels.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::blas {
namespace {

using runtime::Call;

/// Buffers: the fields in order, then the partial sums (operations with sums), then the state (where there is one).
struct Task {
  Coefficient coefficients[Arguments<double>::most_coefficients];
  std::int64_t outer_sites;
  int vectors_of[Arguments<double>::most_fields];
  int vectors, lanes, vectors_in_lanes, first_sum;
  bool slices_in_lanes, chunked, has_state;
  Obedience obedience;
};

template <class F, class Operation>
Arguments<F> unpack(Call& call, const Task& task) {
  Arguments<F> a{};
  for (int i = 0; i < field_count<Operation>; ++i) {
    a.fields[i] = call.buffer<F>(i);
    a.vectors_of[i] = task.vectors_of[i] / task.vectors_in_lanes;
  }
  a.vectors = task.vectors / task.vectors_in_lanes;
  a.lanes = task.lanes * task.vectors_in_lanes;
  return a;
}

template <class Operation>
const VectorStatus* status_of(Call& call, const Task& task) {
  return task.has_state ? call.buffer<const VectorStatus>(field_count<Operation> + (Operation::sums > 0 ? 1 : 0)) : nullptr;
}

template <class Operation>
runtime::BinnedSum* sums_of(Call& call, const Task& task) {
  return call.buffer<runtime::BinnedSum>(field_count<Operation>) + task.first_sum;
}

template <class F, int Components, class Operation>
Kernel<F> kernel_for(const Task& task) {
  static constexpr arch::KernelTable<Kernel<F> (*)(int)> of_sites = QUARKSTAR_KERNEL_TABLE(blas_kernel<F, Components, Operation>);
  if constexpr (Components == colour_components) {
    static constexpr arch::KernelTable<Kernel<F> (*)(int)> in_lanes = QUARKSTAR_KERNEL_TABLE(blas_kernel_in_lanes<F, Operation>);
    if (task.vectors_in_lanes > 1) return in_lanes.current()(task.vectors_in_lanes);
  }
  return of_sites.current()(task.lanes);
}

template <class F, int Components, class Operation>
void run(Call& call) {
  const auto& task = call.arguments<Task>();
  const VectorStatus* status = status_of<Operation>(call, task);
  if (const std::int32_t* idle = task.obedience.idle(status); idle != nullptr && *idle != 0) return call.skip();
  Arguments<F> a = unpack<F, Operation>(call, task);
  a.left_out = task.obedience.left_out(status);
  Numbers<F> numbers;
  for (int k = 0; k < Operation::coefficients; ++k)
    for (int v = 0; v < task.vectors; ++v) {
      const runtime::ComplexScalar z = task.coefficients[k].resolve(status, v);
      numbers.re[k][v] = static_cast<Real<F>>(z.re);
      numbers.im[k][v] = static_cast<Real<F>>(z.im);
    }
  const Kernel<F> kernel = kernel_for<F, Components, Operation>(task);
  const int sums = Operation::sums * task.vectors;
  runtime::ThreadSums partial(call.team().threads(), sums);
  call.team().for_range(task.outer_sites,
                        [&](std::int64_t begin, std::int64_t end, int thread) { kernel(a, numbers, begin, end, partial.of(thread)); });
  if constexpr (Operation::sums > 0) partial.merge_into(sums_of<Operation>(call, task), sums);
}

#ifdef QUARKSTAR_CUDA
template <class F, int Components, class Operation>
void run_on_cuda(Call& call) {
  const auto& task = call.arguments<Task>();
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  const VectorStatus* status = status_of<Operation>(call, task);
  const int in_lanes = task.slices_in_lanes || task.vectors_in_lanes > 1 ? task.vectors_in_lanes : 0;
  const auto launch = [&](auto chunked) {
    cuda::launch_blas<F, Components, chunked, Operation>(unpack<F, Operation>(call, task), in_lanes, task.coefficients, status,
                                                         task.obedience, task.outer_sites, stream);
  };
  if constexpr (Components == spinor_components) {
    if (task.chunked) launch(std::true_type{});
    else launch(std::false_type{});
  } else {
    launch(std::false_type{});
  }
  if constexpr (Operation::sums > 0)
    runtime::finish_sums(sums_of<Operation>(call, task), Operation::sums * task.vectors, task.obedience.idle(status), stream);
}
#endif

/// body(integral constant) with the components of an outer site: those of coarse vectors are in lanes.
template <class Body>
decltype(auto) with_stored_components(int components, Body&& body) {
  if (is_coarse(components)) return body(std::integral_constant<int, 1>{});
  return with_components(components, std::forward<Body>(body));
}

template <class Operation>
const runtime::Codelet& codelet_of(Precision precision, int components) {
  return with_format(precision, [&](auto format) -> const runtime::Codelet& {
    return with_stored_components(components, [&](auto of_vector) -> const runtime::Codelet& {
      using F = typename decltype(format)::type;
      constexpr int count = of_vector;
      const char* const kind = count == colour_components ? ".colour" : count == 1 ? ".coarse" : "";
      static const runtime::Codelet codelet(fmt::format("{}{}.{}", Operation::name, kind, name_of(precision)), runtime::CodeletKind::vector,
                                            QUARKSTAR_BOTH(run, F, count, Operation));
      return codelet;
    });
  });
}

}  // namespace

template <class Operation>
void submit(const std::array<const Field*, field_count<Operation>>& fields,
            const std::array<Coefficient, Operation::coefficients>& coefficients, const runtime::Guard& guard,
            const runtime::PartialSums* partials, int first_sum) {
  const Field& first = *fields[0];
  const Lattice& lattice = *first.lattice();
  auto task = runtime::blank<Task>();
  task.vectors = first.vectors();
  double passes = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Field& field = *fields[i];
    first.require_alike(Operation::name, field);
    if (field.vectors() != task.vectors && (field.vectors() != 1 || Operation::uses[i] != Use::in))
      throw ShapeError(Operation::name, "fields with other numbers of vectors");
    task.vectors_of[i] = field.vectors();
    passes += (Operation::uses[i] == Use::inout ? 2.0 : 1.0) * field.vectors();
  }
  if (Operation::sums > 0 && partials == nullptr) throw ShapeError(Operation::name, "nowhere to put the sums");
  for (std::size_t k = 0; k < coefficients.size(); ++k) task.coefficients[k] = coefficients[k];
  task.lanes = first.lanes();
  task.vectors_in_lanes = first.vectors_in_lanes();
  task.slices_in_lanes = lattice.slices_in_lanes();
  task.chunked = first.chunked();
  task.first_sum = first_sum;
  task.has_state = guard.state != nullptr;
  task.obedience.masked = guard.masked;
  task.obedience.when = guard.when;
  for (const int b : lattice.local_blocks()) {
    const BlockGeometry& geometry = lattice.block(b);
    task.outer_sites = first.outer_sites(b);
    runtime::AccessList accesses;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const runtime::Handle& handle = fields[i]->block(b);
      const bool overwrites = Operation::uses[i] == Use::out && !guard.keeps;
      accesses.push_back(Operation::uses[i] == Use::in ? runtime::in(handle) : overwrites ? runtime::out(handle) : runtime::inout(handle));
    }
    if constexpr (Operation::sums > 0) {
      const runtime::Handle& sums = partials->task(lattice.decomposition().local_index(b));
      accesses.push_back(first_sum > 0 ? runtime::inout(sums) : runtime::out(sums));
    }
    if (task.has_state) accesses.push_back(runtime::in(*guard.state));
    const double sites = static_cast<double>(first.block_vectors(b)) / task.vectors;
    runtime::submit(codelet_of<Operation>(lattice.precision(), first.components()), task, accesses,
                    {sites * task.vectors * first.components() * Operation::flops,
                     sites * passes * static_cast<double>(site_bytes(lattice.precision(), first.reals()))},
                    placement_of(geometry, runtime::role_of(guard.when)));
  }
}

#define QUARKSTAR_BLAS_OPERATION(operation)                                                                       \
  template void submit<operation>(const std::array<const Field*, field_count<operation>>&,                        \
                                  const std::array<Coefficient, operation::coefficients>&, const runtime::Guard&, \
                                  const runtime::PartialSums*, int);
QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)
#undef QUARKSTAR_BLAS_OPERATION

}  // namespace quarkstar::blas
