// Correlators of the C library: those of the command, on the same graph, and by the same sequential solves.
#include "apps/c/context.hpp"
#include "apps/c/fields.hpp"
#include "apps/run/check_action.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/rank_plan.hpp"
#include "apps/run/residual_mass.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "apps/run/sequential_run.hpp"
#include "apps/run/shared_settings.hpp"
#include "apps/run/source_correlators.hpp"
#include "codelets/lattice/lattice.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::c;

struct qs_correlators {
  std::vector<Correlator> all;
  bool folded = false;                ///< of qs_contract
  std::optional<Source> source = {};  ///< of the propagator, as qs_contract was told
};

namespace {

/// All n columns of a propagator.
qs_vectors taken_propagator(const qs_vectors* propagator, int n) {
  const qs_vectors in = taken(propagator, "propagator");
  check_vectors(in, "propagator", n);
  if (in.count != n) refuse("propagator", fmt::format("{} columns", in.count), fmt::format("give all {} columns", n));
  return in;
}

/// Correlators of domain wall that come of solves, and of no propagator.
void refuse_midpoints(const app::RunConfig& config) {
  if (config.action->slices(config.settings) == 1) return;
  for (const std::string& name : config.correlators.names)
    if (name == "pion_midpoint" || name == "pion_residual_mass")
      refuse("correlators",
             fmt::format("{} is of solutions in the middle of the fifth dimension, and a propagator has those on its walls alone", name),
             "ask qs_operator_residual_mass for it right behind qs_operator_propagate");
}

/// Throws Error(input) naming what is wrong where an operator has no such three-point functions.
void check_three_points(const Operator& op, const app::RunConfig& config) {
  if (config.three_points.hadrons.empty())
    refuse("three-points", "none is given", "give a hadron and time slices from source to sink, e.g. pion:8");
  app::check_action(config);
  for (const contract::HadronSink& sink : config.three_points.hadrons) contract::check_sink(sink, op.lattice);
  const ActionKind& kind = op.kind();
  const std::vector<double> masses = config.masses();
  if (masses.size() > 1)
    refuse(kind.mass_key, fmt::format("the operator has {} of them", masses.size()), "make an operator with that of the propagator alone");
  if (op.deflation != nullptr && kind.sequential_mass(masses.front()) != masses.front())
    refuse("op", fmt::format("sequential propagators are of the opposite {}, of which its eigenvectors are none", kind.mass_key),
           "deflate it with none, or use another operator");
}

/// Their sequential solves are then the operator's last.
qs_status three_points(Operator& op, const app::RunConfig& config, const std::vector<HostField>& columns,
                       std::vector<Correlator>& correlators) {
  op.last.clear();
  op.last_source.reset();
  std::string& failure = op.context->failure;
  failure.clear();
  const std::optional<contract::HopLinks> links = app::hop_links(config, &op.links);
  std::optional<QuarkSmearers> smearers;
  if (const auto smearings = smearings_of(config.sinks); !smearings.empty()) smearers.emplace(*op.decomposition, op.links, smearings);
  const app::SequentialRun run{.config = config,
                               .decomposition = *op.decomposition,
                               .solver = op.solver_for(app::numbers_together(config)),
                               .links = links ? &*links : nullptr,
                               .smearers = smearers ? &*smearers : nullptr,
                               .meter = nullptr,
                               .progress = {},
                               .ends = [] { return false; }};
  app::ThreePoints got = app::three_points_of(run, columns, config.masses().front(), config.source);
  // Of the last hadron's those that have not converged are behind the others of their group.
  const std::size_t before = (got.solves.size() - 1) / spinor_components * spinor_components;
  std::ranges::sort(got.solves.begin() + static_cast<std::ptrdiff_t>(before), got.solves.end(), {},
                    [](const app::SequentialReport& sequential) { return sequential.solve.column; });
  for (app::SequentialReport& sequential : got.solves) {
    const SolveResult& result = sequential.solve.result;
    if (!result.converged() && failure.empty())
      failure = op.failure_of(fmt::format("sequential source {}, sink {}, {}", sequential.hadron, sequential.sink,
                                          op.kind().text_of_column(sequential.solve.column)),
                              result, fmt::format("|b - M x| / |b| = {:.3e} above {:g}", result.true_residual, config.solver.tolerance));
    op.last.push_back(std::move(sequential.solve.result));
  }
  if (!failure.empty()) return QS_NOT_CONVERGED;
  app::SourceCorrelators of_source(config);
  for (std::size_t sink = 0; sink < got.of_sinks.size(); ++sink) of_source.add_three_points(0, sink, std::move(got.of_sinks[sink]));
  correlators = of_source.correlators();
  return QS_OK;
}

/// What is asked for, by numbers of different sources and masses.
struct LowModeRequest {
  std::vector<Source> sources;
  std::vector<double> masses;
  std::vector<std::pair<std::size_t, std::size_t>> of;  ///< of each correlators its source and its mass
};

template <class T>
std::size_t number_among(std::vector<T>& all, const T& one) {
  const auto found = std::find(all.begin(), all.end(), one);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  all.push_back(one);
  return all.size() - 1;
}

/// Throws Error(input) where correlators are none that get averages, or of a propagator from another source.
void check_low_modes(const Operator& op, const qs_correlators* correlators, const Source& source, int number) {
  const std::string which = fmt::format("number {}", number);
  if (correlators == nullptr) refuse("correlators", which + " is NULL", "give what qs_contract has made for each source");
  if (correlators->source && *correlators->source != source)
    refuse(
        "sources",
        fmt::format("{} is {}, and its correlators were contracted as those of {}", which, text_of(source), text_of(*correlators->source)),
        "give each propagator's own source to both calls");
  const std::span<const contract::Channel> channels = low_mode_channels(op.kind().components);
  const auto times = static_cast<std::size_t>(op.lattice[3]);
  bool any = false;
  for (const Correlator& one : correlators->all) {
    if (one.name.ends_with("_low-mode-average")) refuse("correlators", which + " has low-mode averages already", "give each once");
    const bool is_meson = std::ranges::any_of(channels, [&](const contract::Channel& channel) { return channel.name == one.name; });
    if (is_meson && one.values.size() != times)
      refuse("correlators", fmt::format("{} has {} times, and the operator's lattice {}", which, one.values.size(), times),
             "give those of this operator's propagators");
    any = any || is_meson;
  }
  if (!any)
    refuse("correlators", fmt::format("{} has no meson of {} at momentum zero", which, op.kind().name),
           fmt::format("contract one, e.g. {}", channels.front().name));
}

LowModeRequest low_mode_request(const Operator& op, const char* const* sources, const double* masses, qs_correlators* const* correlators,
                                int count) {
  LowModeRequest request;
  if (op.deflation == nullptr) refuse("op", "it is deflated by no eigenvectors", "give it some with qs_operator_deflate");
  if (count < 1) refuse("count", fmt::format("{} sources", count), "give at least one");
  require(sources, "sources");
  require(correlators, "correlators");
  const std::vector<double> all_masses = op.masses_for(count, masses, "propagator");
  for (int i = 0; i < count; ++i) {
    const Source source = source_of(op.lattice, sources[i]);
    if (source.kind != Source::Kind::point || source.smearing)
      refuse("sources", fmt::format("low-mode averages are for points, and a source is {}", sources[i]), "use point sources");
    const double mass = all_masses[static_cast<std::size_t>(i)];
    if (!op.kind().is_hermitian && mass != op.deflation->mass)
      refuse(op.kind().mass_key, fmt::format("the eigenvectors are those of {} {}, not {}", op.kind().mass_key, op.deflation->mass, mass),
             "deflate an operator of that by its own");
    if (std::find(correlators, correlators + i, correlators[i]) != correlators + i)
      refuse("correlators", fmt::format("number {} is one of those before", i), "give each once");
    check_low_modes(op, correlators[i], source, i);
    request.of.emplace_back(number_among(request.sources, source), number_among(request.masses, mass));
  }
  return request;
}

}  // namespace

qs_status qs_operator_low_mode_averages(qs_operator* op, const char* const* sources, const double* masses,
                                        qs_correlators* const* correlators, int count) {
  return call(op ? op->context.get() : nullptr, std::function<void()>([&] {
                LowModeRequest request;
                op->context->job->together([&] { request = low_mode_request(*op, sources, masses, correlators, count); });
                std::string lines = app::setting_line(op->kind().mass_key, request.masses);
                for (const auto& [source, mass] : request.of)
                  lines +=
                      app::setting_line("source", text_of(request.sources[source])) + app::setting_line("mass", static_cast<int>(mass));
                app::require_same_settings_everywhere(lines);
                app::RunConfig config = op->config;
                config.low_mode_average = true;
                app::count_projector(config, op->deflation->header);
                op->require_room_for(config);
                const int components = op->kind().components;
                Solver& solver = op->solver_for(components);
                const std::vector<LowModeMesons> mesons = low_mode_mesons(solver, *op->modes, request.masses, request.sources);
                for (std::size_t i = 0; i < request.of.size(); ++i) {
                  const auto [source, mass] = request.of[i];
                  std::vector<Correlator>& all = correlators[i]->all;
                  std::ranges::move(app::low_mode_averages(all, components, low_mode_gain(mesons[mass], source), correlators[i]->folded),
                                    std::back_inserter(all));
                }
              }));
}

qs_status qs_contract(qs_gauge* gauge, const char* action, const char* source, const qs_setting* settings, size_t settings_count,
                      const qs_vectors* propagator, qs_correlators** correlators) {
  clear(correlators);
  return call(gauge ? gauge->context.get() : nullptr, std::function<void()>([&] {
                Context& context = *gauge->context;
                app::RunConfig config = context.config;
                std::vector<HostField> columns;
                context.job->together([&] {
                  require(action, "action");
                  require(propagator, "propagator");
                  require(correlators, "correlators");
                  config.action = &kind_named(action);
                  take_settings(config, settings, settings_count, SettingsOf::contractions);
                  app::complete(config);
                  config.source = source_of(gauge->lattice, source);
                  const int n = config.action->components;
                  const qs_vectors in = taken_propagator(propagator, n);
                  refuse_midpoints(config);
                  const auto choices = contract::choose(config.action->correlators, config.correlators.names);
                  for (const contract::Choice& choice : choices)
                    if (choice.family->columns > n)
                      refuse("correlators", fmt::format("{} take two propagators", choice.family->name), "leave them to the command");
                  if (const std::string text = contract::left_out(choices, config.source); !text.empty())
                    spdlog::warn("left out: {}", text);
                  columns = vectors_from(in, n, n, gauge->part->box(), context.session->cpu_team());
                });
                app::require_same_settings_everywhere(app::shared_settings(config));
                const runtime::Decomposition blocks =
                    app::blocks_of_links(gauge->lattice, context.config.ranks, {}, context.session->block_owners());
                app::SourceCorrelators of_source(config);
                of_source.contract_rest(0, std::make_shared<Lattice>(blocks, Precision::double_, config.boundary), columns);
                *correlators = new qs_correlators{of_source.correlators(), config.correlators.fold, config.source};
              }));
}

qs_status qs_operator_three_points(qs_operator* op, const char* source, const qs_setting* settings, size_t settings_count,
                                   const qs_vectors* propagator, qs_correlators** correlators) {
  clear(correlators);
  return call(
      op ? op->context.get() : nullptr, std::function<qs_status()>([&] {
        runtime::mpi::Job& job = *op->context->job;
        app::RunConfig config = op->config;
        qs_vectors in{};
        job.together([&] {
          require(propagator, "propagator");
          require(correlators, "correlators");
          take_settings(config, settings, settings_count, SettingsOf::three_points);
          config.source = source_of(op->lattice, source);
          check_three_points(*op, config);
          in = taken_propagator(propagator, op->kind().components);
        });
        app::require_same_settings_everywhere(app::shared_settings(config));
        if (op->deflation != nullptr) app::count_projector(config, op->deflation->header);
        op->require_room_for(config);
        std::vector<HostField> columns;
        job.together([&] { columns = vectors_from(in, in.count, in.count, op->decomposition->part(), op->context->session->cpu_team()); });
        auto made = std::make_unique<qs_correlators>();
        const qs_status status = three_points(*op, config, columns, made->all);
        if (status == QS_OK) *correlators = made.release();
        return status;
      }));
}

qs_status qs_operator_residual_mass(qs_operator* op, const char* source, double* mass, qs_correlators** correlators) {
  clear(correlators);
  return call(op ? op->context.get() : nullptr, std::function<void()>([&] {
                app::require_same_settings_everywhere(app::setting_line("source", std::string(source != nullptr ? source : "")));
                op->context->job->together([&] {
                  if (op->kind().slices(op->config.settings) == 1)
                    refuse("op", fmt::format("{} has no fifth dimension", op->kind().name), "use domain-wall or moebius");
                  const Source what = source_of(op->lattice, source);
                  const std::string remedy = "call qs_operator_propagate for all its columns at one mass, and ask right behind that";
                  if (op->last_source != what)
                    refuse("source", fmt::format("the last solve was not for the propagator of {}", text_of(what)), remedy);
                  std::vector<std::vector<double>> midpoints;
                  for (const SolveResult& result : op->last) {
                    if (!result.converged())
                      refuse("op", "not all columns of its last solve have converged", "raise max-iterations, or loosen tol");
                    midpoints.push_back(result.midpoint);
                  }
                  const app::ResidualMass residual = app::residual_mass_of(midpoints, what.time());
                  if (mass != nullptr) *mass = residual.mass;
                  if (correlators != nullptr)
                    *correlators = new qs_correlators{
                        {correlator_of("pion_midpoint", residual.midpoint), correlator_of("pion_residual_mass", residual.ratio)}};
                });
              }));
}

int qs_correlators_count(const qs_correlators* correlators) {
  return correlators != nullptr ? static_cast<int>(correlators->all.size()) : 0;
}

namespace {

const Correlator* correlator(const qs_correlators* correlators, int number) {
  return number >= 0 && number < qs_correlators_count(correlators) ? &correlators->all[static_cast<std::size_t>(number)] : nullptr;
}

const double* numbers(const std::vector<double>* values, size_t* times) {
  if (times != nullptr) *times = values != nullptr ? values->size() : 0;
  return values != nullptr && !values->empty() ? values->data() : nullptr;
}

}  // namespace

const char* qs_correlators_name(const qs_correlators* correlators, int number) {
  const Correlator* const one = correlator(correlators, number);
  return one != nullptr ? one->name.c_str() : nullptr;
}

const double* qs_correlators_values(const qs_correlators* correlators, int number, size_t* times) {
  const Correlator* const one = correlator(correlators, number);
  return numbers(one != nullptr ? &one->values : nullptr, times);
}

const double* qs_correlators_imaginary(const qs_correlators* correlators, int number, size_t* times) {
  const Correlator* const one = correlator(correlators, number);
  return numbers(one != nullptr ? &one->imaginary : nullptr, times);
}

void qs_correlators_free(qs_correlators* correlators) { delete correlators; }
