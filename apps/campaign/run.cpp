#include "apps/campaign/run.hpp"

#include "apps/campaign/helper.hpp"
#include "apps/campaign/page.hpp"
#include "apps/campaign/rows.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/measure_power.hpp"
#include "apps/run/rank_plan.hpp"
#include "apps/run/shared_settings.hpp"
#include "apps/run/solve_plan.hpp"
#include "runtime/gpu/gpu_uuids.hpp"
#include "runtime/graph/device_loss.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/atomic_file.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/watchdog.hpp"
#include "solvers/multigrid/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

namespace quarkstar::app::campaign {
namespace {

using Clock = std::chrono::steady_clock;
using runtime::mpi::Job;

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && !std::filesystem::is_directory(folder)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw_write_error(folder, "making the folder", error.value());
}

/// Folders of the results, without what killed campaigns left in them. On the root, which has the journal: no other campaign writes here.
void prepare_folders(const Campaign& campaign) {
  const std::string folders[] = {campaign.out, campaign.out + "/configurations", campaign.out + "/propagators"};
  for (const std::string& folder : std::span(folders).first(campaign.propagators ? 3 : 2)) {
    make_folder(folder);
    remove_leftovers(folder, [](std::string_view name) { return name.ends_with(".h5") || name == "report.html"; });
    const AtomicFile probe(folder + "/probe.h5");
  }
}

/// Of the first configuration with a header; what is wrong with the others is said when it is their turn.
Coord lattice_of(const Campaign& campaign) {
  const std::optional<Coord>& given = campaign.quarks.front().config.lattice;
  Coord lattice{};
  Job::current().together([&] {
    std::optional<Error> first;
    for (const Configuration& configuration : campaign.configurations) {
      try {
        lattice = gauge_extents(configuration.path, given);
        return;
      } catch (const Error& error) {
        if (!first) first = error;
      }
    }
    throw *first;
  });
  return lattice;
}

/// Those of quarks that are to be solved for, in the order of the campaign; rows of hadrons are missing where one of theirs is.
std::vector<Failure> failures_of(const Campaign& campaign, const Journal& journal) {
  std::vector<Failure> failures;
  const auto add = [&](const Row& row) {
    if (const auto failed = journal.failures().find(row); failed != journal.failures().end()) failures.push_back({row, failed->second});
  };
  for (const Configuration& configuration : campaign.configurations) {
    bool configuration_is_next = true;
    for (const Quark& quark : campaign.quarks) {
      const std::vector<Source> missing = sources_to_solve(campaign, journal, configuration, quark);
      if (missing.empty()) continue;
      if (std::exchange(configuration_is_next, false)) add({configuration.name, "", ""});
      add({configuration.name, quark.name, ""});
      for (const Source& source : missing) add(row_of(configuration, quark, source));
    }
  }
  return failures;
}

/// On the root: the campaign's own files.
std::vector<std::string> write_summary(const Outcome& outcome) {
  const Campaign& campaign = outcome.campaign;
  std::vector<std::string> files{campaign.out + "/campaign.h5", campaign.out + "/report.html"};
  const std::vector<Average> averages = averages_of(campaign, outcome.journal);
  write_averages(files[0], campaign, averages);
  AtomicFile report(files[1]);
  report.append(page(outcome, averages));
  report.commit();
  return files;
}

[[noreturn]] void throw_failures(const Campaign& campaign, const std::vector<Failure>& failures, ErrorKind kind) {
  const Failure& first = failures.front();
  std::string what = fmt::format("{} of {} configurations failed", failures.size(), campaign.configurations.size());
  if (std::any_of(failures.begin(), failures.end(), [](const Failure& f) { return !f.row.quark.empty(); }))
    what = fmt::format("{} failures, of configurations or rows", failures.size());
  throw runtime::mpi::SharedError(kind, campaign.file, fmt::format("{}; the first: {}: {}", what, first.name(), first.reason),
                                  fmt::format("{}/report.html lists them; the next start tries them again", campaign.out));
}

}  // namespace

std::string Failure::name() const {
  std::string name = row.configuration;
  for (const std::string& part : {row.quark, row.source})
    if (!part.empty()) name += " " + part;
  return name;
}

void run(const Campaign& campaign, const Options& options, RunWatch& watch, const Listener& listener) {
  const auto start = Clock::now();
  Job& job = Job::current();
  const RunConfig& first = campaign.quarks.front().config;
  job.watchdog().set_idle(std::chrono::seconds(first.session.watchdog_seconds));
  for (const Table* table : campaign.tables()) require_same_settings_everywhere(shared_settings(table->config));
  at_place_of(campaign.quarks.front(), [&] { require_ranks(first.ranks, first.rank_weights, job.size()); });
  const Coord lattice = lattice_of(campaign);
  const auto at = [](const std::string& where, auto&& check) {
    try {
      check();
    } catch (const Error& error) {
      const std::string message = error.what();
      const std::size_t colon = message.find(": ");
      throw runtime::mpi::SharedError(error.kind(), where, colon == std::string::npos ? message : message.substr(colon + 2), "");
    }
  };
  for (const Source& source : campaign.sources) at(campaign.sources_where, [&] { check_source(source, lattice); });
  for (const Quark& quark : campaign.quarks)
    for (const contract::HadronSink& sink : quark.config.three_points.hadrons) at(quark.where, [&] { check_sink(sink, lattice); });
  for (const Quark& quark : campaign.quarks)
    job.together([&] { at_place_of(quark, [&] { check_multigrid(quark.config.solver, lattice); }); });
  if (!options.dry_run) job.on_root([&] { make_folder(campaign.out); });
  Journal journal(campaign.journal(), options.dry_run ? Journal::Mode::look : Journal::Mode::write);
  if (!options.dry_run) job.on_root([&] { prepare_folders(campaign); });
  journal.forget_lost(campaign);
  journal.flush();
  job.together([&] {
    journal.require_same_settings(campaign);
    if (journal.lattice().value_or(lattice) != lattice)
      throw Error(ErrorKind::input, campaign.configurations.front().path,
                  fmt::format("its lattice is {}, that of the campaign in {} {}", extents_text(lattice), campaign.out,
                              extents_text(*journal.lattice())),
                  "give the campaign another folder `out`");
    if (journal.lattice() || !job.is_root()) return;
    for (const Configuration& configuration : campaign.configurations)
      if (const std::string file = campaign.file_of(configuration); std::filesystem::exists(file))
        throw Error(ErrorKind::input, file,
                    fmt::format("there are results, and no {} says with which settings they were computed", campaign.journal()),
                    "move them away, or give the campaign another folder `out`");
  });
  // Before there is a device that may fail too.
  if (!options.lost.empty() && !options.dry_run) {
    journal.note_lost(options.lost.back().name, options.lost.back().reason);
    journal.flush();
  }
  CampaignPlan plan = plan_rows(campaign, journal, lattice);
  const auto tell_plan = [&] {
    if (job.is_root() && listener.planned) listener.planned(plan);
  };
  RunReport machine;
  describe_machine(machine);
  Outcome outcome{campaign, journal, {}, options.lost, machine.started, machine.host, machine.cpu_model, 0, {}, {}};
  if (plan.missing() == 0) {
    tell_plan();
  } else {
    std::optional<runtime::Session> started;
    at_place_of(campaign.quarks.front(), [&] { started.emplace(session_options(first, lattice)); });
    runtime::Session& session = *started;
    std::optional<runtime::DeviceLoss> loss;
    if (options.go_on_without && !job.is_connected())
      loss.emplace([&, uuids = runtime::gpu_uuids()](int worker, const std::string& why) {
        if (watch.interrupted()) return;  // what was asked to stop does not begin anew
        if (const std::optional<DevicesLeft> left = devices_without(session, uuids, worker))
          options.go_on_without({session.worker(worker).name, why}, *left);
      });
    provide_power(session);
    plan_quarks(plan, journal, session);
    if (!options.command.empty()) plan.helper = cores_of_helper(plan, session);
    tell_plan();
    if (options.dry_run) return;
    job.together([&] { require_room(plan); });
    journal.begin(campaign, lattice);
    journal.flush();  // before anything is computed for a file that cannot be written
    std::optional<Helper> helper;
    if (!plan.helper.empty()) helper.emplace(campaign, options.command, plan.helper);
    compute_rows(campaign, options, plan, journal, session, watch, listener, outcome, helper ? &*helper : nullptr);
  }
  if (options.dry_run || !options.helper_of.empty()) return;
  outcome.failures = failures_of(campaign, journal);
  if (outcome.failures.empty()) forget_helper(campaign, journal);
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  job.on_root([&] {
    const std::vector<std::string> files = write_summary(outcome);
    if (listener.written) listener.written(files);
  });
  if (outcome.failures.empty()) return;
  const bool unread = std::any_of(outcome.failures.begin(), outcome.failures.end(), [](const Failure& f) { return f.row.quark.empty(); });
  throw_failures(campaign, outcome.failures, unread ? ErrorKind::input : ErrorKind::numerical);
}

}  // namespace quarkstar::app::campaign
