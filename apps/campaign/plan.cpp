#include "apps/campaign/plan.hpp"

#include "apps/campaign/results_file.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/islands.hpp"
#include "apps/run/measure_owner.hpp"
#include "apps/run/memory_check.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/right_hand_sides.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "solvers/eigen/low_mode_average.hpp"
#include "solvers/multigrid/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
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

/// Bytes of the results of missing rows on one configuration.
double row_bytes(const Table& table, const std::vector<Source>& sources, const Coord& lattice) {
  const RunConfig& config = table.config;
  const auto wanted = table.choices();
  double bytes = 0;
  for (const Source& source : sources) {
    std::size_t real = 0, complex = 0, local_mesons = 0;
    for (const contract::Choice& choice : contract::that_fit(wanted, source)) {
      if (choice.family->channels.data() == low_mode_channels(config.action->components).data()) local_mesons += choice.channels.size();
      for (const contract::Momentum& momentum : config.correlators.momenta)
        (choice.family->complex || momentum != contract::Momentum{0, 0, 0} ? complex : real) += choice.channels.size();
    }
    for (const contract::Choice& choice : three_point_currents(config))
      complex += choice.channels.size() * config.three_points.hadrons.size() * config.three_points.momenta.size();
    const bool averages = config.low_mode_average && std::find(config.sinks.begin(), config.sinks.end(), Sink{}) != config.sinks.end();
    const std::size_t masses = config.masses().size();
    bytes += results_bytes(1, masses * (config.sinks.size() * real + (averages ? local_mesons : 0)), masses * config.sinks.size() * complex,
                           lattice[3]);
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
  std::map<int, Coord> parts;  // the first block of each owner
  for (const runtime::Decomposition& island : plan.solve.islands)
    for (const int b : island.local()) parts.emplace(island.block(b).owner, island.block(b).extents);
  for (const auto& [owner, part] : parts) gflops += measure_owner(session, owner, part, problem);
  runtime::mpi::Job::current().combine(std::span(&gflops, 1), runtime::mpi::Combine::sum);
  return gflops;
}

/// "about 3 min", and what that rests on.
std::string time_text(const CampaignPlan& plan) {
  double known = 0, a_hundred = 0, usual = 0;
  std::vector<std::string> unknown, iterations;
  for (const QuarkPlan& quark : plan.quarks) {
    const auto rows = static_cast<double>(quark.missing);
    if (quark.seconds_a_row) {
      known += rows * *quark.seconds_a_row;
    } else {
      a_hundred += rows * quark.seconds_a_hundred_iterations;
      const std::vector<double> masses = quark.quark->config.masses();
      double sum = 0;
      for (const double mass : masses) sum += usual_iterations_of(quark.quark->config, mass);
      const double mean = sum / static_cast<double>(masses.size());
      usual += rows * quark.seconds_a_hundred_iterations * mean / 100;
      unknown.push_back(quark.quark->name);
      iterations.push_back(fmt::format("{}: {:.0f}", quark.quark->name, mean));
    }
  }
  if (unknown.empty()) return fmt::format("about {}, from the time of rows that are done", duration_text(known));
  return fmt::format(
      "about {} if solves take as many iterations as they often do ({}); {} for every 100 iterations, from the speed of the Dslash (no row "
      "of "
      "{} is done yet)",
      duration_text(known + usual), fmt::join(iterations, ", "), duration_text(a_hundred), fmt::join(unknown, ", "));
}

/// The names of the correlators of a table.
std::string correlators_text(const Table& table) {
  std::vector<std::string_view> names;
  for (const contract::Choice& choice : table.choices())
    for (const int channel : choice.channels) names.push_back(choice.family->channels[static_cast<std::size_t>(channel)].name);
  std::string text = fmt::format("{}", fmt::join(names, " "));
  if (table.config.low_mode_average) text += ", low-mode averages of mesons";
  for (const contract::HadronSink& sink : table.config.three_points.hadrons)
    text += fmt::format(", three-point functions of {}", text_of(sink));
  return text;
}

}  // namespace

std::vector<Source> missing_sources(const Campaign& campaign, const Journal& journal, const Configuration& configuration,
                                    const Table& table) {
  std::vector<Source> missing = campaign.sources;
  std::erase_if(missing, [&](const Source& source) {
    return journal.is_done({configuration.name, table.name, quarkstar::text_of(source)});
  });
  return missing;
}

std::vector<Source> sources_to_solve(const Campaign& campaign, const Journal& journal, const Configuration& configuration,
                                     const Quark& quark) {
  std::vector<Source> sources = campaign.sources;
  std::erase_if(sources, [&](const Source& source) {
    const auto done = [&](const Table& table) { return journal.is_done({configuration.name, table.name, quarkstar::text_of(source)}); };
    const std::size_t number = campaign.number_of(quark);
    return done(quark) && std::all_of(campaign.hadrons.begin(), campaign.hadrons.end(),
                                      [&](const Hadron& hadron) { return !hadron.has(number) || done(hadron); });
  });
  return sources;
}

CampaignPlan plan_rows(const Campaign& campaign, const Journal& journal, const Coord& lattice) {
  CampaignPlan plan{&campaign, lattice, campaign.configurations.size() * campaign.tables().size() * campaign.sources.size(), 0, {}, {},
                    0,         0};
  std::size_t missing = 0;
  for (const Configuration& configuration : campaign.configurations)
    for (const Quark& quark : campaign.quarks) {
      const std::vector<Source> sources = missing_sources(campaign, journal, configuration, quark);
      missing += sources.size();
      plan.disk_bytes += row_bytes(quark, sources, lattice);
      if (campaign.propagators) plan.disk_bytes += static_cast<double>(sources.size()) * propagator_bytes(quark, lattice);
    }
  for (const Hadron& hadron : campaign.hadrons) {
    std::size_t of_hadron = 0;
    for (const Configuration& configuration : campaign.configurations) {
      const std::vector<Source> sources = missing_sources(campaign, journal, configuration, hadron);
      of_hadron += sources.size();
      plan.disk_bytes += row_bytes(hadron, sources, lattice);
    }
    if (of_hadron > 0) plan.hadrons.emplace_back(&hadron, of_hadron);
    missing += of_hadron;
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
  RunConfig config = quark.config, counted = config;
  for (const Configuration& configuration : campaign.configurations) {
    const std::string file = deflation_file(config_on(campaign, quark, configuration));
    if (file.empty() || sources_to_solve(campaign, journal, configuration, quark).empty()) continue;
    try {
      count_projector(counted, header_in(file));
      if (basis_vectors(counted) > basis_vectors(config)) config = counted;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input) throw;
    }
  }
  return config;
}

/// Bytes of a site of the most propagators that wait for their hadrons while a quark is solved for, its own among them.
double most_kept(const Campaign& campaign, const Journal& journal, const Quark& quark) {
  const std::size_t number = campaign.number_of(quark);
  double most = 0;
  for (const Configuration& configuration : campaign.configurations) {
    std::set<std::pair<std::size_t, std::string>> kept;
    for (const Hadron& hadron : campaign.hadrons) {
      const std::size_t first = hadron.first_quark();
      if (first > number || hadron.last_quark() < number) continue;
      for (const Source& source : missing_sources(campaign, journal, configuration, hadron))
        kept.emplace(first, quarkstar::text_of(source));
    }
    double bytes = 0;
    for (const auto& [first, source] : kept) bytes += propagator_bytes(campaign.quarks[first], {1, 1, 1, 1});
    most = std::max(most, bytes);
  }
  return most;
}

/// Bytes of each thread's sums while the largest of the hadrons is contracted whose last quark this is.
double hadron_sums(const Campaign& campaign, const Quark& quark, int times) {
  double most = 0;
  for (const Hadron& hadron : campaign.hadrons)
    if (hadron.last_quark() == campaign.number_of(quark))
      most = std::max(most, contract::sum_bytes(hadron.choices(), hadron.config.correlators.momenta.size(), times));
  return most;
}

/// Under MPI each rank contracts its own part of both propagators.
void require_same_parts(const CampaignPlan& plan) {
  const auto part_of = [&](const Quark& quark) {
    return std::find_if(plan.quarks.begin(), plan.quarks.end(), [&](const QuarkPlan& p) { return p.quark == &quark; })
        ->solve.where.decomposition.part();
  };
  for (const auto& [hadron, missing] : plan.hadrons) {
    const Box first = part_of(plan.campaign->quarks[hadron->quarks[0]]), second = part_of(plan.campaign->quarks[hadron->quarks[1]]);
    if (first.origin != second.origin || first.extents != second.extents)
      throw Error(ErrorKind::input, hadron->where, "its two quarks would be on other parts of the lattice on a rank",
                  "choose `ranks`, with rank-weights = \"equal\", that cut the lattice into equal parts");
  }
}

}  // namespace

void plan_quarks(CampaignPlan& plan, const Journal& journal, runtime::Session& session) {
  const Campaign& campaign = *plan.campaign;
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  const bool reads_ahead = !job.is_distributed();
  double written = 0;  // a propagator, while others are solved for
  if (campaign.propagators && !job.is_connected())
    for (const Quark& quark : campaign.quarks) written = std::max(written, propagator_bytes(quark, plan.lattice));
  for (const Quark& quark : campaign.quarks) {
    std::size_t missing = 0, rows = 0;
    for (const Configuration& configuration : campaign.configurations) {
      missing += sources_to_solve(campaign, journal, configuration, quark).size();
      rows += missing_sources(campaign, journal, configuration, quark).size();
    }
    if (missing == 0) continue;
    const double kept_of_site = most_kept(campaign, journal, quark),
                 sums = hadron_sums(campaign, quark, plan.lattice[3]) * session.cpu_team().threads(),
                 next = reads_ahead ? static_cast<double>(volume(plan.lattice)) * links_bytes_per_site : 0;
    const auto beside = [&](std::vector<MemoryNeed>& needs, const Coord& part) {
      const double kept = kept_of_site * static_cast<double>(volume(part));
      for (MemoryNeed& need : needs)
        if (!need.gpu) need.other += next + kept + sums + written, need.making_links += need.making_links > 0 ? kept : 0;
    };
    at_place_of(quark, [&] {
      plan.quarks.push_back({&quark, plan_solve(session, with_projectors(campaign, journal, quark), plan.lattice, beside), missing,
                             missing - rows, journal.seconds_of(quark.name), 0});
    });
    QuarkPlan& planned = plan.quarks.back();
    if (planned.seconds_a_row) continue;
    const ActionKind& kind = *quark.config.action;
    const RunConfig& config = quark.config;
    const double solves = static_cast<double>(config.columns.size() * config.masses().size() *
                                              (1 + config.three_points.hadrons.size() * config.sinks.size()));
    const double applications = kind.is_hermitian ? 1 : 2;  // of the even-odd matrix in an iteration, each with one Dslash of all sites
    planned.seconds_a_hundred_iterations = 100 * solves * applications * kind.slices(quark.config.settings) * kind.flops *
                                           static_cast<double>(volume(plan.lattice)) / (1e9 * measured_gflops(session, planned));
  }
  runtime::mpi::Job::current().together([&] { require_same_parts(plan); });
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
  const std::string hadrons = campaign.hadrons.empty() ? "" : fmt::format(" {} hadrons,", campaign.hadrons.size());
  std::string text = fmt::format("campaign: {} configurations of {}, {} quarks,{} {} sources: {} rows, {} of them done, {} to do\n",
                                 campaign.configurations.size(), extents_text(plan.lattice), campaign.quarks.size(), hadrons,
                                 campaign.sources.size(), plan.rows, plan.done, plan.missing());
  if (plan.missing() == 0) return text;
  for (const QuarkPlan& planned : plan.quarks) {
    const RunConfig& config = planned.quark->config;
    text += fmt::format("quark {}: {}, {} = {}, {} to tolerance {:g}, {} rows; {}\n", planned.quark->name, config.action->name,
                        config.action->mass_key, fmt::join(config.masses(), ", "), config.solver.solver, config.solver.tolerance,
                        planned.missing - planned.again, correlators_text(*planned.quark));
    if (planned.again > 0) text += fmt::format("  and {} sources whose rows are done again, for hadrons\n", planned.again);
    const std::size_t islands = planned.solve.islands.size();
    text += fmt::format("  {}{}\n", planned.solve.where.decomposition.describe(),
                        islands > 1 ? fmt::format(" on each of {} islands", islands) : "");
    if (const std::string& sharing = planned.solve.where.plan.sharing; !sharing.empty()) text += fmt::format("  share: {}\n", sharing);
    for (const MemoryNeed& need : planned.solve.memory) text += fmt::format("  memory, estimated: {}\n", memory_text(need));
  }
  for (const auto& [hadron, missing] : plan.hadrons)
    text += fmt::format("hadron {}: {} and {}, {} rows; {}\n", hadron->name, campaign.quarks[hadron->quarks[0]].name,
                        campaign.quarks[hadron->quarks[1]].name, missing, correlators_text(*hadron));
  if (!plan.helper.empty())
    text += fmt::format("helper: a second process computes rows from the last one back, on {} cores\n", plan.helper.size());
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
