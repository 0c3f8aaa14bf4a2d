// Dslash and solves.
#include "apps/c/milc/milc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::c;
using namespace quarkstar::c::milc;

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// An operator that is kept for further calls, and the links that it was made of.
struct Kept {
  const char* action;
  const void *fat, *long_links;
  std::uint64_t sample;       ///< of this rank's links
  std::uint64_t fingerprint;  ///< of the numbers of all ranks' links, the same on all
  Settings settings;
  OperatorPointer op;
};
/// The last used is first, the same on all ranks. Two Naik epsilons, each solved for with and without shifts, are what a program alternates
/// between. It outlives a program that ends without qudaFinalize: operators cannot be freed once MPI has ended.
std::list<Kept>& kept = *new std::list<Kept>;
constexpr std::size_t most_kept = 4;

/// Of the links of all ranks: their numbers, and which rank has them.
std::uint64_t fingerprint_of(Context& context, const void* fat, const void* long_links, std::size_t bytes) {
  std::uint64_t mine = hash(hash(bytes, fat, bytes), long_links, long_links != nullptr ? bytes : 0);
  const auto rank = static_cast<std::uint64_t>(context.job->rank());
  mine = hash(mine, &rank, sizeof rank);
  return context.job->combined(mine, runtime::mpi::Combine::sum);
}

/// Gives up one, where there is no room for another: links that are no more where they were, on any rank, go first.
void make_room() {
  while (kept.size() >= most_kept) {
    const auto gone = std::find_if(kept.rbegin(), kept.rend(), [](const Kept& one) { return one.fat == nullptr; });
    kept.erase(gone != kept.rend() ? std::prev(gone.base()) : std::prev(kept.end()));
  }
}

/// The operator of that action on these links with these settings, or (none) with any. are_new: their numbers may be others than before at
/// the same addresses; programs change them without a word too, so a sample of them is compared in any case. make: where there is none yet;
/// nullptr for a failure. All ranks take the same.
template <class Make>
qs_operator* operator_on(const char* function, const char* action, int precision, const void* fat, const void* long_links, bool are_new,
                         const Settings& settings, Make&& make) {
  std::uint64_t fingerprint = 0, sample = 0;
  auto found = kept.end();
  work(function, [&](Context& context) {
    const Coord extents = cut(context).part().extents;
    const std::size_t bytes = static_cast<std::size_t>(volume(extents)) * HostGauge::reals_per_site *
                              (precision_of(function, precision) == QS_SINGLE ? sizeof(float) : sizeof(double));
    sample = sample_of(sample_of(bytes, fat, extents, bytes), long_links, extents, bytes);
    const auto is_here = [&](const Kept& one) { return one.fat == fat && one.long_links == long_links && one.sample == sample; };
    const auto look = [&](auto&& has_these_links) {
      found = std::find_if(kept.begin(), kept.end(), [&](const Kept& one) {
        return one.action == std::string_view(action) && has_these_links(one) && (settings.empty() || one.settings == settings);
      });
      // Addresses and samples are this rank's own: each may have found another.
      const auto number = static_cast<std::uint64_t>(std::distance(kept.begin(), found));
      std::uint64_t ends[2] = {number, ~number};
      context.job->combine(std::span(ends), runtime::mpi::Combine::maximum);
      if (ends[0] != ~ends[1]) found = kept.end();
      return found != kept.end();
    };
    if (!are_new && look(is_here)) return;
    fingerprint = fingerprint_of(context, fat, long_links, bytes);
    for (Kept& one : kept) {
      if (one.fingerprint == fingerprint) one.fat = fat, one.long_links = long_links, one.sample = sample;
      else if (context.job->any(one.fat == fat && one.long_links == long_links)) one.fat = one.long_links = nullptr;
    }
    look([&](const Kept& one) { return one.fingerprint == fingerprint; });
  });
  if (found != kept.end()) {
    kept.splice(kept.begin(), kept, found);
  } else {
    kept.remove_if([&](const Kept& one) { return one.fingerprint == fingerprint && one.settings.empty(); });  // any will do for a Dslash
    make_room();
    OperatorPointer op(make());
    if (op == nullptr && !kept.empty()) {  // what is kept may be what there is no memory for
      kept.clear();
      op.reset(make());
    }
    if (op == nullptr) end(function, qs_error_message());
    kept.push_front({action, fat, long_links, sample, fingerprint, settings, std::move(op)});
  }
  return kept.front().op.get();
}

std::vector<qs_setting> for_library(const Settings& settings) {
  std::vector<qs_setting> all;
  for (const auto& [key, value] : settings) all.push_back({key.c_str(), value.c_str()});
  return all;
}

const char* inner_precision(int quda_precision, int mixed_precision) {
  if (mixed_precision == 2) return "half";
  return mixed_precision == 1 || quda_precision == 1 ? "single" : "double";
}

Settings solver_settings(const char* solver, const char* precision, int most_iterations) {
  return {{"solver", solver}, {"precision", precision}, {"max-iterations", fmt::format("{}", std::max(1, most_iterations))}};
}

/// Whether links of all ranks are.
bool are_zero(Context& context, qs_precision precision, const void* links) {
  const auto numbers = static_cast<std::size_t>(volume(cut(context).part().extents)) * HostGauge::reals_per_site;
  const auto all_zero = [numbers](const auto* first) {
    return std::all_of(first, first + numbers, [](auto number) { return number == 0; });
  };
  return !context.job->any(
      !(precision == QS_SINGLE ? all_zero(static_cast<const float*>(links)) : all_zero(static_cast<const double*>(links))));
}

qs_operator* staggered(const char* function, int precision, const void* fat, const void* long_links, const int* iterations,
                       const Settings& settings) {
  if (fat == nullptr) end(function, "no fat links: give their address");
  return operator_on(function, "staggered", precision, fat, long_links, *iterations == -1, settings, [&] {
    const GaugePointer near = gauge_of(function, links_at(function, precision, fat));
    // A program without long links may give such as are zero.
    bool has_long = long_links != nullptr;
    if (has_long) work(function, [&](Context& context) { has_long = !are_zero(context, precision_of(function, precision), long_links); });
    const GaugePointer far = has_long ? gauge_of(function, links_at(function, precision, long_links)) : nullptr;
    const std::vector<qs_setting> given = for_library(settings);
    qs_operator* op = nullptr;
    qs_operator_create_on_links(near.get(), far.get(), given.data(), given.size(), &op);
    return op;
  });
}

qs_parity parity_of_system(const char* function, QudaParity parity) {
  if (parity != QUDA_EVEN_PARITY && parity != QUDA_ODD_PARITY)
    end(function, fmt::format("parity {}: give QUDA_EVEN_PARITY or QUDA_ODD_PARITY", static_cast<int>(parity)));
  return parity == QUDA_EVEN_PARITY ? QS_EVEN : QS_ODD;
}

/// MILC takes a solve for converged where the residual is less than the target, which must be less than 1 here.
double below(double target) {
  constexpr double less = 1 - 1e-14;
  return std::min(target, 1.0) * less;
}

/// What is asked of each solution of (4 m^2 - D D) x = b, and what comes of it.
struct Systems {
  std::vector<double> masses, tolerances, relative{};
  bool use_guess = false;
  std::vector<qs_result> results{};
};

void solve(const char* function, qs_operator* op, int precision, qs_parity parity, Systems& systems, void* const* sources, int source_count,
           void* const* solutions) {
  const std::size_t n = systems.masses.size();
  std::vector<double> scales;  // Quarkstar's system is (4 m^2 - D D) / (2 m)
  for (const double mass : systems.masses) scales.push_back(1 / (2 * mass));
  qs_solve_options options{};
  options.struct_size = sizeof options;
  options.parity = parity;
  options.masses = systems.masses.data();
  options.tolerances = systems.tolerances.data();
  options.relative_tolerances = systems.relative.empty() ? nullptr : systems.relative.data();
  options.use_guess = systems.use_guess ? 1 : 0;
  options.solution_scales = scales.data();
  systems.results.assign(n, qs_result{});
  for (qs_result& result : systems.results) result.struct_size = sizeof result;
  const qs_vectors in = vectors_at(function, precision, sources, source_count);
  const qs_vectors out = vectors_at(function, precision, solutions, static_cast<int>(n));
  require_ok(function, qs_operator_solve(op, &options, &in, &out, systems.results.data()));
}

int most_iterations(const Systems& systems) {
  int most = 0;
  for (const qs_result& result : systems.results) most = std::max(most, result.iterations);
  return most;
}

void require_target(const char* function, double residual, double relative_residual) {
  if (!(residual > 0) && !(relative_residual > 0))
    end(function, fmt::format("residual {} and relative residual {}: ask for one of them, above 0", residual, relative_residual));
}

void invert(const char* function, int external_precision, int quda_precision, double mass, const QudaInvertArgs_t& arguments,
            double residual, double relative_residual, const void* fat, const void* long_links, void** sources, void** solutions,
            double* final_residual, double* final_relative_residual, int* iterations, int count) {
  if (!(mass > 0)) end(function, fmt::format("mass {}: give one above 0", mass));
  if (count < 1) end(function, fmt::format("{} sources: give one at least", count));
  require_target(function, residual, relative_residual);
  Settings settings = solver_settings("cg", inner_precision(quda_precision, arguments.mixed_precision), arguments.max_iter);
  constexpr int most_together = 16;
  if (count > 1) settings.emplace_back("nrhs", fmt::format("{}", std::min(count, most_together)));
  qs_operator* const op = staggered(function, external_precision, fat, long_links, iterations, settings);
  const auto n = static_cast<std::size_t>(count);
  Systems systems{.masses = std::vector(n, mass), .tolerances = std::vector(n, below(residual)), .use_guess = true};
  if (relative_residual > 0) systems.relative.assign(n, below(relative_residual));
  solve(function, op, external_precision, parity_of_system(function, arguments.evenodd), systems, sources, count, solutions);
  *final_residual = systems.results.back().residual;
  *final_relative_residual = systems.results.back().relative_residual;
  *iterations = most_iterations(systems);
}

void require_no_deflation(const char* function, const QudaEigensolverArgs_t& deflation) {
  if (deflation.n_ev_deflate > 0)
    end(function, fmt::format("{} vectors should deflate, and eigenvectors of MILC's are not taken: solve without deflation",
                              deflation.n_ev_deflate));
}

}  // namespace

void quarkstar::c::milc::forget_operators() { kept.clear(); }

void qudaDslash(int external_precision, int, QudaInvertArgs_t arguments, const void* fat, const void* long_links, void* vector, void* image,
                int* iterations) {
  Settings any;
  qs_operator* const op = staggered(__func__, external_precision, fat, long_links, iterations, any);
  qs_apply_options options{};
  options.struct_size = sizeof options;
  options.parity = parity_of_system(__func__, arguments.evenodd);
  const double mass = 1;  // no part of a hop
  options.masses = &mass;
  const qs_vectors in = vectors_at(__func__, external_precision, &vector, 1), out = vectors_at(__func__, external_precision, &image, 1);
  require_ok(__func__, qs_operator_apply(op, &options, &in, &out));
}

void qudaInvert(int external_precision, int quda_precision, double mass, QudaInvertArgs_t arguments, double residual,
                double relative_residual, const void* fat, const void* long_links, void* source, void* solution, double* final_residual,
                double* final_relative_residual, int* iterations) {
  invert(__func__, external_precision, quda_precision, mass, arguments, residual, relative_residual, fat, long_links, &source, &solution,
         final_residual, final_relative_residual, iterations, 1);
}

void qudaInvertMsrc(int external_precision, int quda_precision, double mass, QudaInvertArgs_t arguments, double residual,
                    double relative_residual, const void* fat, const void* long_links, void** sources, void** solutions,
                    double* final_residual, double* final_relative_residual, int* iterations, int count) {
  invert(__func__, external_precision, quda_precision, mass, arguments, residual, relative_residual, fat, long_links, sources, solutions,
         final_residual, final_relative_residual, iterations, count);
}

void qudaInvertDeflatable(int external_precision, int quda_precision, double mass, QudaInvertArgs_t arguments,
                          QudaEigensolverArgs_t deflation, double residual, double relative_residual, const void* fat,
                          const void* long_links, void* source, void* solution, double* final_residual, double* final_relative_residual,
                          int* iterations) {
  require_no_deflation(__func__, deflation);
  invert(__func__, external_precision, quda_precision, mass, arguments, residual, relative_residual, fat, long_links, &source, &solution,
         final_residual, final_relative_residual, iterations, 1);
}

void qudaInvertMsrcDeflatable(int external_precision, int quda_precision, double mass, QudaInvertArgs_t arguments,
                              QudaEigensolverArgs_t deflation, double residual, double relative_residual, const void* fat,
                              const void* long_links, void** sources, void** solutions, double* final_residual,
                              double* final_relative_residual, int* iterations, int count) {
  require_no_deflation(__func__, deflation);
  invert(__func__, external_precision, quda_precision, mass, arguments, residual, relative_residual, fat, long_links, sources, solutions,
         final_residual, final_relative_residual, iterations, count);
}

void qudaMultishiftInvert(int external_precision, int quda_precision, int count, double* offsets, QudaInvertArgs_t arguments,
                          const double* residuals, const double* relative_residuals, const void* fat, const void* long_links, void* source,
                          void** solutions, double* final_residuals, double* final_relative_residuals, int* iterations) {
  if (count < 1) end(__func__, fmt::format("{} offsets: give one at least", count));
  require_target(__func__, residuals[0], relative_residuals[0]);
  // Shifts of which nothing is asked go as far as the first; with relative residuals, for which solves go on, to its targets.
  const bool any_relative = std::any_of(relative_residuals, relative_residuals + count, [](double target) { return target > 0; });
  const bool can_follow = !any_relative && count <= most_vectors;
  Systems systems;
  bool follows = false;
  for (int i = 0; i < count; ++i) {
    if (!(offsets[i] > 0)) end(__func__, fmt::format("offset {} is {}: give numbers above 0", i, offsets[i]));
    const bool asks = residuals[i] > 0 || relative_residuals[i] > 0;
    const int targets = asks || can_follow ? i : 0;
    systems.masses.push_back(std::sqrt(offsets[i]) / 2);
    systems.tolerances.push_back(below(residuals[targets]));
    systems.relative.push_back(below(relative_residuals[targets]));
    follows = follows || (!asks && can_follow);
  }
  // What goes as far as others do is not refined after its iterations, so these are in double precision.
  const char* const precision = follows ? "double" : inner_precision(quda_precision, arguments.mixed_precision);
  qs_operator* const op =
      staggered(__func__, external_precision, fat, long_links, iterations, solver_settings("multishift", precision, arguments.max_iter));
  solve(__func__, op, external_precision, parity_of_system(__func__, arguments.evenodd), systems, &source, 1, solutions);
  for (std::size_t i = 0; i < systems.results.size(); ++i) {
    final_residuals[i] = systems.results[i].residual;
    final_relative_residuals[i] = systems.results[i].relative_residual;
  }
  *iterations = most_iterations(systems);
}

void qudaCloverInvert(int external_precision, int quda_precision, double kappa, double clover_coefficient, QudaInvertArgs_t arguments,
                      double residual, double relative_residual, const void* links, void*, void*, void* source, void* solution,
                      double* final_residual, double* final_relative_residual, int* iterations) {
  if (links == nullptr) end(__func__, "no links: give them with every call");
  if (!(kappa > 0)) end(__func__, fmt::format("kappa {}: give one above 0", kappa));
  require_target(__func__, residual, relative_residual);
  const char* const solver = arguments.solver_type == QUDA_CG_INVERTER ? "cgnr" : "bicgstab";
  Settings settings = solver_settings(solver, inner_precision(quda_precision, arguments.mixed_precision), arguments.max_iter);
  settings.insert(settings.end(), {{"kappa", fmt::format("{:.17g}", kappa)},
                                   {"csw", fmt::format("{:.17g}", clover_coefficient / kappa)},
                                   {"boundary", "t=periodic"}});  // its sign is in the links
  qs_operator* const op = operator_on(__func__, "clover", external_precision, links, nullptr, true, settings, [&] {
    const GaugePointer gauge = gauge_of("qudaCloverInvert", links_at("qudaCloverInvert", external_precision, links));
    const std::vector<qs_setting> given = for_library(settings);
    qs_operator* made = nullptr;
    qs_operator_create(gauge.get(), "clover", given.data(), given.size(), &made);
    return made;
  });
  const double tolerance = below(residual), relative = below(relative_residual);
  qs_solve_options options{};
  options.struct_size = sizeof options;
  options.tolerances = &tolerance;
  options.relative_tolerances = relative > 0 ? &relative : nullptr;
  qs_result result{};
  result.struct_size = sizeof result;
  const qs_vectors in = vectors_at(__func__, external_precision, &source, 1), out = vectors_at(__func__, external_precision, &solution, 1);
  require_ok(__func__, qs_operator_solve(op, &options, &in, &out, &result));
  *final_residual = result.residual;
  *final_relative_residual = result.relative_residual;
  *iterations = result.iterations;
}
