#include "codelets/actions/domain_wall/slice_cuda.hpp"
#include "codelets/actions/domain_wall/slices.hpp"
#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace quarkstar::domain_wall {
namespace {

using runtime::Call;

/// Buffers: numbers, out, then those present of the first field (where it is another one), the second, y, sums, state.
struct Task {
  struct Part {
    Form form;
    std::int32_t step;
    std::int64_t offset;
    double factor;
  } first, second;
  std::int64_t outer_sites;
  std::int32_t slices, vectors, lanes;
  stencil::OutputSums sums;
  bool in_place, chunked, has_state;
  Obedience obedience;
};

/// The kernel's view of a task, its sums and the solver's flags.
template <class F>
struct View {
  SliceArguments<F> arguments{};
  runtime::BinnedSum* sums = nullptr;
  const VectorStatus* status = nullptr;
  View(Call& call, const Task& task) {
    const auto* numbers = call.buffer<const Real<F>>(0);
    int next = 2;
    SliceArguments<F>& a = arguments;
    a.out = call.buffer<F>(1);
    a.first = part_of(task.first, numbers, task.in_place ? a.out : call.buffer<const F>(next));
    if (!task.in_place) ++next;
    a.second = part_of(task.second, numbers, task.second.form == Form::none ? nullptr : call.buffer<const F>(next++));
    if (task.sums.dot) a.y = call.buffer<const F>(next++);
    if (task.sums.count(1) > 0) sums = call.buffer<runtime::BinnedSum>(next++);
    if (task.has_state) status = call.buffer<const VectorStatus>(next);
    a.slices = task.slices;
    a.vectors = task.vectors;
    a.lanes = task.lanes;
    a.sums = task.sums;
  }

 private:
  static Product<F> part_of(const Task::Part& part, const Real<F>* numbers, const F* field) {
    return {part.form, part.step, static_cast<Real<F>>(part.factor), field, numbers + part.offset};
  }
};

template <class F>
void run_slices(Call& call) {
  static constexpr arch::KernelTable<SliceKernel<F> (*)(int)> table = QUARKSTAR_KERNEL_TABLE(slice_kernel<F>);
  const auto& task = call.arguments<Task>();
  const View<F> view(call, task);
  if (const std::int32_t* idle = task.obedience.idle(view.status); idle != nullptr && *idle != 0) return call.skip();
  const std::int32_t* left_out = task.obedience.left_out(view.status);
  const SliceKernel<F> kernel = table.current()(task.lanes);
  const int sums = task.sums.count(task.vectors);
  runtime::ThreadSums partial(call.team().threads(), sums);
  call.team().for_range(task.outer_sites, [&](std::int64_t begin, std::int64_t end, int thread) {
    kernel(view.arguments, begin, end, left_out, partial.of(thread));
  });
  if (sums > 0) partial.merge_into(view.sums, sums);
}

#ifdef QUARKSTAR_CUDA
template <class F>
void run_slices_on_cuda(Call& call) {
  const auto& task = call.arguments<Task>();
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  const View<F> view(call, task);
  cuda::launch_slices<F>(view.arguments, task.chunked, task.outer_sites, view.status, task.obedience, stream);
  if (const int sums = task.sums.count(task.vectors); sums > 0)
    runtime::finish_sums(view.sums, sums, task.obedience.idle(view.status), stream);
}
#endif

const runtime::Codelet& slices_codelet(Precision precision) {
  return with_format(precision, [](auto format) -> const runtime::Codelet& {
    using F = typename decltype(format)::type;
    static const runtime::Codelet codelet(fmt::format("domain_wall.slices.{}", name_of(NumberFormat<F>::precision)),
                                          runtime::CodeletKind::vector, QUARKSTAR_BOTH(run_slices, F));
    return codelet;
  });
}

/// Whether a matrix has nothing but its diagonal and, in row s of chirality +, column s + step, of the other s - step.
bool has_neighbours_at(const SliceMatrix& matrix, int step) {
  const int slices = matrix.slices();
  for (int chirality = 0; chirality < SliceMatrix::chiralities; ++chirality)
    for (int i = 0; i < slices; ++i)
      for (int j = 0; j < slices; ++j)
        if (matrix.at(chirality, i, j) != 0 && j != i && j != (i + (chirality == 0 ? step : -step) + slices) % slices) return false;
  return true;
}

template <class Fits>
bool all_fit(const std::vector<SliceMatrix>& matrices, Fits&& fits) {
  return std::all_of(matrices.begin(), matrices.end(), fits);
}

/// The numbers of one right-hand side, in the order of the form.
void append(std::vector<double>& numbers, const SliceMatrix& matrix, Form form, int step) {
  const int slices = matrix.slices();
  for (int chirality = 0; chirality < SliceMatrix::chiralities; ++chirality) {
    if (form == Form::dense) {
      for (int column = 0; column < slices; ++column)
        for (int row = 0; row < padded_rows(slices); ++row) numbers.push_back(row < slices ? matrix.at(chirality, row, column) : 0);
      continue;
    }
    for (int s = 0; s < slices; ++s) numbers.push_back(matrix.at(chirality, s, s));
    for (int s = 0; form == Form::neighbours && s < slices; ++s)
      numbers.push_back(matrix.at(chirality, s, (s + (chirality == 0 ? step : -step) + slices) % slices));
  }
}

double flops_of(Form form, int slices) {
  return form == Form::none ? 0 : form == Form::diagonal ? 24 : form == Form::neighbours ? 72 : 48.0 * slices;
}

}  // namespace

Slices::Slices(LatticePointer lattice, int vectors, const std::vector<std::vector<SliceMatrix>>& matrices, const std::vector<int>& in_place)
    : lattice_(std::move(lattice)), vectors_(vectors), sums_(static_cast<int>(lattice_->local_blocks().size()), 3 * vectors) {
  std::vector<double> numbers;
  for (const std::vector<SliceMatrix>& of_vectors : matrices) {
    const int step = all_fit(of_vectors, [](const SliceMatrix& m) { return has_neighbours_at(m, -1); }) ? -1 : 1;
    const bool is_dense = std::find(in_place.begin(), in_place.end(), static_cast<int>(kinds_.size())) != in_place.end();
    const Form form = is_dense                                                                                   ? Form::dense
                      : all_fit(of_vectors, [](const SliceMatrix& m) { return m.is_diagonal(); })                ? Form::diagonal
                      : all_fit(of_vectors, [step](const SliceMatrix& m) { return has_neighbours_at(m, step); }) ? Form::neighbours
                                                                                                                 : Form::dense;
    kinds_.push_back({form, step, static_cast<std::int64_t>(numbers.size())});
    for (std::size_t v = 0; v < static_cast<std::size_t>(vectors); ++v)
      append(numbers, of_vectors[of_vectors.size() == 1 ? 0 : v], form, step);
  }
  with_format(lattice_->precision(), [&](auto format) {
    using T = Real<typename decltype(format)::type>;
    numbers_ = runtime::Handle(numbers.size() * sizeof(T));
    const runtime::HostView<T> view(numbers_, runtime::HostAccess::overwrite);
    for (std::size_t i = 0; i < numbers.size(); ++i) view[i] = static_cast<T>(numbers[i]);
  });
}

void Slices::apply(const Field& out, const Term& first, const Term* second, const ApplySums& sums, const runtime::Guard& guard) {
  const char* const where = "domain_wall::Slices::apply";
  for (const Field* field : {first.field, second != nullptr ? second->field : nullptr, sums.y}) {
    if (field == nullptr) continue;
    out.require_alike(where, *field);
    if (field->vectors() != vectors_) throw ShapeError(where, "a field with another number of vectors");
  }
  if (out.vectors() != vectors_ || out.lattice() != lattice_) throw ShapeError(where, "a result of another lattice or number of vectors");
  const auto part_of = [&](const Term& term) -> Task::Part {
    const Kind& kind = kinds_[static_cast<std::size_t>(term.matrix)];
    return {kind.form, kind.step, kind.offset, term.factor};
  };
  auto task = runtime::blank<Task>();
  task.first = part_of(first);
  if (second != nullptr) task.second = part_of(*second);
  task.in_place = first.field == &out;
  if ((task.in_place && task.first.form != Form::dense) || task.second.form == Form::dense || (second != nullptr && second->field == &out))
    throw ShapeError(where, "a result in the place of what is read again, or a second dense matrix");
  task.slices = lattice_->slices();
  task.vectors = vectors_;
  task.lanes = lattice_->lanes().lanes;
  task.sums.norm = sums.norm;
  task.sums.dot = sums.y != nullptr;
  task.sums.imaginary = sums.y != nullptr && sums.imaginary;
  task.chunked = lattice_->chunked();
  task.has_state = guard.state != nullptr;
  task.obedience.masked = guard.masked;
  task.obedience.when = guard.when;
  for (const int b : lattice_->local_blocks()) {
    const BlockGeometry& geometry = lattice_->block(b);
    task.outer_sites = geometry.outer_sites();
    runtime::AccessList accesses{runtime::in(numbers_),
                                 task.in_place || guard.keeps ? runtime::inout(out.block(b)) : runtime::out(out.block(b))};
    double fields = 2;
    if (!task.in_place) accesses.push_back(runtime::in(first.field->block(b)));
    for (const Field* field : {second != nullptr ? second->field : nullptr, sums.y})
      if (field != nullptr) {
        accesses.push_back(runtime::in(field->block(b)));
        fields += 1;
      }
    if (task.sums.count(1) > 0) accesses.push_back(runtime::out(sums_.task(lattice_->decomposition().local_index(b))));
    if (task.has_state) accesses.push_back(runtime::in(*guard.state));
    const double flops = flops_of(task.first.form, task.slices) + flops_of(task.second.form, task.slices) + 48.0 * task.sums.count(1);
    runtime::submit(slices_codelet(lattice_->precision()), task, accesses,
                    {static_cast<double>(out.block_vectors(b)) * flops, fields * out.block_bytes(b)},
                    placement_of(geometry, runtime::role_of(guard.when)));
  }
}

}  // namespace quarkstar::domain_wall
