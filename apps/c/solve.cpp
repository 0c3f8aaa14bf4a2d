// Solves of the C library.
#include "apps/c/context.hpp"
#include "apps/c/fields.hpp"
#include "apps/c/results.hpp"
#include "apps/run/shared_settings.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/field/field.hpp"
#include "codelets/field/source_field.hpp"
#include "codelets/quark_smear/smearers.hpp"
#include "runtime/graph/binned_sum.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "solvers/krylov/krylov.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

using namespace quarkstar;
using namespace quarkstar::c;

namespace {

/// What is asked of all right-hand sides.
struct Asked {
  qs_parity parity = QS_BOTH;
  bool guess = false, shifted = false;
  int components = 0;
  std::vector<double> masses{}, tolerances{}, relative{}, scales{};  ///< of each solution; relative 0: not asked
  qs_vectors solutions{};
  qs_vectors sources{};            ///< of the caller's
  std::optional<Source> source{};  ///< in place of them: what tasks make columns of
  std::vector<int> columns{};      ///< of each solution
};

bool is_asked(double target) { return target > 0; }

/// Right-hand sides in the caller's memory.
void take_sources(Asked& asked, const qs_vectors& sources) {
  asked.sources = taken(&sources, "sources");
  check_vectors(asked.sources, "sources", asked.components);
  const int n = asked.solutions.count;
  if (const int wanted = asked.shifted ? 1 : n; asked.sources.count != wanted)
    refuse("sources", fmt::format("{} sources for {} solutions", asked.sources.count, n),
           asked.shifted ? "multishift solves for one source" : "give as many sources as solutions");
}

/// Columns of a source, made by tasks. columns: nullptr for 0, 1, ...
void take_columns(Asked& asked, const Operator& op, const char* source, const int* columns) {
  asked.source = source_of(op.lattice, source);
  if (asked.source->smearing && op.links.data.empty())
    refuse("source", "the operator has no links to smear it with", "make the operator of a gauge field, or smear the source yourself");
  if (asked.shifted && columns == nullptr) refuse("columns", "multishift solves for one of them", "give it, or use another solver");
  for (int v = 0; v < asked.solutions.count; ++v)
    asked.columns.push_back(require_column(columns == nullptr ? v : columns[asked.shifted ? 0 : v], asked.components));
}

/// take: of right-hand sides, as many as solutions.
template <class TakeSources>
Asked asked_of(const Operator& op, const qs_solve_options* options, const qs_vectors* solutions, TakeSources&& take) {
  const qs_solve_options o = taken(options, "options");
  Asked asked{.parity = o.parity, .guess = o.use_guess != 0, .components = op.kind().components};
  if (op.kind().slices(op.config.settings) > 1) {
    if (asked.guess) refuse("options", "a solve with a fifth dimension begins at zero", "give no guess");
    if (o.relative_tolerances != nullptr)
      refuse("options", "an action with a fifth dimension has no relative residual", "give the tolerance of the other one");
  }
  check_parity(asked.parity);
  require(solutions, "solutions");
  asked.solutions = taken(solutions, "solutions");
  check_vectors(asked.solutions, "solutions", asked.components);
  asked.shifted = find_krylov_solver(op.config.solver.solver)->shifted;
  const int n = asked.solutions.count;
  take(asked);
  asked.masses = op.masses_for(n, o.masses);
  asked.relative = values_of(o.relative_tolerances, n, 0);
  asked.scales = values_of(o.solution_scales, n, 1);
  asked.tolerances = values_of(o.tolerances, n, op.config.solver.tolerance);
  const double most = *std::max_element(asked.tolerances.begin(), asked.tolerances.end());
  const bool any_relative = std::ranges::any_of(asked.relative, is_asked);
  if (any_relative && asked.source)
    refuse("relative_tolerances", "they are for sources in memory", "make it with qs_operator_source, and solve with qs_operator_solve");
  for (std::size_t v = 0; v < asked.masses.size(); ++v) {
    double& tolerance = asked.tolerances[v];
    const double relative = asked.relative[v];
    if (!(relative >= 0) || relative >= 1) refuse("relative_tolerances", fmt::format("{}", relative), "give numbers from 0 to 1");
    if (tolerance == 0 && relative > 0) tolerance = relative;  // where the search for it begins
    const bool follows = tolerance == 0 && asked.shifted && !asked.guess && !any_relative && n <= most_vectors && most > 0;
    if (!(tolerance > 0 || follows) || tolerance >= 1) refuse("tolerances", fmt::format("{}", tolerance), "give numbers between 0 and 1");
    if (!std::isfinite(asked.scales[v]) || asked.scales[v] == 0)
      refuse("solution_scales", fmt::format("{}", asked.scales[v]), "give numbers other than 0");
  }
  return asked;
}

/// The calls of all ranks are of one solve.
void require_same_everywhere(const Asked& asked) {
  if (!runtime::mpi::Job::current().is_distributed()) return;  // to write it all down takes as long as a task
  app::require_same_settings_everywhere(
      app::setting_line("sources", asked.sources.count) + app::setting_line("source", asked.source ? text_of(*asked.source) : "none") +
      app::setting_line("columns", asked.columns) + app::setting_line("solutions", asked.solutions.count) +
      app::setting_line("parity", static_cast<int>(asked.parity)) + app::setting_line("use_guess", asked.guess) +
      app::setting_line("masses", asked.masses) + app::setting_line("tolerances", asked.tolerances) +
      app::setting_line("relative_tolerances", asked.relative) + app::setting_line("solution_scales", asked.scales));
}

/// sqrt(mean over the sites asked for of |b - M x|^2 / |scale x|^2), 1 where x is zero, of each vector.
std::vector<double> relative_residuals(Solver& solver, const Asked& asked, const std::vector<HostField>& sources,
                                       std::span<const double> masses, std::span<const double> scales,
                                       const std::vector<HostField>& solutions, const runtime::Team& team) {
  std::vector<HostField> images = zero_fields(solutions.size(), asked.components, solutions.front().box());
  solver.apply(solutions, masses, images);
  const Box part = solutions.front().box();
  const std::size_t n = solutions.size();
  const auto threads = static_cast<std::size_t>(team.threads());
  std::vector<runtime::BinnedSum> of_threads(threads * n, runtime::BinnedSum::zero());
  std::vector<std::uint64_t> sites_of_threads(threads, 0);
  team.for_range(volume(part.extents), [&](std::int64_t begin, std::int64_t end, int thread) {
    const auto t = static_cast<std::size_t>(thread);
    for (std::int64_t site = begin; site < end; ++site) {
      if (!is_in(asked.parity, parity_of(site_of(part, site)))) continue;
      ++sites_of_threads[t];
      for (std::size_t v = 0; v < n; ++v) {
        double r2 = 0, x2 = 0;
        for (int c = 0; c < asked.components; ++c) {
          r2 += std::norm(sources[v].at(site, c) - images[v].at(site, c));
          x2 += std::norm(scales[v] * solutions[v].at(site, c));
        }
        runtime::add(of_threads[t * n + v], x2 > 0 ? r2 / x2 : 1);
      }
    }
  });
  std::vector<runtime::BinnedSum> sums(n, runtime::BinnedSum::zero());
  for (std::size_t i = 0; i < of_threads.size(); ++i) sums[i % n].merge(of_threads[i]);
  std::uint64_t sites = std::accumulate(sites_of_threads.begin(), sites_of_threads.end(), std::uint64_t{0});
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  job.combine(sums);
  sites = job.combined(sites, runtime::mpi::Combine::sum);
  std::vector<double> relative;
  for (const runtime::BinnedSum& sum : sums) relative.push_back(std::sqrt(runtime::value_of(sum) / static_cast<double>(sites)));
  return relative;
}

/// A further solve of what an earlier one has begun.
void add(SolveResult& result, const SolveResult& more) {
  result.reason = more.reason;
  result.iterations += more.iterations;
  result.restarts += more.iterations > 0 ? 1 + more.restarts : 0;
  result.true_residual = more.true_residual;
  result.seconds += more.seconds;
  result.flops += more.flops;
  result.residual_history.insert(result.residual_history.end(), more.residual_history.begin(), more.residual_history.end());
}

/// Right-hand sides of a group.
struct GroupSources {
  LoadSources load;
  VectorArrays arrays;  ///< of those in memory
};

/// Solves for a group, whose first is `first`. stores: called before solutions go to the caller. A relative residual is no part of the
/// solver's sums: where it is still too large, the solve goes on to a residual that is smaller by as much.
Solved solve_group(Solver& solver, const Asked& asked, std::size_t first, const GroupSources& sources, const VectorArrays& solutions,
                   const std::function<void()>& stores, const runtime::Team& team) {
  const auto n = static_cast<std::size_t>(solutions.count);
  std::vector<double> tolerances(asked.tolerances.begin() + static_cast<std::ptrdiff_t>(first),
                                 asked.tolerances.begin() + static_cast<std::ptrdiff_t>(first + n));
  const auto masses = std::span(asked.masses).subspan(first, n), relative = std::span(asked.relative).subspan(first, n),
             scales = std::span(asked.scales).subspan(first, n);
  VectorArrays guesses = solutions, results = solutions;
  guesses.factors = for_each_vector(n, [&](std::size_t v) { return 1 / scales[v]; });
  results.factors = for_each_vector(n, [&](std::size_t v) { return scales[v]; });
  bool guess = asked.guess;
  qs_parity guessed = asked.parity;
  const auto solve = [&](const VectorArrays& to, qs_parity sites) {
    SolveRequest request{.tolerances = tolerances, .parity = {}};
    if (asked.parity != QS_BOTH) request.parity = asked.parity == QS_ODD ? 1 : 0;
    Loading loading(guesses, guessed, true);
    if (guess) request.guess = [&](const Field& field) { loading.load(field); };
    const UseSolutions use = [&](const FullField& solved, std::span<const SolveResult>) {
      stores();
      store(to, {&solved.even, &solved.odd}, sites);
    };
    return solver.solve(sources.load, masses, {}, {}, {}, use, request);
  };
  if (std::ranges::none_of(relative, is_asked)) return {solve(results, asked.parity), {}};
  // In double precision, whatever the caller's is, and on all sites: a solve goes on where the one before has ended, and M x is of all.
  std::vector<HostField> x = zero_fields(n, asked.components, solutions.box), b = zero_fields(n, asked.components, solutions.box);
  copy(VectorArrays::to_write(b), sources.arrays, asked.parity, team);
  const VectorArrays kept = VectorArrays::to_write(x);
  Solved solved{solve(kept, QS_BOTH), {}};
  guesses = kept;
  guess = true;
  guessed = QS_BOTH;
  constexpr int most_rounds = 20;
  for (int round = 0;; ++round) {
    solved.relative = relative_residuals(solver, asked, b, masses, scales, x, team);
    for (std::size_t v = 0; v < n; ++v)
      if (solved.results[v].true_residual == 0) solved.relative[v] = 0;  // of the source 0, whose solution is 0 everywhere
    bool again = false;
    for (std::size_t v = 0; v < n; ++v) {
      if (relative[v] == 0 || solved.relative[v] <= relative[v] || !solved.results[v].converged()) continue;
      tolerances[v] *= std::clamp(0.5 * relative[v] / solved.relative[v], 1e-3, 0.5);
      again = true;
    }
    if (!again) break;
    const bool stuck = round == most_rounds;
    const std::vector<SolveResult> more = stuck ? std::vector<SolveResult>{} : solve(kept, QS_BOTH);
    for (std::size_t v = 0; v < n; ++v) {
      if (!stuck) add(solved.results[v], more[v]);
      else if (relative[v] > 0 && solved.relative[v] > relative[v]) solved.results[v].reason = StopReason::stagnation;
    }
    if (stuck) break;
  }
  copy(results, kept, asked.parity, team);
  return solved;
}

/// Which of the residuals that were asked for is too large.
std::string shortfall_of(const Asked& asked, std::size_t number, const Solved& solved, std::size_t v) {
  if (const double wanted = asked.relative[number]; !solved.relative.empty() && wanted > 0 && solved.relative[v] > wanted)
    return fmt::format("a relative residual of {:.3e} above {:g}", solved.relative[v], wanted);
  return fmt::format("|b - M x| / |b| = {:.3e} above {:g}", solved.results[v].true_residual, asked.tolerances[number]);
}

/// Of a solve for all its columns in their order at one mass.
std::optional<Source> propagator_source(const Asked& asked) {
  std::vector<int> all(static_cast<std::size_t>(asked.components));
  std::iota(all.begin(), all.end(), 0);
  const auto is_other = [&](double mass) { return mass != asked.masses[0]; };
  return asked.columns == all && std::ranges::none_of(asked.masses, is_other) ? asked.source : std::nullopt;
}

/// Links for smeared sources; none where they are not.
std::optional<QuarkSmearers> smearers_of(Operator& op, const Asked& asked) {
  if (!asked.source || !asked.source->smearing) return std::nullopt;
  app::RunConfig config = op.config;
  config.source = *asked.source;
  if (op.deflation != nullptr) app::count_projector(config, op.deflation->header);
  op.require_room_for(config);
  return std::optional<QuarkSmearers>(std::in_place, *op.decomposition, op.links, config.smearings());
}

qs_status solve(Operator& op, const Asked& asked, qs_result* results) {
  const Box part = op.decomposition->part();
  const runtime::Team& team = op.context->session->cpu_team();
  // Relative residuals are taken by the host.
  const bool by_tasks = std::ranges::none_of(asked.relative, is_asked);
  const std::optional<int> gpu = by_tasks ? Lattice::only_gpu(*op.decomposition) : std::nullopt;
  op.last.clear();
  op.last_source.reset();
  std::string& failure = op.context->failure;
  failure.clear();
  // As many as the plan of memory counts with. Masses of one Krylov space go together, however many.
  const int together = asked.shifted ? most_vectors : op.config.nrhs;
  // A solution may take the place of the one source, which further groups need.
  std::vector<HostField> kept;
  if (asked.shifted && !asked.source && asked.solutions.count > together) {
    std::optional<CallersVectors> source;
    op.context->job->together([&] { source.emplace(asked.sources, 0, 1, asked.components, part, asked.parity, true, std::nullopt); });
    kept = zero_fields(1, asked.components, part);
    copy(VectorArrays::to_write(kept), source->here(), asked.parity, team);
  }
  const std::optional<QuarkSmearers> smearers = smearers_of(op, asked);
  for (int first = 0; first < asked.solutions.count; first += together) {
    const int n = std::min(together, asked.solutions.count - first);
    const runtime::Settled settled;
    std::optional<CallersVectors> sources, solutions;
    std::optional<SourceColumns> columns;
    std::optional<Loading> loading;
    op.context->job->together([&] {
      if (!asked.source && kept.empty())
        sources.emplace(asked.sources, asked.shifted ? 0 : first, asked.shifted ? 1 : n, asked.components, part, asked.parity, true, gpu);
      solutions.emplace(asked.solutions, first, n, asked.components, part, asked.parity, asked.guess, gpu, sources ? &*sources : nullptr);
    });
    GroupSources right;
    if (asked.source) {
      std::vector<SourceColumn> of_group;
      for (int v = first; v < first + n; ++v) of_group.push_back({*asked.source, asked.columns[static_cast<std::size_t>(v)]});
      columns.emplace(*op.decomposition, std::move(of_group), smearers ? &*smearers : nullptr);
      right.load = [&](const Field& field) {
        if (is_in(asked.parity, field.parity())) columns->submit(field);
        else blas::submit<blas::Fill>({&field}, {0.0});
      };
    } else {
      right.arrays = kept.empty() ? sources->here() : VectorArrays::to_read(kept);
      if (asked.shifted) {
        right.arrays.count = n;
        right.arrays.data.fill(right.arrays.data[0]);
      }
      loading.emplace(right.arrays, asked.parity, !asked.shifted);  // shifted systems take one parity after the other
      right.load = [&](const Field& field) { loading->load(field); };
    }
    const auto stores = [&] {  // takes long where it is not by a GPU
      if (solutions->here().on_gpu != 0 && first + n == asked.solutions.count) op.context->service->ends_soon();
    };
    const Solved solved = solve_group(op.solver_for(n), asked, static_cast<std::size_t>(first), right, solutions->here(), stores, team);
    solutions->give_back();
    for (std::size_t v = 0; v < solved.results.size(); ++v) {
      const SolveResult& result = solved.results[v];
      const std::size_t number = static_cast<std::size_t>(first) + v;
      if (results != nullptr) give_result(results, number, solved, v);
      if (!result.converged() && failure.empty())
        failure = op.failure_of(fmt::format("solution {}", number), result, shortfall_of(asked, number, solved, v));
      op.last.push_back(result);
    }
  }
  op.last_source = propagator_source(asked);
  return failure.empty() ? QS_OK : QS_NOT_CONVERGED;
}

}  // namespace

const char* qs_reason_text(qs_reason reason) {
  switch (reason) {
    case QS_REASON_CONVERGED:
      return describe(StopReason::converged);
    case QS_REASON_ZERO_DENOMINATOR:
      return describe(StopReason::zero_denominator);
    case QS_REASON_NOT_FINITE:
      return describe(StopReason::not_finite);
    case QS_REASON_STAGNATION:
      return describe(StopReason::stagnation);
    case QS_REASON_ITERATION_LIMIT:
      return describe(StopReason::iteration_limit);
    case QS_REASON_INTERRUPTED:
      return describe(StopReason::interrupted);
  }
  return "";
}

namespace {

template <class TakeSources>
qs_status solve_call(qs_operator* op, const qs_solve_options* options, const qs_vectors* solutions, qs_result* results,
                     TakeSources&& take) {
  return call(op ? op->context.get() : nullptr, std::function<qs_status()>([&] {
                Asked asked;
                op->context->job->together([&] {
                  asked = asked_of(*op, options, solutions, take);
                  if (results != nullptr) require_size(*results, "results");
                });
                require_same_everywhere(asked);
                return solve(*op, asked, results);
              }));
}

}  // namespace

qs_status qs_operator_solve(qs_operator* op, const qs_solve_options* options, const qs_vectors* sources, const qs_vectors* solutions,
                            qs_result* results) {
  return solve_call(op, options, solutions, results, [&](Asked& asked) {
    require(sources, "sources");
    take_sources(asked, *sources);
  });
}

qs_status qs_operator_propagate(qs_operator* op, const char* source, const int* columns, const qs_solve_options* options,
                                const qs_vectors* solutions, qs_result* results) {
  return solve_call(op, options, solutions, results, [&](Asked& asked) { take_columns(asked, *op, source, columns); });
}

qs_status qs_operator_history(const qs_operator* op, int number, const double** values, size_t* count) try {
  const std::unique_lock lock = only_call();
  require(op, "op");
  require(values, "values");
  require(count, "count");
  if (number < 0 || static_cast<std::size_t>(number) >= op->last.size())
    refuse("number", fmt::format("the last solve had {} solutions", op->last.size()), "give one of them, from 0");
  const std::vector<double>& history = op->last[static_cast<std::size_t>(number)].residual_history;
  *values = history.data();
  *count = history.size();
  return QS_OK;
} catch (...) {
  return set_error_of_exception();
}
