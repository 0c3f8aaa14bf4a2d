// Operators of the C library: made, applied, and what they contract.
#include "apps/c/context.hpp"
#include "apps/c/fields.hpp"
#include "apps/run/check_action.hpp"
#include "apps/run/memory_check.hpp"
#include "apps/run/null_vector_files.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "apps/run/shared_settings.hpp"
#include "apps/run/solve_plan.hpp"
#include "codelets/actions/staggered/action.hpp"
#include "codelets/field/field.hpp"
#include "codelets/field/source.hpp"
#include "codelets/io/gauge_part.hpp"
#include "codelets/lattice/block_geometry.hpp"
#include "solvers/solver_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

using namespace quarkstar;
using namespace quarkstar::c;

namespace quarkstar::c {
namespace {

std::vector<app::MemoryNeed> needs_of(const Operator& op, const app::RunConfig& config) {
  return app::memory_needs(*op.context->session, {&*op.decomposition, 1}, config);
}

/// Whether what is free of the host's memory holds one more solver. All ranks must call.
bool holds_another(const Operator& op) {
  const bool fits = app::fits_everywhere(needs_of(op, op.config));
  return fits && !op.context->job->any(op.config.cpu_memory > 0);  // a limit that is given counts nothing that is there
}

}  // namespace

Solver& Operator::solver_for(std::span<const int> numbers) {
  SolverSettings settings = config.solver;
  settings.keep_history = true;
  const int lanes =
      deflation != nullptr ? 1 : vectors_in_lanes_for(*decomposition, kind().components, kind().slices(config.settings), settings, numbers);
  if (!solvers.contains(lanes)) {
    // Each has links of its own, and the plan of memory is that of one.
    if (!solvers.empty() && !holds_another(*this)) drop_solvers();
    if (!config.multigrid_setup.empty())
      settings.multigrid->files = app::null_vector_files(config, *decomposition, {made.equation, config.masses().front()});
    auto made_solver = std::make_unique<Solver>(*decomposition, *made.action, settings,
                                                Speed{.vectors = std::ranges::max(numbers), .vectors_in_lanes = lanes});
    if (deflation != nullptr) {
      modes = deflation->projector(made_solver->lattice(), app::modes_memory(config));
      made_solver->set_projector(modes, deflation->mass);
    }
    solvers.emplace(lanes, std::move(made_solver));
    context->operators.insert(this);
  }
  return *solvers.at(lanes);
}

std::vector<double> Operator::masses_for(int count, const double* given, std::string_view what) const {
  std::vector<double> masses = config.masses();
  const double own = masses.front();
  if (given != nullptr) masses.assign(given, given + count);
  else if (masses.size() == 1) masses.resize(static_cast<std::size_t>(count), own);
  if (masses.size() != static_cast<std::size_t>(count))
    refuse("masses", fmt::format("the operator has {} masses for {} {}{}", masses.size(), count, what, count == 1 ? "" : "s"),
           fmt::format("give one for each {}", what));
  if (!kind().masses_share_links(config.settings) && std::ranges::any_of(masses, [own](double mass) { return mass != own; }))
    refuse("masses", "each mass has links of its own", "make an operator for it");
  return masses;
}

void Operator::require_room_for(const app::RunConfig& wanted) {
  std::vector<app::MemoryNeed> needs = needs_of(*this, wanted);
  if (!app::fits_everywhere(needs) && context->job->any(!solvers.empty())) {  // which are counted both as there and as needed
    drop_solvers();
    needs = needs_of(*this, wanted);
  }
  context->job->together([&] { app::require_memory(needs); });
}

std::string Operator::failure_of(const std::string& what, const SolveResult& result, const std::string& shortfall) const {
  // The first residual is that of what was given.
  const bool given = result.reason == StopReason::not_finite && result.iterations == 0;
  return fmt::format("{}: {} ended after {} iterations with {}: {}; {}", what, config.solver.solver, result.iterations, shortfall,
                     describe(result.reason),
                     given ? "the source, the guess or the links are not finite: give finite numbers"
                           : "raise max-iterations, loosen the tolerance, or try another solver or precision double");
}

void Operator::drop_solvers() {
  context->operators.erase(this);
  solvers.clear();
  modes.reset();
}

Source source_of(const Coord& lattice, const char* text) {
  require(text, "source");
  try {
    const Source source = app::parse_source(text);
    check_source(source, lattice);
    return source;
  } catch (const app::BadValue& bad) {
    refuse("source", bad.what(), bad.allowed());
  }
}

int require_column(int column, int components) {
  if (column < 0 || column >= components)
    refuse("columns", fmt::format("column {}", column), fmt::format("give columns from 0 to {}", components - 1));
  return column;
}

}  // namespace quarkstar::c

namespace {

/// Plans as a run does who owns which block.
void plan_blocks(Operator& op, const Gauge& gauge) {
  Context& context = *op.context;
  runtime::mpi::Job& job = *context.job;
  const ActionKind& kind = op.kind();
  op.lattice = gauge.lattice;
  const runtime::Decomposition cut = cut_over_ranks(context, gauge.lattice);
  if (cut.is_distributed()) op.config.ranks = cut.ranks();
  app::require_same_settings_everywhere(app::shared_settings(op.config));
  op.config.islands = 1;  // solves come one by one
  const app::PlannedSolve planned = app::plan_solve(*context.session, op.config, gauge.lattice);
  const app::PlannedLattice& plan = planned.where;
  op.config.nrhs = planned.nrhs;
  op.decomposition = plan.decomposition;
  job.together([&] {
    if (const Box part = plan.decomposition.part(); part.origin != cut.part().origin || part.extents != cut.part().extents)
      refuse("ranks", "the solver cuts the lattice in other parts", "set `ranks`, and leave out a preconditioner whose domains do not fit");
    require_thick_blocks(plan.decomposition, kind.reach);
    app::require_memory(planned.memory);
  });
}

/// The action's links, of a configuration or of files.
void make(Operator& op, const Gauge& gauge) {
  Context& context = *op.context;
  const ActionKind& kind = op.kind();
  ActionRun action{.settings = op.config.settings,
                   .boundary = op.config.boundary,
                   .boundary_given = op.config.was_given("boundary"),
                   .link_reals = op.config.solver.link_reals,
                   .identify = true};
  context.job->together([&] {
    if (!kind.has_own_links(op.config.settings)) return;
    if (kind.accept_files(action) != gauge.lattice) refuse("gauge", "the files of links have another lattice", "give a gauge field of it");
  });
  plan_blocks(op, gauge);
  const LinksOfPart links = [&](const runtime::Decomposition& decomposition, GaugeSummary& summary) -> const HostGauge& {
    op.links = collected(*gauge.part, decomposition, format::box_with_border(decomposition));
    Gauge measured = gauge;  // eigenvectors are known by it
    measure(measured);
    summary = measured.summary;
    return op.links;
  };
  const MakeOperator make_operator = kind.make_links(*context.session, *op.decomposition, links, action);
  op.config.settings = action.settings;  // what files of links say
  op.config.boundary = action.boundary;
  const auto operators = app::operators_of(op.config);
  if (operators.size() > 1) refuse(kind.mass_key, "each of these masses has links of its own", "make an operator for each of them");
  op.made = make_operator(operators.front());
  context.session->wait_all();
}

/// Largest sqrt(|N|^2 / 3) of all ranks: what long links that are unitary but for a factor have in common.
double size_of(const HostGauge& links) {
  double largest2 = 0;
  for (std::size_t i = 0; i < links.data.size(); i += 18) {
    double sum = 0;
    for (std::size_t k = 0; k < 18; ++k) sum += links.data[i + k] * links.data[i + k];
    largest2 = std::max(largest2, sum / 3);
  }
  runtime::mpi::Job::current().combine(std::span(&largest2, 1), runtime::mpi::Combine::maximum);
  return std::sqrt(largest2);
}

/// Staggered links that are there already.
void make_on_links(Operator& op, const Gauge& fat, const Gauge* long_links) {
  plan_blocks(op, fat);
  const auto links = std::make_shared<smear::StaggeredLinks>();
  const auto of_hops = [&](const Gauge& gauge, bool is_long) {
    return collected(*gauge.part, *op.decomposition, smear::hops_box(op.decomposition->part(), op.lattice, smear::longest_hop(is_long)));
  };
  links->fat = of_hops(fat, false);
  links->has_long = long_links != nullptr;
  if (links->has_long) {
    links->long_links = of_hops(*long_links, true);
    links->long_scale = -size_of(*long_links->part);
    if (!(links->long_scale < 0) || !std::isfinite(links->long_scale))
      throw runtime::mpi::SharedError(ErrorKind::input, "the long links are zero or not finite: give those that belong to the fat links",
                                      Parameter("long_links"));
  }
  op.made.action = std::make_unique<staggered::Action>(*links);
  op.made.links = links;
}

qs_status of_operator(qs_operator* op, const std::function<void()>& work, Among among = Among::ranks) {
  return call(op ? op->context.get() : nullptr, work, among);
}

}  // namespace

qs_status qs_operator_create(qs_gauge* gauge, const char* action, const qs_setting* settings, size_t settings_count, qs_operator** op) {
  clear(op);
  return call(gauge ? gauge->context.get() : nullptr, std::function<void()>([&] {
                Context& context = *gauge->context;
                auto made = std::make_unique<qs_operator>();
                context.job->together([&] {
                  require(op, "op");
                  require(action, "action");
                  made->context = gauge->context;
                  made->config = context.config;
                  made->config.action = &kind_named(action);
                  take_settings(made->config, settings, settings_count, SettingsOf::operators);
                  app::complete(made->config);
                  app::check_action(made->config);
                });
                make(*made, *gauge);
                *op = made.release();
              }));
}

qs_status qs_operator_create_on_links(qs_gauge* fat, qs_gauge* long_links, const qs_setting* settings, size_t settings_count,
                                      qs_operator** op) {
  return call(fat ? fat->context.get() : nullptr, std::function<void()>([&] {
                Context& context = *fat->context;
                auto made = std::make_unique<qs_operator>();
                context.job->together([&] {
                  require(op, "op");
                  *op = nullptr;
                  if (long_links != nullptr && (long_links->context != fat->context || long_links->lattice != fat->lattice))
                    refuse("long_links", "they are of another lattice or session", "give those that belong to the fat links");
                  made->context = fat->context;
                  made->config = context.config;
                  made->config.action = &(long_links != nullptr ? hisq_kind() : naive_kind());
                  take_settings(made->config, settings, settings_count, SettingsOf::operators);
                  app::complete(made->config);
                  app::check_action(made->config);
                  for (const char* key : {"links", "boundary", "naik-epsilon", "fat", "long"})
                    if (made->config.was_given(key)) refuse(key, "the links are there already", "leave it out");
                });
                make_on_links(*made, *fat, long_links);
                *op = made.release();
              }));
}

void qs_operator_free(qs_operator* op) {
  if (op == nullptr) return;
  const std::shared_ptr<Context> context = op->context;
  if (context->process != this_process()) return;
  if (in_callback()) return context->free_later(op);
  if (!op->solvers.empty()) call(context.get(), std::function<void()>([&] { op->drop_solvers(); }));
  if (context->lets_go()) delete op;
}

int qs_operator_components(const qs_operator* op) { return op != nullptr ? op->kind().components : 0; }

int qs_operator_slices(const qs_operator* op) { return op != nullptr ? op->kind().slices(op->config.settings) : 0; }

qs_status qs_operator_apply(qs_operator* op, const qs_apply_options* options, const qs_vectors* vectors, const qs_vectors* images) {
  return of_operator(op, [&] {
    const Box part = op->decomposition->part();
    qs_apply_options how{};
    qs_vectors in{}, out{};
    std::vector<double> masses;
    op->context->job->together([&] {
      require(vectors, "vectors");
      require(images, "images");
      how = taken(options, "options");
      in = taken(vectors, "vectors");
      out = taken(images, "images");
      if (op->kind().slices(op->config.settings) > 1)
        refuse("op", fmt::format("{} works on vectors of five dimensions", op->kind().name), "solve with it");
      check_vectors(in, "vectors", op->kind().components);
      check_vectors(out, "images", op->kind().components);
      if (in.count != out.count) refuse("images", fmt::format("{} for {} vectors", out.count, in.count), "give as many");
      check_parity(how.parity);
      if (how.parity != QS_BOTH && how.adjoint != 0) refuse("adjoint", "the hopping part has none here", "take it of both parities");
      masses = op->masses_for(in.count, how.masses);
    });
    app::require_same_settings_everywhere(app::setting_line("vectors", in.count) + app::setting_line("masses", masses) +
                                          app::setting_line("adjoint", how.adjoint != 0) +
                                          app::setting_line("parity", static_cast<int>(how.parity)));
    const std::optional<int> gpu = Lattice::only_gpu(*op->decomposition);
    const qs_parity from = how.parity == QS_BOTH ? QS_BOTH : how.parity == QS_EVEN ? QS_ODD : QS_EVEN;
    for (int first = 0; first < in.count; first += op->config.nrhs) {
      const int n = std::min(op->config.nrhs, in.count - first);
      std::optional<CallersVectors> theirs, results;
      op->context->job->together([&] {
        theirs.emplace(in, first, n, op->kind().components, part, from, true, gpu);
        results.emplace(out, first, n, op->kind().components, part, how.parity, false, gpu, &*theirs);
      });
      Loading loading(theirs->here(), from, true);
      op->solver_for(n).apply([&](const Field& field) { loading.load(field); },
                              std::span(masses).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n)),
                              [&](const Field& field) { store(results->here(), {&field}, how.parity); }, how.adjoint != 0);
      results->give_back();
    }
  });
}

qs_status qs_operator_source(qs_operator* op, const char* source, const int* columns, const qs_vectors* vectors) {
  return of_operator(
      op,
      [&] {
        require(vectors, "vectors");
        const qs_vectors out = taken(vectors, "vectors");
        const int components = op->kind().components;
        check_vectors(out, "vectors", components);
        const Source what = source_of(op->lattice, source);
        for (int v = 0; v < out.count; ++v) {
          const int column = require_column(columns != nullptr ? columns[v] : v, components);
          vector_to(out, v, make_source(what, components, op->lattice, op->decomposition->part(), column),
                    op->context->session->cpu_team());
        }
      },
      Among::this_rank);
}
