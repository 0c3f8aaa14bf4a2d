// Shifted systems of the normal operator.
#include "apps/c/context.hpp"
#include "apps/c/fields.hpp"
#include "apps/c/results.hpp"
#include "apps/run/shared_settings.hpp"
#include "codelets/field/field.hpp"
#include "runtime/graph/graph_failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <tuple>

using namespace quarkstar;
using namespace quarkstar::c;

namespace {

/// What is asked of shifted systems.
struct AskedNormal {
  std::vector<double> shifts, tolerances;
  qs_vectors sources{}, solutions{};
};

AskedNormal asked_normal_of(const Operator& op, const double* shifts, int count, const double* tolerances, const qs_vectors* sources,
                            const qs_vectors* solutions) {
  require(shifts, "shifts");
  require(sources, "sources");
  require(solutions, "solutions");
  if (op.kind().is_hermitian)
    refuse("op", fmt::format("the even-odd system of {} is hermitian, and its masses are shifts", op.kind().name),
           "solve for several masses with the setting solver = multishift");
  if (count < 1) refuse("count", fmt::format("{} shifts", count), "give one at least");
  AskedNormal asked{.shifts{shifts, shifts + count}, .tolerances = values_of(tolerances, count, op.config.solver.tolerance)};
  for (const double shift : asked.shifts)
    if (!std::isfinite(shift) || shift < 0) refuse("shifts", fmt::format("{}", shift), "give finite numbers from 0");
  for (const double tolerance : asked.tolerances)
    if (!(tolerance > 0) || tolerance >= 1) refuse("tolerances", fmt::format("{}", tolerance), "give numbers between 0 and 1");
  asked.sources = taken(sources, "sources");
  asked.solutions = taken(solutions, "solutions");
  const int slices = op.kind().slices(op.config.settings);
  for (const auto& [vectors, argument, wanted] :
       {std::tuple{&asked.sources, "sources", slices}, {&asked.solutions, "solutions", count * slices}}) {
    check_vectors(*vectors, argument, op.kind().components);
    if (vectors->layout == QS_PYQUDA_PROPAGATOR) refuse(argument, "the layout is a propagator's", "give QS_PYQUDA");
    if (vectors->count != wanted)
      refuse(argument, fmt::format("count {} for {} shifts and {} slices", vectors->count, count, slices), fmt::format("give {}", wanted));
  }
  return asked;
}

/// Vectors of n right-hand sides whose slices follow each other, as fields have them: [s n + v]. one: all are the first.
VectorArrays by_slices(const VectorArrays& given, int n, int slices, bool one) {
  VectorArrays sorted = given;
  sorted.count = n * slices;
  for (int s = 0; s < slices; ++s)
    for (int v = 0; v < n; ++v)
      sorted.data[static_cast<std::size_t>(s * n + v)] = given.data[static_cast<std::size_t>((one ? 0 : v) * slices + s)];
  return sorted;
}

qs_status solve_normal(Operator& op, const AskedNormal& asked, qs_result* results) {
  const int components = op.kind().components, slices = op.kind().slices(op.config.settings);
  const std::optional<int> gpu = Lattice::only_gpu(*op.decomposition);
  const Box part = op.decomposition->part();
  const auto count = static_cast<int>(asked.shifts.size());
  op.last.clear();
  op.last_source.reset();
  std::string& failure = op.context->failure;
  failure.clear();
  for (int first = 0; first < count; first += op.config.nrhs) {
    const int n = std::min(op.config.nrhs, count - first);
    const runtime::Settled settled;
    std::optional<CallersVectors> source, solutions;
    op.context->job->together([&] {
      source.emplace(asked.sources, 0, slices, components, part, QS_ODD, true, gpu);
      solutions.emplace(asked.solutions, first * slices, n * slices, components, part, QS_ODD, false, gpu, &*source);
    });
    const auto of_group = [&](const std::vector<double>& all) {
      return std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n));
    };
    const LoadSources load = [&](const Field& field) {
      Loading(by_slices(source->here(), field.vectors(), slices, true), QS_ODD, false).load(field);
    };
    const UseVectors use = [&](const Field& x) { store(by_slices(solutions->here(), n, slices, false), {&x}, QS_ODD); };
    const Solved solved{
        op.solver_for(n).solve_normal(load, op.config.masses().front(), of_group(asked.shifts), of_group(asked.tolerances), use), {}};
    solutions->give_back();
    for (std::size_t v = 0; v < solved.results.size(); ++v) {
      const std::size_t number = static_cast<std::size_t>(first) + v;
      const SolveResult& result = solved.results[v];
      if (results != nullptr) give_result(results, number, solved, v);
      if (!result.converged() && failure.empty())
        failure = op.failure_of(fmt::format("shift {}", asked.shifts[number]), result,
                                fmt::format("a residual of {:.3e} above {:g}", result.true_residual, asked.tolerances[number]));
      op.last.push_back(result);
    }
  }
  return failure.empty() ? QS_OK : QS_NOT_CONVERGED;
}

}  // namespace

qs_status qs_operator_solve_normal(qs_operator* op, const double* shifts, int count, const double* tolerances, const qs_vectors* sources,
                                   const qs_vectors* solutions, qs_result* results) {
  return call(op ? op->context.get() : nullptr, std::function<qs_status()>([&] {
                AskedNormal asked;
                op->context->job->together([&] {
                  asked = asked_normal_of(*op, shifts, count, tolerances, sources, solutions);
                  if (results != nullptr) require_size(*results, "results");
                });
                app::require_same_settings_everywhere(app::setting_line("shifts", asked.shifts) +
                                                      app::setting_line("tolerances", asked.tolerances));
                return solve_normal(*op, asked, results);
              }));
}
