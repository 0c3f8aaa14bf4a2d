#include "apps/campaign/plan.hpp"

#include "apps/campaign/results_file.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/measure_owner.hpp"
#include "apps/run/memory_check.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "solvers/multigrid/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

namespace quarkstar::app::campaign {
namespace {

constexpr double links_bytes_per_site = 4 * 18 * sizeof(double), complex_bytes = 2 * sizeof(double);

double propagator_bytes(const Quark& quark, const Coord& lattice) {
  const double components = quark.config.action->components;
  return static_cast<double>(volume(lattice)) * components * components * complex_bytes * static_cast<double>(quark.config.masses().size());
}

/// Of a quark's folders of null vectors, of which two are there at a time.
double null_vector_bytes(const Quark& quark, const Coord& lattice) {
  if (quark.config.multigrid_setup.empty()) return 0;
  const int vectors = completed(quark.config.solver, lattice).multigrid->null_vectors;
  return 2.0 * vectors * static_cast<double>(volume(lattice)) * quark.config.action->components * complex_bytes;
}

/// Bytes of the results of the missing rows of one quark on one configuration.
double row_bytes(const Quark& quark, const std::vector<Source>& sources, const Coord& lattice) {
  const RunConfig& config = quark.config;
  const auto wanted = contract::choose(config.action->correlators, config.correlators.names);
  double bytes = 0;
  for (const Source& source : sources) {
    std::size_t real = 0, complex = 0;
    for (const contract::Choice& choice : contract::that_fit(wanted, source))
      for (const contract::Momentum& momentum : config.correlators.momenta)
        (choice.family->complex || momentum != contract::Momentum{0, 0, 0} ? complex : real) += choice.channels.size();
    if (config.low_mode_average) real *= 2;
    for (const contract::Choice& choice : three_point_currents(config))
      complex += choice.channels.size() * config.three_points.hadrons.size() * config.three_points.momenta.size();
    const std::size_t masses = config.masses().size();
    bytes += results_bytes(1, masses * config.sinks.size() * real, masses * config.sinks.size() * complex, lattice[3]);
  }
  return bytes;
}

/// GFLOP/s of the Dslash of all owners together, each measured alone.
double measured_gflops(runtime::Session& session, const QuarkPlan& plan) {
  double gflops = plan.solve.where.plan.bound_gflops();
  if (gflops > 0) return gflops;
  const RunConfig& config = plan.quark->config;
  const OwnerProblem problem{*config.action, config.solver.precision, config.solver.link_reals, plan.solve.nrhs,
                             settings_of_slices(config)};
  const runtime::Decomposition& decomposition = plan.solve.where.decomposition;
  std::map<int, Coord> parts;  // the first block of each owner
  for (const int b : decomposition.local()) parts.emplace(decomposition.block(b).owner, decomposition.block(b).extents);
  for (const auto& [owner, part] : parts) gflops += measure_owner(session, owner, part, problem);
  runtime::mpi::Job::current().combine(std::span(&gflops, 1), runtime::mpi::Combine::sum);
  return gflops;
}

/// "about 3 min", and what that rests on.
std::string time_text(const CampaignPlan& plan) {
  double known = 0, a_hundred = 0;
  std::vector<std::string> unknown;
  for (const QuarkPlan& quark : plan.quarks) {
    const auto rows = static_cast<double>(quark.missing);
    if (quark.seconds_a_row) {
      known += rows * *quark.seconds_a_row;
    } else {
      a_hundred += rows * quark.seconds_a_hundred_iterations;
      unknown.push_back(quark.quark->name);
    }
  }
  if (unknown.empty()) return fmt::format("about {}, from the time of rows that are done", duration_text(known));
  return fmt::format("{}about {} for every 100 iterations of a solve, from the speed of the Dslash (no row of {} is done yet)",
                     known > 0 ? fmt::format("about {}, and ", duration_text(known)) : "", duration_text(a_hundred),
                     fmt::join(unknown, ", "));
}

/// The names of the correlators of a quark.
std::string correlators_text(const RunConfig& config) {
  std::vector<std::string_view> names;
  for (const contract::Choice& choice : contract::choose(config.action->correlators, config.correlators.names))
    for (const int channel : choice.channels) names.push_back(choice.family->channels[static_cast<std::size_t>(channel)].name);
  std::string text = fmt::format("{}", fmt::join(names, " "));
  if (config.low_mode_average) text += ", low-mode averages of mesons";
  for (const contract::HadronSink& sink : config.three_points.hadrons) text += fmt::format(", three-point functions of {}", text_of(sink));
  return text;
}

}  // namespace

std::vector<Source> missing_sources(const Campaign& campaign, const Journal& journal, const Configuration& configuration,
                                    const Quark& quark) {
  std::vector<Source> missing = campaign.sources;
  std::erase_if(missing, [&](const Source& source) {
    return journal.is_done({configuration.name, quark.name, quarkstar::text_of(source)});
  });
  return missing;
}

CampaignPlan plan_rows(const Campaign& campaign, const Journal& journal, const Coord& lattice) {
  CampaignPlan plan{&campaign, lattice, campaign.configurations.size() * campaign.quarks.size() * campaign.sources.size(), 0, {}, 0, 0};
  std::size_t missing = 0;
  for (const Configuration& configuration : campaign.configurations)
    for (const Quark& quark : campaign.quarks) {
      const std::vector<Source> sources = missing_sources(campaign, journal, configuration, quark);
      missing += sources.size();
      plan.disk_bytes += row_bytes(quark, sources, lattice);
      if (campaign.propagators) plan.disk_bytes += static_cast<double>(sources.size()) * propagator_bytes(quark, lattice);
    }
  plan.done = plan.rows - missing;
  if (missing > 0)
    for (const Quark& quark : campaign.quarks) plan.disk_bytes += null_vector_bytes(quark, lattice);
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(campaign.out, error);
  while (!folder.empty() && !std::filesystem::exists(folder, error) && folder != folder.root_path()) folder = folder.parent_path();
  if (const auto space = std::filesystem::space(folder, error); !error) plan.disk_free = static_cast<double>(space.available);
  return plan;
}

namespace {

/// The settings of a quark, with the memory that eigenvectors of its configurations take. What is wrong with their files is said when it is
/// their turn.
RunConfig with_projectors(const Campaign& campaign, const Journal& journal, const Quark& quark) {
  RunConfig config = quark.config;
  int most = 0;
  for (const Configuration& configuration : campaign.configurations) {
    const std::string file = deflation_file(config_on(campaign, quark, configuration));
    if (file.empty() || missing_sources(campaign, journal, configuration, quark).empty()) continue;
    try {
      most = std::max(most, modes_in(file));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input) throw;
    }
  }
  if (most > 0) count_projector(config, most);
  return config;
}

}  // namespace

void plan_quarks(CampaignPlan& plan, const Journal& journal, runtime::Session& session) {
  const Campaign& campaign = *plan.campaign;
  const bool reads_ahead = !runtime::mpi::Job::current().is_distributed();
  for (const Quark& quark : campaign.quarks) {
    std::size_t missing = 0;
    for (const Configuration& configuration : campaign.configurations)
      missing += missing_sources(campaign, journal, configuration, quark).size();
    if (missing == 0) continue;
    at_place_of(quark, [&] {
      plan.quarks.push_back({&quark, plan_solve(session, with_projectors(campaign, journal, quark), plan.lattice), missing,
                             journal.seconds_of(quark.name), 0});
    });
    QuarkPlan& planned = plan.quarks.back();
    if (reads_ahead)
      for (MemoryNeed& need : planned.solve.memory)
        if (!need.gpu) need.other += static_cast<double>(volume(plan.lattice)) * links_bytes_per_site;
    if (planned.seconds_a_row) continue;
    const ActionKind& kind = *quark.config.action;
    const RunConfig& config = quark.config;
    const double solves = static_cast<double>(config.columns.size() * config.masses().size() *
                                              (1 + config.three_points.hadrons.size() * config.sinks.size()));
    const double applications = kind.is_hermitian ? 1 : 2;  // of the even-odd matrix in an iteration, each with one Dslash of all sites
    planned.seconds_a_hundred_iterations = 100 * solves * applications * kind.slices(quark.config.settings) * kind.flops *
                                           static_cast<double>(volume(plan.lattice)) / (1e9 * measured_gflops(session, planned));
  }
}

void require_room(const CampaignPlan& plan) {
  for (const QuarkPlan& planned : plan.quarks) at_place_of(*planned.quark, [&] { require_memory(planned.solve.memory); });
  if (plan.disk_free > 0 && plan.disk_bytes > plan.disk_free)
    throw Error(ErrorKind::environment, plan.campaign->out,
                fmt::format("the results need {} of the disk, {} are free", bytes_text(plan.disk_bytes), bytes_text(plan.disk_free)),
                plan.campaign->propagators ? "free space, write to another file system, or leave out `propagators`"
                                           : "free space, or write to another file system");
}

std::string text_of(const CampaignPlan& plan) {
  const Campaign& campaign = *plan.campaign;
  std::string text = fmt::format("campaign: {} configurations of {}, {} quarks, {} sources: {} rows, {} of them done, {} to do\n",
                                 campaign.configurations.size(), extents_text(plan.lattice), campaign.quarks.size(),
                                 campaign.sources.size(), plan.rows, plan.done, plan.missing());
  if (plan.missing() == 0) return text;
  for (const QuarkPlan& planned : plan.quarks) {
    const RunConfig& config = planned.quark->config;
    text += fmt::format("quark {}: {}, {} = {}, {} to tolerance {:g}, {} rows; {}\n", planned.quark->name, config.action->name,
                        config.action->mass_key, fmt::join(config.masses(), ", "), config.solver.solver, config.solver.tolerance,
                        planned.missing, correlators_text(config));
    text += fmt::format("  {}\n", planned.solve.where.decomposition.describe());
    for (const MemoryNeed& need : planned.solve.memory) text += fmt::format("  memory, estimated: {}\n", memory_text(need));
  }
  text += fmt::format("disk: {}{} in {}\n", bytes_text(plan.disk_bytes),
                      plan.disk_free > 0 ? fmt::format(" of {}", bytes_text(plan.disk_free)) : "", campaign.out);
  return text + fmt::format("time: {}\n", time_text(plan));
}

std::string duration_text(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.{}f} s", seconds, seconds < 9.95 ? 1 : 0);
  if (seconds < 99.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} days", seconds / 86400);
}

}  // namespace quarkstar::app::campaign
