#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/field/blas_cuda.hpp"
#include "codelets/field/blas_kernels.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/system/error.hpp"

#include <string>

namespace quarkstar::blas {
namespace {

using runtime::Call;

/// Buffers: the fields in order, then the partial sums (operations with sums), then the state (where there is one).
struct Task {
  runtime::Coefficient coefficients[Arguments<double>::most_coefficients];
  std::int64_t outer_sites;
  int lanes, first_sum;
  bool has_state;
  runtime::When when;
};

template <class F, class Operation>
Arguments<F> unpack(Call& call, const Task& task) {
  Arguments<F> a{};
  for (int i = 0; i < field_count<Operation>; ++i) a.fields[i] = call.buffer<F>(i);
  a.lanes = task.lanes;
  return a;
}

template <class Operation>
const runtime::GraphStatus* state_of(Call& call, const Task& task) {
  return task.has_state ? call.buffer<const runtime::GraphStatus>(field_count<Operation> + (Operation::sums > 0 ? 1 : 0)) : nullptr;
}

template <class Operation>
runtime::BinnedSum* sums_of(Call& call, const Task& task) {
  return call.buffer<runtime::BinnedSum>(field_count<Operation>) + task.first_sum;
}

template <class F, class Operation>
void run(Call& call) {
  const auto& task = call.arguments<Task>();
  const runtime::GraphStatus* state = state_of<Operation>(call, task);
  if (state != nullptr && *idle_flag(state, task.when) != 0) return call.skip();
  Arguments<F> a = unpack<F, Operation>(call, task);
  for (int k = 0; k < Operation::coefficients; ++k) {
    double re, im;
    task.coefficients[k].resolve(state, re, im);
    a.re[k] = static_cast<Real<F>>(re);
    a.im[k] = static_cast<Real<F>>(im);
  }
  static constexpr arch::KernelTable<Kernel<F> (*)(int)> table = QUARKSTAR_KERNEL_TABLE(blas_kernel<F, Operation>);
  const Kernel<F> kernel = table.current()(task.lanes);
  runtime::ThreadSums partial(call.team().threads());
  call.team().for_range(task.outer_sites,
                        [&](std::int64_t begin, std::int64_t end, int thread) { kernel(a, begin, end, partial.of(thread)); });
  if constexpr (Operation::sums > 0) partial.merge_into(sums_of<Operation>(call, task), Operation::sums);
}

#ifdef QUARKSTAR_CUDA
template <class F, class Operation>
void run_on_cuda(Call& call) {
  const auto& task = call.arguments<Task>();
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  const runtime::GraphStatus* state = state_of<Operation>(call, task);
  cuda::launch_blas<F, Operation>(unpack<F, Operation>(call, task), task.coefficients, state, task.when, task.outer_sites, stream);
  if constexpr (Operation::sums > 0)
    runtime::finish_sums(sums_of<Operation>(call, task), Operation::sums, state != nullptr ? idle_flag(state, task.when) : nullptr, stream);
}
#endif

template <class Operation>
const runtime::Codelet& codelet_of(Precision precision) {
  return with_format(precision, [&](auto format) -> const runtime::Codelet& {
    using F = typename decltype(format)::type;
    static const runtime::Codelet codelet(std::string(Operation::name) + "." + std::string(name_of(precision)),
                                          runtime::CodeletKind::vector, QUARKSTAR_BOTH(run, F, Operation));
    return codelet;
  });
}

}  // namespace

template <class Operation>
void submit(const std::array<const SpinorField*, field_count<Operation>>& fields,
            const std::array<runtime::Coefficient, Operation::coefficients>& coefficients, const runtime::Guard& guard,
            const runtime::PartialSums* partials, int first_sum) {
  const Lattice& lattice = *fields[0]->lattice();
  for (const SpinorField* field : fields)
    if (field->lattice().get() != &lattice || field->parity() != fields[0]->parity())
      throw ShapeError(Operation::name, "fields of another lattice or parity");
  if (Operation::sums > 0 && partials == nullptr) throw ShapeError(Operation::name, "nowhere to put the sums");
  auto task = runtime::blank<Task>();
  for (std::size_t k = 0; k < coefficients.size(); ++k) task.coefficients[k] = coefficients[k];
  task.lanes = lattice.lanes().lanes;
  task.first_sum = first_sum;
  task.has_state = guard.state != nullptr;
  task.when = guard.when;
  double passes = 0;
  for (const Use use : Operation::uses) passes += use == Use::inout ? 2 : 1;
  for (const int b : lattice.local_blocks()) {
    const BlockGeometry& geometry = lattice.block(b);
    task.outer_sites = geometry.outer_sites();
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
    if (guard.state != nullptr) accesses.push_back(runtime::in(*guard.state));
    const auto reals = static_cast<double>(fields[0]->block_reals(b));
    runtime::submit(codelet_of<Operation>(lattice.precision()), task, accesses,
                    {reals / 2 * Operation::flops,
                     passes * reals / SpinorField::reals * static_cast<double>(site_bytes(lattice.precision(), SpinorField::reals))},
                    {.owner = geometry.block().owner, .block = b, .role = runtime::role_of(guard.when)});
  }
}

#define QUARKSTAR_BLAS_OPERATION(operation)                                                                                \
  template void submit<operation>(const std::array<const SpinorField*, field_count<operation>>&,                           \
                                  const std::array<runtime::Coefficient, operation::coefficients>&, const runtime::Guard&, \
                                  const runtime::PartialSums*, int);
QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)
#undef QUARKSTAR_BLAS_OPERATION

}  // namespace quarkstar::blas
