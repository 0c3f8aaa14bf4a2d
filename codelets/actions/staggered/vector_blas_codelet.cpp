#include "codelets/actions/staggered/vector_blas.hpp"
#include "codelets/actions/staggered/vector_blas_cuda.hpp"
#include "codelets/actions/staggered/vector_blas_kernels.hpp"
#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::staggered {
namespace {

using runtime::Call;

/// Buffers: the fields in order, then the partial sums (operations with sums), then the state (where there is one).
struct Task {
  VectorCoefficient coefficients[VectorArguments<double>::most_coefficients];
  std::int64_t outer_sites;
  int vectors_of[VectorArguments<double>::most_fields];
  int vectors, lanes, vectors_in_lanes;
  bool has_state;
  Obedience obedience;
};

template <class F, class Operation>
VectorArguments<F> unpack(Call& call, const Task& task) {
  VectorArguments<F> a{};
  for (int i = 0; i < blas::field_count<Operation>; ++i) {
    a.fields[i] = call.buffer<F>(i);
    a.vectors_of[i] = task.vectors_of[i] / task.vectors_in_lanes;
  }
  a.vectors = task.vectors / task.vectors_in_lanes;
  a.lanes = task.lanes * task.vectors_in_lanes;
  return a;
}

template <class Operation>
const VectorStatus* status_of(Call& call, const Task& task) {
  return task.has_state ? call.buffer<const VectorStatus>(blas::field_count<Operation> + (Operation::sums > 0 ? 1 : 0)) : nullptr;
}

template <class F, class Operation>
void run(Call& call) {
  const auto& task = call.arguments<Task>();
  const VectorStatus* status = status_of<Operation>(call, task);
  if (const std::int32_t* idle = task.obedience.idle(status); idle != nullptr && *idle != 0) return call.skip();
  VectorArguments<F> a = unpack<F, Operation>(call, task);
  a.left_out = task.obedience.left_out(status);
  VectorNumbers<F> numbers;
  for (int k = 0; k < Operation::coefficients; ++k)
    for (int v = 0; v < task.vectors; ++v) numbers[k][v] = static_cast<Real<F>>(task.coefficients[k].resolve(status, v));
  static constexpr arch::KernelTable<VectorKernel<F> (*)(int)> of_sites = QUARKSTAR_KERNEL_TABLE(vector_kernel<F, Operation>),
                                                               of_groups = QUARKSTAR_KERNEL_TABLE(group_kernel<F, Operation>);
  const VectorKernel<F> kernel = (task.vectors_in_lanes > 1 ? of_groups : of_sites).current()(a.lanes);
  const int sums = Operation::sums * task.vectors;
  runtime::ThreadSums partial(call.team().threads(), sums);
  call.team().for_range(task.outer_sites,
                        [&](std::int64_t begin, std::int64_t end, int thread) { kernel(a, numbers, begin, end, partial.of(thread)); });
  if constexpr (Operation::sums > 0) partial.merge_into(call.buffer<runtime::BinnedSum>(blas::field_count<Operation>), sums);
}

#ifdef QUARKSTAR_CUDA
template <class F, class Operation>
void run_on_cuda(Call& call) {
  const auto& task = call.arguments<Task>();
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  const VectorStatus* status = status_of<Operation>(call, task);
  cuda::launch_vector_blas<F, Operation>(unpack<F, Operation>(call, task), task.coefficients, status, task.obedience, task.outer_sites,
                                         stream);
  if constexpr (Operation::sums > 0)
    runtime::finish_sums(call.buffer<runtime::BinnedSum>(blas::field_count<Operation>), Operation::sums * task.vectors,
                         task.obedience.idle(status), stream);
}
#endif

template <class Operation>
const runtime::Codelet& codelet_of(Precision precision) {
  return with_format(precision, [&](auto format) -> const runtime::Codelet& {
    using F = typename decltype(format)::type;
    static const runtime::Codelet codelet(fmt::format("{}.vectors.{}", Operation::name, name_of(precision)), runtime::CodeletKind::vector,
                                          QUARKSTAR_BOTH(run, F, Operation));
    return codelet;
  });
}

}  // namespace

template <class Operation>
void submit(const std::array<const ColourField*, blas::field_count<Operation>>& fields,
            const std::array<VectorCoefficient, Operation::coefficients>& coefficients, const Control& control,
            const runtime::PartialSums* partials) {
  const Lattice& lattice = *fields[0]->lattice();
  auto task = runtime::blank<Task>();
  task.vectors = fields[0]->vectors();
  double passes = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const ColourField& field = *fields[i];
    if (field.lattice().get() != &lattice || field.parity() != fields[0]->parity())
      throw ShapeError(Operation::name, "fields of another lattice or parity");
    if (field.vectors() != task.vectors && (field.vectors() != 1 || Operation::uses[i] != Use::in))
      throw ShapeError(Operation::name, "fields with other numbers of vectors");
    task.vectors_of[i] = field.vectors();
    passes += (Operation::uses[i] == Use::inout ? 2.0 : 1.0) * field.vectors();
  }
  if (Operation::sums > 0 && partials == nullptr) throw ShapeError(Operation::name, "nowhere to put the sums");
  for (std::size_t k = 0; k < coefficients.size(); ++k) task.coefficients[k] = coefficients[k];
  task.lanes = lattice.lanes().lanes;
  task.vectors_in_lanes = lattice.vectors_in_lanes();
  task.has_state = control.state != nullptr;
  task.obedience = control.obedience;
  for (const int b : lattice.local_blocks()) {
    const BlockGeometry& geometry = lattice.block(b);
    task.outer_sites = geometry.outer_sites();
    runtime::AccessList accesses;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const runtime::Handle& handle = fields[i]->block(b);
      const bool overwrites = Operation::uses[i] == Use::out && !control.keeps_output();
      accesses.push_back(Operation::uses[i] == Use::in ? runtime::in(handle) : overwrites ? runtime::out(handle) : runtime::inout(handle));
    }
    if constexpr (Operation::sums > 0) accesses.push_back(runtime::out(partials->task(lattice.decomposition().local_index(b))));
    if (task.has_state) accesses.push_back(runtime::in(*control.state));
    const double sites = static_cast<double>(geometry.outer_sites()) * lattice.lanes().lanes;
    runtime::submit(codelet_of<Operation>(lattice.precision()), task, accesses,
                    {sites * task.vectors * 3 * Operation::flops,
                     sites * passes * static_cast<double>(site_bytes(lattice.precision(), ColourField::reals))},
                    {.owner = geometry.block().owner, .block = b, .role = runtime::role_of(control.obedience.when)});
  }
}

#define QUARKSTAR_VECTOR_OPERATION(operation)                                                                    \
  template void submit<operation>(const std::array<const ColourField*, blas::field_count<operation>>&,           \
                                  const std::array<VectorCoefficient, operation::coefficients>&, const Control&, \
                                  const runtime::PartialSums*);
QUARKSTAR_FOR_VECTOR_OPERATIONS(QUARKSTAR_VECTOR_OPERATION)

}  // namespace quarkstar::staggered
