// Gauge fields of the C library.
#include "apps/c/context.hpp"
#include "apps/c/fields.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/generate_run.hpp"
#include "apps/run/rank_plan.hpp"
#include "apps/run/run_watch.hpp"
#include "apps/run/shared_settings.hpp"
#include "codelets/actions/staggered/recipe.hpp"
#include "codelets/gauge/observables.hpp"
#include "codelets/io/gauge_part.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

using namespace quarkstar;
using namespace quarkstar::c;

namespace {

const runtime::Team& team_of(const Context& context) { return context.session->cpu_team(); }

Coord lattice_of(const int lattice[4]) {
  require(lattice, "lattice");
  const Coord extents{lattice[0], lattice[1], lattice[2], lattice[3]};
  if (std::any_of(extents.begin(), extents.end(), [](int extent) { return extent < 1; }))
    refuse("lattice", fmt::format("extents {}", fmt::join(extents, ",")), "give four positive numbers");
  return extents;
}

qs_gauge* new_gauge(const std::shared_ptr<Context>& context, const Coord& lattice, HostGauge part) {
  auto gauge = std::make_unique<qs_gauge>();
  gauge->context = context;
  gauge->lattice = lattice;
  gauge->part = std::make_shared<HostGauge>(std::move(part));
  gauge->summary.extents = lattice;
  return gauge.release();
}

/// The sites of a part of the lattice out of those of a box.
HostGauge cut_out(HostGauge gauge, const Box& part, const Coord& lattice) {
  if (gauge.origin == part.origin && gauge.extents == part.extents) return gauge;
  HostGauge inner{part.extents, {}, part.origin};
  inner.data.reserve(static_cast<std::size_t>(volume(part.extents)) * HostGauge::reals_per_site);
  for (std::int64_t i = 0; i < volume(part.extents); ++i) {
    const auto first = gauge.data.begin() + index_in(gauge.box(), site_of(part, i), lattice) * HostGauge::reals_per_site;
    inner.data.insert(inner.data.end(), first, first + HostGauge::reals_per_site);
  }
  return inner;
}

/// The part with one layer around it, for plaquettes; all of a lattice of one rank.
HostGauge with_layers(const Gauge& gauge) {
  const runtime::Decomposition cut = cut_over_ranks(*gauge.context, gauge.lattice);
  return collected(*gauge.part, cut, format::box_with_border(cut));
}

qs_status of_gauge(qs_gauge* gauge, const std::function<void()>& work, Among among = Among::ranks) {
  return call(gauge ? gauge->context.get() : nullptr, work, among);
}

const staggered::Recipe& recipe_of(const qs_smearing& how) {
  const std::string_view action = how.action != nullptr ? how.action : "";
  const staggered::Recipe* const recipe = staggered::find_recipe(action);
  if (recipe == nullptr || !recipe->smears())
    refuse("action", fmt::format("'{}' smears no links", action),
           fmt::format("give one of {}", fmt::join(staggered::smearing_actions(), ", ")));
  return *recipe;
}

void check_smearing(const qs_smearing& how) {
  const staggered::Recipe& recipe = recipe_of(how);
  if (!recipe.has("naik-epsilon") && how.naik_epsilon != 0)
    refuse("naik_epsilon", fmt::format("{} has none", recipe.kind.title), "leave it 0, or smear with an action that has one");
  if (!recipe.has("u0") && how.u0 != 0)
    refuse("u0", fmt::format("{} has no tadpole factor", recipe.kind.title), "leave it 0, or smear with an action that has one");
}

smear::StaggeredLinks smeared(const Gauge& gauge, const qs_smearing& how) {
  const BoundaryAngles boundary{how.boundary[0], how.boundary[1], how.boundary[2], how.boundary[3]};
  const Context& context = *gauge.context;
  const int owners = context.session->block_owners();
  // The gauge's own cut: a grid for hops over three sites may be another than the one for links.
  std::optional<Coord> ranks = context.config.ranks;
  if (const runtime::Decomposition cut = cut_over_ranks(context, gauge.lattice); cut.is_distributed()) ranks = cut.ranks();
  const runtime::Decomposition blocks = app::blocks_of_links(gauge.lattice, ranks, {}, owners, smear::longest_hop(true));
  return recipe_of(how).make(blocks, *gauge.part, boundary, {how.naik_epsilon, how.u0});
}

}  // namespace

void quarkstar::c::measure(Gauge& gauge) {
  const bool whole = !gauge.context->job->is_distributed();
  const HostGauge bordered = whole ? HostGauge{} : with_layers(gauge);
  const HostGauge& links = whole ? *gauge.part : bordered;
  const runtime::Team& team = team_of(*gauge.context);
  const gauge::LinkSums sums = app::sums_over_ranks(links, gauge.lattice, gauge.part->box(), team);
  const gauge::Plaquettes plaquettes = sums.plaquettes(gauge.lattice);
  gauge.summary.spatial_plaquette = plaquettes.spatial;
  gauge.summary.temporal_plaquette = plaquettes.temporal;
  gauge.summary.link_trace = sums.link_trace(gauge.lattice);
  gauge.summary.place_sum = app::place_sum_over_ranks(links, gauge.lattice, gauge.part->box(), team);
}

qs_status qs_gauge_create(qs_session* session, const int lattice[4], const qs_links* links, qs_gauge** gauge) {
  clear(gauge);
  return call(session ? session->context.get() : nullptr, std::function<void()>([&] {
                Context& context = *session->context;
                Coord extents{};
                std::optional<HostGauge> part;
                context.job->together([&] {
                  require(gauge, "gauge");
                  require(links, "links");
                  extents = lattice_of(lattice);
                });
                app::require_same_settings_everywhere(app::setting_line("lattice", extents));
                const runtime::Decomposition cut = cut_over_ranks(context, extents);
                context.job->together([&] { part = links_from(taken(links, "links"), cut.part(), team_of(context)); });
                *gauge = new_gauge(session->context, extents, std::move(*part));
              }));
}

qs_status qs_gauge_read(qs_session* session, const char* path, const int* lattice, qs_gauge** gauge) {
  clear(gauge);
  return call(
      session ? session->context.get() : nullptr, std::function<void()>([&] {
        Context& context = *session->context;
        std::optional<Coord> bare;
        Coord extents{};
        context.job->together([&] {
          require(gauge, "gauge");
          require(path, "path");
          if (lattice != nullptr) bare = lattice_of(lattice);
          extents = app::gauge_extents(path, bare);
        });
        app::require_same_settings_everywhere(app::setting_line("path", std::string_view(path)) + app::setting_line("lattice", extents));
        const runtime::Decomposition cut = cut_over_ranks(context, extents);
        const runtime::Team& team = team_of(context);
        app::LoadedGauge loaded = cut.is_distributed() ? app::load_gauge_part(path, bare, cut, team) : app::load_gauge(path, bare, team);
        const GaugeSummary summary = loaded.summary();
        qs_gauge* const made = new_gauge(session->context, extents, cut_out(std::move(loaded.gauge), cut.part(), extents));
        made->summary = summary;
        *gauge = made;
      }));
}

qs_status qs_gauge_generate(qs_session* session, const int lattice[4], const qs_heatbath* heatbath, qs_gauge** gauge) {
  clear(gauge);
  return call(session ? session->context.get() : nullptr, std::function<void()>([&] {
                Context& context = *session->context;
                app::GenerateConfig config;
                context.job->together([&] {
                  require(gauge, "gauge");
                  require(heatbath, "heatbath");
                  const auto wanted = taken(heatbath, "heatbath");
                  config.lattice = lattice_of(lattice);
                  config.heatbath.beta = wanted.beta;
                  if (wanted.seed != 0) config.heatbath.seed = wanted.seed;
                  if (wanted.overrelaxation != 0) config.heatbath.overrelaxation_per_heatbath = std::max(0, wanted.overrelaxation);
                  config.sweeps = config.thermalization = wanted.sweeps;
                  if (wanted.sweeps < 1) refuse("heatbath", fmt::format("{} sweeps", wanted.sweeps), "give one at least");
                  config.start = wanted.cold != 0 ? "cold" : "hot";
                });
                const heatbath::HeatbathSettings& h = config.heatbath;
                app::require_same_settings_everywhere(app::setting_line("lattice", config.lattice) + app::setting_line("beta", h.beta) +
                                                      app::setting_line("sweeps", config.sweeps) + app::setting_line("seed", h.seed) +
                                                      app::setting_line("start", config.start) +
                                                      app::setting_line("overrelaxation", h.overrelaxation_per_heatbath));
                const runtime::Decomposition cut = cut_over_ranks(context, config.lattice);
                config.ranks = cut.ranks();
                app::Generated made = app::generate(*context.session, config, app::unwatched());
                *gauge = new_gauge(session->context, config.lattice, cut_out(std::move(made.gauge), cut.part(), config.lattice));
              }));
}

qs_status qs_gauge_write(qs_gauge* gauge, const char* path, const char* format, qs_precision precision) {
  return of_gauge(gauge, [&] {
    runtime::mpi::Job& job = *gauge->context->job;
    app::SaveOptions options;
    job.together([&] {
      require(path, "path");
      require(format, "format");
      options.format = format;
      const auto& formats = app::output_formats();
      if (std::find(formats.begin(), formats.end(), options.format) == formats.end())
        refuse("format", fmt::format("'{}' is not written", format), fmt::format("give one of {}", fmt::join(formats, ", ")));
      options.precision = precision == QS_SINGLE ? "single" : "double";
    });
    app::require_same_settings_everywhere(app::setting_line("path", std::string_view(path)) + app::setting_line("format", options.format) +
                                          app::setting_line("precision", options.precision));
    const runtime::Team& team = team_of(*gauge->context);
    if (!job.is_distributed()) return app::save_gauge(path, *gauge->part, options, {}, team);
    app::save_gauge(path, with_layers(*gauge), options, format::GaugePart{gauge->lattice, gauge->part->box()}, team);
  });
}

qs_status qs_gauge_export(qs_gauge* gauge, const qs_links* links) {
  return of_gauge(
      gauge,
      [&] {
        require(links, "links");
        links_to(taken(links, "links"), *gauge->part, team_of(*gauge->context));
      },
      Among::this_rank);
}

qs_status qs_gauge_reunitarize(qs_gauge* gauge) {
  return of_gauge(gauge, [&] {
    // Operators that were made of it keep the links that they have.
    auto projected = std::make_shared<HostGauge>(*gauge->part);
    gauge->context->job->together([&] { gauge::reunitarize(*projected, team_of(*gauge->context)); });
    gauge->part = std::move(projected);
    gauge->summary.reunitarized = true;
  });
}

qs_status qs_gauge_lattice(const qs_gauge* gauge, int lattice[4]) try {
  const std::unique_lock lock = only_call();
  require(gauge, "gauge");
  require(lattice, "lattice");
  std::copy(gauge->lattice.begin(), gauge->lattice.end(), lattice);
  return QS_OK;
} catch (...) {
  return set_error_of_exception();
}

qs_status qs_gauge_part(const qs_gauge* gauge, int origin[4], int extents[4]) try {
  const std::unique_lock lock = only_call();
  require(gauge, "gauge");
  require(origin, "origin");
  require(extents, "extents");
  std::copy(gauge->part->origin.begin(), gauge->part->origin.end(), origin);
  std::copy(gauge->part->extents.begin(), gauge->part->extents.end(), extents);
  return QS_OK;
} catch (...) {
  return set_error_of_exception();
}

qs_status qs_gauge_plaquette(qs_gauge* gauge, qs_plaquettes* plaquettes) {
  return of_gauge(gauge, [&] {
    gauge->context->job->together([&] {
      require(plaquettes, "plaquettes");
      require_size(*plaquettes, "plaquettes");
    });
    measure(*gauge);
    const GaugeSummary& s = gauge->summary;
    give(qs_plaquettes{.struct_size = 0,
                       .mean = 0.5 * (s.spatial_plaquette + s.temporal_plaquette),
                       .spatial = s.spatial_plaquette,
                       .temporal = s.temporal_plaquette,
                       .link_trace = s.link_trace},
         plaquettes, plaquettes->struct_size);
  });
}

qs_status qs_gauge_smear(qs_gauge* gauge, const qs_smearing* smearing, qs_gauge** fat, qs_gauge** long_links) {
  clear(fat);
  clear(long_links);
  return of_gauge(gauge, [&] {
    qs_smearing how{};
    gauge->context->job->together([&] {
      require(smearing, "smearing");
      how = taken(smearing, "smearing");
      check_smearing(how);
    });
    app::require_same_settings_everywhere(app::setting_line("action", std::string_view(how.action)) +
                                          app::setting_line("naik_epsilon", how.naik_epsilon) + app::setting_line("u0", how.u0) +
                                          app::setting_line("boundary", how.boundary));
    smear::StaggeredLinks made = smeared(*gauge, how);
    const runtime::Decomposition cut = cut_over_ranks(*gauge->context, gauge->lattice);
    const auto handle_of = [&](HostGauge& links) {
      return std::unique_ptr<qs_gauge>(new_gauge(gauge->context, gauge->lattice, cut_out(std::move(links), cut.part(), gauge->lattice)));
    };
    std::unique_ptr<qs_gauge> fat_made, long_made;
    if (fat != nullptr) fat_made = handle_of(made.fat);
    if (long_links != nullptr) long_made = handle_of(made.long_links);
    if (fat != nullptr) *fat = fat_made.release();
    if (long_links != nullptr) *long_links = long_made.release();
  });
}

void qs_gauge_free(qs_gauge* gauge) {
  if (gauge != nullptr && gauge->context->lets_go()) delete gauge;
}
