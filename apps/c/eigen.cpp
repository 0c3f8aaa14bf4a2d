// Eigenvectors of the C library: computed, read, written, and operators that are deflated by them.
#include "apps/c/context.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/eigen_run.hpp"
#include "apps/run/memory_check.hpp"
#include "apps/run/modes_plan.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/shared_settings.hpp"
#include "runtime/system/memory.hpp"
#include "solvers/solver_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

using namespace quarkstar;
using namespace quarkstar::c;

namespace quarkstar::c {

app::EigenProblem eigen_problem_of(const Operator& op, app::EigenTarget target = {}) {
  if (op.kind().slices(op.config.settings) > 1)
    refuse("op", "eigenvectors of five dimensions are not taken here", "use `quarkstar eigen`, and `quarkstar solve` with --deflate");
  if (op.made.equation.empty())
    refuse("op", "nothing identifies links that are given as they are", "make the operator of a gauge field, with qs_operator_create");
  return app::eigen_problem(op.kind(), op.made, op.config.masses().front(), op.config.solver.schur, target);
}

std::shared_ptr<const EigenProjector> Eigenvectors::projector(const LatticePointer& lattice, ModesMemory where) const {
  const auto made = std::make_shared<EigenProjector>(lattice, header.parity, header.components, header.values, header.stored, where);
  const auto block = static_cast<std::size_t>(EigenProjector::block_for(made->modes()));
  for (std::size_t first = 0; first < vectors.size(); first += block) {
    std::vector<HostField> fields(std::min(block, vectors.size() - first), HostField(header.components, lattice->decomposition().part()));
    for (std::size_t v = 0; v < fields.size(); ++v) app::expand(fields[v], vectors[first + v], header.parity, header.stored);
    made->add(fields);
  }
  return made;
}

}  // namespace quarkstar::c

namespace {

qs_status of_vectors(const qs_eigenvectors* vectors, const std::function<void()>& work) {
  return call(vectors ? vectors->kept->context.get() : nullptr, work);
}

std::shared_ptr<Eigenvectors> new_vectors(const Operator& op, const app::EigenProblem& problem) {
  auto made = std::make_shared<Eigenvectors>();
  made->context = op.context;
  made->mass = problem.mass;
  made->header.problem = problem.text;
  made->header.lattice = op.lattice;
  made->header.components = op.kind().components;
  return made;
}

/// What a field of options says by one of the parsers; otherwise: where it is NULL.
template <class T>
T named(const char* name, const char* value, T (*parse)(std::string_view), T otherwise) {
  if (value == nullptr) return otherwise;
  try {
    return parse(value);
  } catch (const app::BadValue& bad) {
    refuse(name, bad.what(), bad.allowed());
  }
}

Precision precision_of(const char* name, const char* value) { return named(name, value, app::parse_precision, Precision::double_); }

EigenSettings settings_of(const qs_eigen_options& options) {
  EigenSettings settings{.modes = options.modes, .basis = options.basis, .degree = options.degree};
  if (options.tolerance != 0) settings.tolerance = options.tolerance;
  if (options.block != 0) settings.block = options.block;
  settings.window = {options.window_low, options.window_high};
  settings.basis_precision = precision_of("basis-precision", options.basis_precision);
  return settings;
}

app::EigenTarget target_of(const qs_eigen_options& options) {
  return {named("operator", options.operator_name, app::parse_modes_of, app::ModesOf::even_odd),
          named("end", options.end, app::parse_spectrum_end, app::SpectrumEnd::lowest)};
}

/// What tells eigenvectors from others: the same on all ranks, or they cannot work on them together.
std::string identity_of(const Eigenvectors& vectors) {
  return app::setting_line("vectors", vectors.header.problem) + app::setting_line("eigenvalues", vectors.header.values);
}

/// A solve for eigenvectors, which the host keeps as they are to be stored. Says in the settings where the basis is.
void require_room(Operator& op, EigenSettings& settings, app::EigenTarget target, app::BasisMemory memory, Precision stored) {
  app::RunConfig config = op.config;
  config.solver.precision = Precision::double_;
  config.solver.multigrid.reset();
  config.solver.solver = solver_names(op.kind().is_hermitian).front();
  config.nrhs = settings.block;
  settings.basis_in_host_memory = memory == app::BasisMemory::host;
  app::count_basis(config, settings, target);
  constexpr bool scidac = true;  // which file will be written nobody knows yet
  app::set_host_vectors(config, app::host_vectors_of_writing(scidac, settings.block, target.parities()) +
                                    app::host_vectors_of(settings.modes, op.kind().components, target.parities(), stored));
  op.require_room_for(config);
}

/// Modes in host memory, and one vector that is packed or unpacked. deflate: a solve with their projector, too.
void require_room_for_modes(Operator& op, const app::EigenHeader& header, bool deflate) {
  app::RunConfig config = op.config;
  if (deflate) app::count_projector(config, header);
  const int modes = static_cast<int>(header.values.size()), parities = header.parity == both_parities ? 2 : 1;
  app::set_host_vectors(config, app::host_vectors(config) + app::host_vectors_of(modes, header.components, parities, header.stored) + 1);
  if (deflate) {
    const auto needs_of = [&](const app::RunConfig& placed) {
      return app::memory_needs(*op.context->session, {&*op.decomposition, 1}, placed);
    };
    (void)app::place_modes(*op.context->session, {&*op.decomposition, 1}, config, needs_of);
    app::set_modes_memory(op.config, app::modes_memory(config));
  }
  op.require_room_for(config);
}

}  // namespace

qs_status qs_eigenvectors_compute(qs_operator* op, const qs_eigen_options* options, qs_eigenvectors** vectors) {
  clear(vectors);
  return call(op ? op->context.get() : nullptr, std::function<void()>([&] {
                EigenSettings settings;
                Precision stored{};
                app::BasisMemory memory{};
                app::EigenTarget target{};
                app::EigenProblem problem{};
                op->context->job->together([&] {
                  require(options, "options");
                  require(vectors, "vectors");
                  const qs_eigen_options asked = taken(options, "options");
                  target = target_of(asked);
                  app::require_target(op->kind(), op->config.settings, target);
                  settings = settings_of(asked);
                  stored = precision_of("store", asked.store);
                  memory = named("basis-memory", asked.basis_memory, app::parse_basis_memory, app::BasisMemory::device);
                  check_eigen(settings, app::dimension_of(op->kind(), op->config.settings, op->lattice, target));
                  problem = eigen_problem_of(*op, target);
                });
                app::require_same_settings_everywhere(
                    app::setting_line("operator", app::name_of(target.of)) + app::setting_line("end", app::name_of(target.end)) +
                    app::setting_line("modes", settings.modes) + app::setting_line("store", name_of(stored)) +
                    app::setting_line("basis_precision", name_of(settings.basis_precision)) +
                    app::setting_line("basis_memory", app::name_of(memory)) + app::setting_line("tolerance", settings.tolerance) +
                    app::setting_line("block", settings.block) + app::setting_line("basis", settings.basis) +
                    app::setting_line("degree", settings.degree) + app::setting_line("window_low", settings.window.low) +
                    app::setting_line("window_high", settings.window.high));
                require_room(*op, settings, target, memory, stored);
                auto made = new_vectors(*op, problem);
                const app::EigenOperator a(*op->made.action, *op->decomposition, problem.mass, op->config.solver.schur, settings,
                                           op->config.solver.tune, target);
                BlockLanczos lanczos = a.lanczos(settings);
                const EigenResult result = lanczos.solve();
                made->header.parity = (*a).parity();
                made->header.stored = stored;
                const app::EigenVectorsOf modes = app::stored_modes(made->header, result, *a, lanczos);
                for (int first = 0; first < settings.modes; first += settings.block)
                  for (app::StoredVector& vector : modes(first, std::min(settings.block, settings.modes - first)))
                    made->vectors.push_back(std::move(vector));
                *vectors = new qs_eigenvectors{std::move(made)};
              }));
}

qs_status qs_eigenvectors_read(qs_operator* op, const char* path, qs_eigenvectors** vectors) {
  clear(vectors);
  return call(op ? op->context.get() : nullptr, std::function<void()>([&] {
                app::EigenProblem problem{};
                op->context->job->together([&] {
                  require(path, "path");
                  require(vectors, "vectors");
                  problem = eigen_problem_of(*op);
                });
                app::require_same_settings_everywhere(app::setting_line("path", std::string_view(path)));
                const app::EigenFile file(path, "give one that was written for this configuration and operator");
                for (const app::EigenTarget target : app::eigen_targets)
                  if (const app::EigenProblem other = eigen_problem_of(*op, target); other.text == file.header().problem) problem = other;
                file.require_problem(problem.text, op->lattice);
                file.require_modes();
                auto made = new_vectors(*op, problem);
                made->header = file.header();
                require_room_for_modes(*op, made->header, false);
                file.read(op->decomposition->part(), 1, [&](std::span<const HostField> field) {
                  made->vectors.push_back(app::compact(field.front(), made->header.parity, made->header.stored));
                });
                *vectors = new qs_eigenvectors{std::move(made)};
              }));
}

qs_status qs_eigenvectors_write(const qs_eigenvectors* vectors, const char* path) {
  return of_vectors(vectors, [&] {
    const Eigenvectors& kept = *vectors->kept;
    kept.context->job->together([&] { require(path, "path"); });
    app::require_same_settings_everywhere(app::setting_line("path", std::string_view(path)) + identity_of(kept));
    const Box part = cut_over_ranks(*kept.context, kept.header.lattice).part();
    app::write_eigen_file(path, kept.header, static_cast<int>(kept.vectors.size()), 1, part,
                          [&](int first, int) { return std::vector<app::StoredVector>{kept.vectors[static_cast<std::size_t>(first)]}; });
  });
}

int qs_eigenvectors_count(const qs_eigenvectors* vectors) {
  return vectors != nullptr ? static_cast<int>(vectors->kept->header.values.size()) : 0;
}
const double* qs_eigenvectors_values(const qs_eigenvectors* vectors) {
  return vectors != nullptr ? vectors->kept->header.values.data() : nullptr;
}
const double* qs_eigenvectors_residuals(const qs_eigenvectors* vectors) {
  return vectors != nullptr ? vectors->kept->header.residuals.data() : nullptr;
}
void qs_eigenvectors_free(qs_eigenvectors* vectors) {
  if (vectors != nullptr && vectors->kept->context->lets_go()) delete vectors;
}

qs_status qs_operator_deflate(qs_operator* op, const qs_eigenvectors* vectors) {
  return call(
      op ? op->context.get() : nullptr, std::function<void()>([&] {
        op->context->job->together([&] {
          if (vectors == nullptr) return;
          const Eigenvectors& kept = *vectors->kept;
          if (kept.context != op->context) refuse("vectors", "they are of another session", "compute or read them in this one");
          if (kept.header.problem != eigen_problem_of(*op).text || kept.header.lattice != op->lattice)
            refuse("vectors", fmt::format("they are those of another operator or configuration ({})", kept.header.problem),
                   "compute or read them for this operator");
          require_deflatable(op->config.solver);
        });
        app::require_same_settings_everywhere(vectors != nullptr ? identity_of(*vectors->kept) : app::setting_line("vectors", "none"));
        op->drop_solvers();
        if (vectors != nullptr) require_room_for_modes(*op, vectors->kept->header, true);
        op->deflation = vectors != nullptr ? vectors->kept : nullptr;
      }));
}
