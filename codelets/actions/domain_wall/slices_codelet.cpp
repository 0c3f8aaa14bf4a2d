#include "codelets/actions/domain_wall/slice_cuda.hpp"
#include "codelets/actions/domain_wall/slices.hpp"
#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace quarkstar::domain_wall {
namespace {

using runtime::Call;

/// Buffers: numbers, out, in, state.
struct Task {
  stencil::MixingTerm term;
  std::int64_t outer_sites;
  std::int32_t slices, vectors, lanes;
  bool chunked, in_lanes, has_state;
  Obedience obedience;
};

template <class F>
SliceArguments<F> arguments_of(Call& call, const Task& task) {
  return {{static_cast<Form>(task.term.form), task.term.step, static_cast<Real<F>>(task.term.factor), call.buffer<const F>(2),
           call.buffer<const Real<F>>(0) + task.term.offset},
          call.buffer<F>(1),
          task.slices,
          task.vectors,
          task.lanes};
}
const VectorStatus* status_of(Call& call, const Task& task) { return task.has_state ? call.buffer<const VectorStatus>(3) : nullptr; }

template <class F>
void run_slices(Call& call) {
  static constexpr arch::KernelTable<SliceKernel<F> (*)(int)> table = QUARKSTAR_KERNEL_TABLE(slice_kernel<F>);
  const auto& task = call.arguments<Task>();
  const VectorStatus* status = status_of(call, task);
  if (const std::int32_t* idle = task.obedience.idle(status); idle != nullptr && *idle != 0) return call.skip();
  const std::int32_t* left_out = task.obedience.left_out(status);
  const SliceArguments<F> arguments = arguments_of<F>(call, task);
  const SliceKernel<F> kernel = table.current()(task.lanes);
  call.team().for_range(task.outer_sites, [&](std::int64_t begin, std::int64_t end, int) { kernel(arguments, begin, end, left_out); });
}

#ifdef QUARKSTAR_CUDA
template <class F>
void run_slices_on_cuda(Call& call) {
  const auto& task = call.arguments<Task>();
  cuda::launch_slices<F>(arguments_of<F>(call, task), task.chunked, task.in_lanes, task.outer_sites, status_of(call, task), task.obedience,
                         static_cast<runtime::CudaStream>(call.stream()));
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

Slices::Slices(wilson::Hopping& hopping, int vectors, const std::vector<std::vector<SliceMatrix>>& matrices)
    : hopping_(hopping), vectors_(vectors) {
  std::vector<double> numbers;
  for (const std::vector<SliceMatrix>& of_vectors : matrices) {
    const int step = all_fit(of_vectors, [](const SliceMatrix& m) { return has_neighbours_at(m, -1); }) ? -1 : 1;
    const Form form = all_fit(of_vectors, [](const SliceMatrix& m) { return m.is_diagonal(); })                  ? Form::diagonal
                      : all_fit(of_vectors, [step](const SliceMatrix& m) { return has_neighbours_at(m, step); }) ? Form::neighbours
                                                                                                                 : Form::dense;
    kinds_.push_back({form, step, static_cast<std::int64_t>(numbers.size())});
    for (std::size_t v = 0; v < static_cast<std::size_t>(vectors); ++v)
      append(numbers, of_vectors[of_vectors.size() == 1 ? 0 : v], form, step);
  }
  with_format(hopping.lattice()->precision(), [&](auto format) {
    using T = Real<typename decltype(format)::type>;
    numbers_ = runtime::Handle(numbers.size() * sizeof(T));
    const runtime::HostView<T> view(numbers_, runtime::HostAccess::overwrite);
    for (std::size_t i = 0; i < numbers.size(); ++i) view[i] = static_cast<T>(numbers[i]);
  });
}

void Slices::apply(const Field& out, const Term& term, const runtime::Guard& guard) {
  const Lattice& lattice = *hopping_.lattice();
  if (out.lattice() != hopping_.lattice() || out.vectors() != vectors_ || term.field == &out)
    throw ShapeError("domain_wall::Slices::apply", "a result of another lattice or number of vectors, or in the place of what is read");
  out.require_alike("domain_wall::Slices::apply", *term.field);
  auto task = runtime::blank<Task>();
  task.term = term_of(term);
  task.slices = lattice.slices();
  task.vectors = vectors_;
  task.lanes = lattice.lanes().lanes;
  task.chunked = lattice.chunked();
  task.in_lanes = lattice.slices_in_lanes();
  task.has_state = guard.state != nullptr;
  task.obedience.masked = guard.masked;
  task.obedience.when = guard.when;
  for (const int b : lattice.local_blocks()) {
    const BlockGeometry& geometry = lattice.block(b);
    task.outer_sites = geometry.outer_sites();
    runtime::AccessList accesses{runtime::in(numbers_), guard.keeps ? runtime::inout(out.block(b)) : runtime::out(out.block(b)),
                                 runtime::in(term.field->block(b))};
    if (task.has_state) accesses.push_back(runtime::in(*guard.state));
    runtime::submit(slices_codelet(lattice.precision()), task, accesses,
                    {static_cast<double>(out.block_vectors(b)) * flops_of(form(term.matrix), task.slices), 2.0 * out.block_bytes(b)},
                    placement_of(geometry, runtime::role_of(guard.when)));
  }
}

void Slices::behind_hops(const Field& out, const Hops& hops, const Term& first, const Term* second, const ApplySums& sums,
                         const runtime::Guard& guard) {
  const Field* const beside = first.field != nullptr ? first.field : second != nullptr ? second->field : nullptr;
  const bool hops_first = first.field == nullptr;
  if ((beside == nullptr) != (second == nullptr) || (!hops_first && second->field != nullptr) ||
      (!hops_first && form(first.matrix) == Form::dense) || (second != nullptr && form(second->matrix) == Form::dense))
    throw ShapeError("domain_wall::Slices::behind_hops", "a dense matrix behind another term or not of the hops, or no hops");
  const int slices = hopping_.lattice()->slices();
  stencil::Output output{.x = hops.x, .diagonal = same_for_all(1), .scale = hops.scale};
  stencil::MixingOptions& mixing = output.epilogue.mixing;
  mixing.numbers = &numbers_;
  mixing.right_hand_sides = vectors_;
  mixing.terms[0] = term_of(first);
  if (second != nullptr) mixing.terms[1] = term_of(*second);
  mixing.of_hops = hops_first ? 0 : 1;
  mixing.beside = beside;
  mixing.flops = flops_of(form(first.matrix), slices) + (second != nullptr ? flops_of(form(second->matrix), slices) : 0);
  output.y = sums.y;
  output.sums = {sums.norm, sums.y != nullptr, sums.y != nullptr && sums.imaginary};
  hopping_.apply(out, *hops.from, output, hops.adjoint, guard);
}

stencil::MixingTerm Slices::term_of(const Term& term) const {
  const Kind& k = kind(term.matrix);
  return {static_cast<std::int32_t>(k.form), k.step, k.offset, term.factor};
}

}  // namespace quarkstar::domain_wall
