// Correlators of the C library: those of the command, on the same graph.
#include "apps/c/context.hpp"
#include "apps/c/fields.hpp"
#include "apps/run/rank_plan.hpp"
#include "apps/run/shared_settings.hpp"
#include "apps/run/source_correlators.hpp"
#include "codelets/lattice/lattice.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <vector>

using namespace quarkstar;
using namespace quarkstar::c;

struct qs_correlators {
  std::vector<Correlator> all;
};

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
                  const qs_vectors in = taken(propagator, "propagator");
                  check_vectors(in, "propagator", n);
                  if (in.count != n) refuse("propagator", fmt::format("{} columns", in.count), fmt::format("give all {} columns", n));
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
                *correlators = new qs_correlators{of_source.correlators()};
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
