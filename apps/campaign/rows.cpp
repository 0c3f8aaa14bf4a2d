#include "apps/campaign/rows.hpp"

#include "apps/campaign/hadron_rows.hpp"
#include "apps/campaign/helper.hpp"
#include "apps/campaign/progress.hpp"
#include "apps/campaign/results_file.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/link_loader.hpp"
#include "apps/run/null_vector_files.hpp"
#include "apps/run/outputs.hpp"
#include "apps/run/solve_run.hpp"
#include "apps/run/write_hdf5.hpp"
#include "runtime/gpu/pinned_arrays.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace quarkstar::app::campaign {
namespace {

using Clock = std::chrono::steady_clock;
using runtime::mpi::Job;

/// Whether all ranks have this error, so that all can go on without what has failed.
bool is_everywhere(const Error& error) {
  return !Job::current().is_distributed() || dynamic_cast<const runtime::mpi::SharedError*>(&error) != nullptr;
}

/// The campaign on its session.
class CampaignRun {
 public:
  CampaignRun(const Campaign& campaign, const Options& options, CampaignPlan& plan, Journal& journal, runtime::Session& session,
              RunWatch& watch, const Listener& listener, Outcome& outcome, Helper* helper)
      : campaign_(campaign),
        options_(options),
        plan_(plan),
        journal_(journal),
        session_(session),
        watch_(watch, plan),
        listener_(listener),
        outcome_(outcome) {
    for (const Configuration& configuration : campaign.configurations)
      if (is_missing(configuration)) todo_.push_back(&configuration);
    if (helper != nullptr) watch_.tell_solving([helper](bool solving) { helper->set_working(solving); });
  }

  void run() {
    try {
      if (options_.helper_of.empty()) compute();
      else help();
    } catch (const Error& error) {
      end(is_everywhere(error));
      throw;
    } catch (const Interrupted&) {
      end(true);
      throw;
    } catch (...) {
      end(!Job::current().is_distributed());
      throw;
    }
    end(true);
  }

 private:
  /// together: all ranks come here. Where what is not yet written cannot be, that is what is told, whatever has ended the run.
  void end(bool together) {
    outcome_.spent = account_.spent();
    outcome_.spent->helped = helped_;
    if (Job::current().is_root() && listener_.spent) listener_.spent(*outcome_.spent);
    if (together) journal_.flush();
  }

  void compute() {
    forget_null_vectors(campaign_.configurations);
    journal_.flush();  // before a set-up uses one of these folders
    std::unique_ptr<LinkLoader> next;
    for (std::size_t c = 0; c < todo_.size(); ++c) {
      end_if_asked();
      std::unique_ptr<LinkLoader> links = next ? std::move(next) : loader_of(*todo_[c]);
      const auto read_next = [&] {
        if (c + 1 < todo_.size()) next = loader_of(*todo_[c + 1]);
      };
      compute(*todo_[c], *links, read_next);
    }
    forget_null_vectors(campaign_.configurations);
  }

  bool is_missing(const Configuration& configuration) const {
    return std::any_of(campaign_.quarks.begin(), campaign_.quarks.end(),
                       [&](const Quark& quark) { return !sources_to_solve(campaign_, journal_, configuration, quark).empty(); });
  }

  void end_if_asked() {
    if (begins_nothing_anywhere(watch_)) throw Interrupted{campaign_.out, "the rows that are done are"};
  }

  std::unique_ptr<LinkLoader> links_of(const Configuration& configuration) const {
    RunConfig config = campaign_.quarks.front().config;
    config.gauge = configuration.path;
    return std::make_unique<LinkLoader>(config);
  }

  /// Starts to read the configuration.
  std::unique_ptr<LinkLoader> loader_of(const Configuration& configuration) const {
    std::unique_ptr<LinkLoader> loader = links_of(configuration);
    // One thread, so that the workers keep their cores.
    if (!Job::current().is_distributed()) loader->read_beside(runtime::Team({host_team().cores().front()}));
    return loader;
  }

  /// Waits until the configuration is read, as far as one rank reads it ahead, and compares its header with the campaign's lattice.
  void require_readable(const Configuration& configuration, LinkLoader& links) const {
    links.wait();
    Job::current().together([&] {
      const Coord extents = gauge_extents(configuration.path, campaign_.quarks.front().config.lattice);
      if (extents != plan_.lattice)
        throw Error(ErrorKind::input, configuration.path,
                    fmt::format("its lattice is {}, that of the campaign {}", extents_text(extents), extents_text(plan_.lattice)),
                    "make a campaign of its own for it");
    });
  }

  /// All missing rows of a configuration. read_next: to be called once this one is in memory.
  void compute(const Configuration& configuration, LinkLoader& links, const std::function<void()>& read_next) {
    const auto start = Clock::now();
    std::optional<Error> unreadable;
    try {
      require_readable(configuration, links);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::internal || !is_everywhere(error)) throw;
      unreadable = error;
    }
    kept_.forget();
    read_next();
    int done = 0;
    if (!unreadable) {
      try {
        begin_results(configuration);
        hadron_rows_.begin(configuration);
        for (const Quark& quark : campaign_.quarks) {
          done += take_over(configuration, links) + compute(configuration, quark, links);
          hadron_rows_.is_over(quark);
        }
      } catch (const UnreadableLinks& of_ranks) {
        unreadable = of_ranks.error;
      }
    }
    if (unreadable) {
      for (const Quark& quark : campaign_.quarks)
        skip(configuration, quark, sources_to_solve(campaign_, journal_, configuration, quark).size());
      return fail({{configuration.name, "", ""}, unreadable->what()}, unreadable->kind());
    }
    forget_null_vectors({&configuration, 1});
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (done > 0 && Job::current().is_root() && listener_.done) listener_.done(configuration.name, done, seconds);
  }

  /// Null vectors of the configurations before those of them that are done, whichever job has left them.
  void forget_null_vectors(std::span<const Configuration> configurations) const {
    for (const Configuration& configuration : configurations)
      if (!is_missing(configuration))  // behind its rows: those that are lost would be solved again without them
        for (const std::string& folder : null_vectors_behind(campaign_, configuration))
          journal_.write([folder] { remove_null_vectors(folder); });
  }

  /// What the configuration's file holds of other rows.
  void begin_results(const Configuration& configuration) {
    results_ = {};
    if (journal_.rows_of(configuration.name).empty()) return;
    journal_.flush();
    Job::current().on_root([&] { results_ = read_results(campaign_.file_of(configuration)); });
  }

  /// Links of many ranks are read when it is known who owns what: what is wrong with them is no failure of the quark.
  struct UnreadableLinks {
    Error error;
  };

  /// Rows of the configuration that the helper has done with the links that it has now: how many.
  int take_over(const Configuration& configuration, LinkLoader& links) {
    if (Job::current().is_distributed()) return 0;
    ConfigurationResults theirs = rows_of_helper(campaign_, configuration, journal_);
    if (theirs.of_quarks.empty()) return 0;
    GaugeSummary summary;
    (void)checked(configuration, links)(plan_.quarks.front().solve.where.decomposition, summary);
    if (results_.links != theirs.links) {
      if (std::exchange(other_links_of_, &configuration) != &configuration)
        spdlog::warn("{}: the helper's rows are of other links, and are computed anew", configuration.path);
      return 0;
    }
    int rows = 0;
    for (const Quark& quark : campaign_.quarks) {
      const auto of_quark = theirs.of_quarks.find(quark.name);
      if (of_quark == theirs.of_quarks.end()) continue;
      for (auto& [source, row] : of_quark->second) {
        results_.of_quarks[quark.name][source] = std::move(row);
        unwritten_.push_back({{configuration.name, quark.name, source}, 0, true});
      }
      skip(configuration, quark, of_quark->second.size());
      rows += static_cast<int>(of_quark->second.size());
    }
    write(configuration);
    helped_ += rows;
    return rows;
  }

  /// As a helper: rows one after the other, of the quark that best_of() chooses, from the last configuration and source back.
  void help() {
    Campaign helped = campaign_;
    helped.out = options_.helper_of;
    std::set<Row> tried;
    std::unique_ptr<LinkLoader> links;
    const Configuration* of_links = nullptr;
    for (;;) {
      end_if_asked();
      const std::optional<HelpfulRow> next = next_to_help(helped, tried);
      if (!next) {  // the campaign has not come to the quarks that are left
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        continue;
      }
      if (next->source == nullptr) return;
      tried.insert(row_of(*next->configuration, *next->quark, *next->source));
      if (std::exchange(of_links, next->configuration) != next->configuration) {
        kept_.forget();
        links = links_of(*next->configuration);  // which all cores read when it is their turn: none has anything else to do
        begin_results(*next->configuration);
      }
      int done = 0;
      try {
        require_readable(*next->configuration, *links);
        (void)solve(*next->configuration, *next->quark, *links, {*next->source}, done);
      } catch (const UnreadableLinks&) {  // the campaign tells of it when it comes there
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::input) throw;
      }
    }
  }

  /// No source: none is left. Nothing: it is not known yet.
  std::optional<HelpfulRow> next_to_help(const Campaign& helped, const std::set<Row>& tried) {
    const Journal theirs(helped.journal(), Journal::Mode::look);
    const auto is_open = [&](const Row& row) {
      const std::map<Row, std::string>& failed = theirs.failures();
      return !theirs.is_done(row) && !journal_.is_done(row) && !failed.contains(row) &&
             !failed.contains({row.configuration, row.quark, ""}) && !failed.contains({row.configuration, "", ""});
    };
    std::vector<HelpfulRow> rows;
    bool waits = false;
    for (QuarkPlan& planned : plan_.quarks) {
      if (!fills_groups(planned)) continue;
      if (const std::optional<double> now = journal_.seconds_of(planned.quark->name)) planned.seconds_a_row = now;
      const std::optional<double> seconds = theirs.seconds_of(planned.quark->name), gain = gain_of(helped, theirs, planned);
      HelpfulRow last;
      double left = 0;  // until the campaign comes to the rows of this quark on the last configuration that has one
      double before = 0;
      for (const Configuration& configuration : campaign_.configurations)
        for (const Quark& quark : campaign_.quarks) {
          const bool own = &quark == planned.quark;
          if (own) left = before;
          for (const Source& source : campaign_.sources) {
            const Row row = row_of(configuration, quark, source);
            if (!is_open(row)) continue;
            before += theirs.seconds_of(quark.name).value_or(std::numeric_limits<double>::infinity());
            if (own && !tried.contains(row)) last = {&configuration, &quark, &source, gain.value_or(0), 0, left};
          }
        }
      if (last.source == nullptr) continue;
      waits = waits || !gain;
      if (!gain) continue;
      last.seconds = *seconds / *gain;
      if (!planned.seconds_a_row) last.left = std::numeric_limits<double>::infinity();  // its first row shows how long one takes
      rows.push_back(last);
    }
    const HelpfulRow* const best = best_of(rows);
    if (best == nullptr && waits) return std::nullopt;
    return best != nullptr ? *best : HelpfulRow{};
  }

  /// The missing rows of a quark, and those of hadrons that it completes: how many are done.
  int compute(const Configuration& configuration, const Quark& quark, LinkLoader& links) {
    int done = 0;
    std::vector<Source> missing = sources_to_solve(campaign_, journal_, configuration, quark);
    const std::size_t useless = std::erase_if(missing, [&](const Source& source) {
      return journal_.is_done(row_of(configuration, quark, source)) && !hadron_rows_.needs(quark, source);
    });
    skip(configuration, quark, useless);
    while (!missing.empty()) {
      end_if_asked();
      missing = solve(configuration, quark, links, missing, done);
    }
    return done;
  }

  /// Adds those that it has done to `done`, and returns those that another's failure has kept from being solved.
  std::vector<Source> solve(const Configuration& configuration, const Quark& quark, LinkLoader& links, const std::vector<Source>& missing,
                            int& done) {
    const auto planned = std::find_if(plan_.quarks.begin(), plan_.quarks.end(), [&](const QuarkPlan& p) { return p.quark == &quark; });
    std::vector<RunReport> reports(missing.size());
    std::vector<SourceRun> sources;
    std::vector<bool> complete(missing.size());
    bool not_written = false;  // of any of the solves in flight
    // Else propagators are wanted for hadrons alone.
    const bool writes_rows = std::any_of(missing.begin(), missing.end(),
                                         [&](const Source& source) { return !journal_.is_done(row_of(configuration, quark, source)); });
    for (std::size_t i = 0; i < missing.size(); ++i) {
      RunReport& report = reports[i];
      report.started = outcome_.started;
      report.host = outcome_.host;
      report.cpu_model = outcome_.cpu_model;
      report.config = config_on(campaign_, quark, configuration);
      report.config.source = missing[i];
      report.config.further_sources.clear();
      report.config.low_mode_average = report.config.low_mode_average && writes_rows;
      sources.push_back({report, [&, i](Propagators propagators, const SolvedOn& on) {
                           try {
                             done += keep(configuration, quark, reports[i], std::move(propagators), on);
                           } catch (...) {
                             not_written = true;
                             throw;
                           }
                           complete[i] = true;
                         }});
    }
    watch_.begin(configuration.name, quark);
    std::optional<Error> failed;
    try {
      solve_sources(session_, planned->solve, checked(configuration, links), kept_, sources, watch_);
    } catch (const Interrupted&) {
      write(configuration);
      throw Interrupted{campaign_.out, "the rows that are done are"};
    } catch (const Error& error) {
      if (is_everywhere(error)) write_what_is_done(configuration);
      if (not_written || !is_everywhere(error) || (error.kind() != ErrorKind::numerical && error.kind() != ErrorKind::input)) throw;
      session_.wait_all();
      failed = error;
    }
    write(configuration);
    account_.add(reports, planned->solve.islands.size() > 1 || quark.config.solver.in_flight > 1);
    std::vector<Source> left;
    std::vector<Failure> failures;
    for (std::size_t i = 0; i < reports.size(); ++i) {
      const Source& source = reports[i].config.source;
      if (!reports[i].failure.empty()) failures.push_back({row_of(configuration, quark, source), with_keys(reports[i].failure)});
      else if (!complete[i]) left.push_back(source);
    }
    if (failed && failures.empty()) {
      failures.push_back({{configuration.name, quark.name, ""}, with_keys(failed->what())});
      left.clear();
    }
    watch_.end(missing.size() - left.size());
    for (const Failure& failure : failures) fail(failure, failed->kind());
    return left;
  }

  /// The links, which must be those of the rows that the configuration's file holds.
  LinksOfPart checked(const Configuration& configuration, LinkLoader& links) {
    return [&](const runtime::Decomposition& decomposition, GaugeSummary& summary) -> const HostGauge& {
      try {
        const HostGauge& gauge = links(decomposition, summary);
        Job::current().on_root([&] {
          const std::string now = links_text(summary);
          // Results of an earlier state have no place sum: the other three numbers have to do.
          if (results_.links.empty() || now.starts_with(results_.links + " ")) results_.links = now;
          else if (results_.links != now)
            throw Error(ErrorKind::input, configuration.path,
                        fmt::format("its links are not those of the rows in {}", campaign_.file_of(configuration)),
                        "give the file another name, or remove those results");
        });
        return gauge;
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::internal || !is_everywhere(error)) throw;
        throw UnreadableLinks{error};
      }
    };
  }

  /// Writes the row of a solve, unless it is there already, and those of hadrons that are complete with it: how many.
  int keep(const Configuration& configuration, const Quark& quark, const RunReport& report, Propagators solutions, const SolvedOn& on) {
    const auto propagators = std::make_shared<Propagators>(std::move(solutions));
    const Source& source = report.config.source;
    const Row row = row_of(configuration, quark, source);
    const bool is_new = !journal_.is_done(row);
    if (is_new) {
      journal_.flush();             // of what was written last; usually long ago. One propagator more than a solve has is in memory.
      if (campaign_.propagators) {  // while others are solved for, if this process has all of it
        const auto write = [file = campaign_.propagator_of(row), report, propagators] {
          write_propagator_hdf5(file, report, *propagators);
        };
        if (Job::current().is_connected()) write();
        else journal_.write(write);
      }
      take(row, [&] { return row_results(report); });
    }
    const double seconds = watch_.row_done();
    if (is_new) unwritten_.push_back({row, seconds});
    else journal_.note_solved(row);
    if (!outcome_.first) outcome_.first = report;
    int rows = is_new ? 1 : 0;
    // Until a file and a journal are safe on a disk takes 10 ms: rows that are done together are written together.
    const bool is_needed = hadron_rows_.needs(quark, source);
    if (!on.more || is_needed) write(configuration);
    if (!is_needed) return rows;
    if (campaign_.propagators) journal_.flush();  // it is taken from there
    auto begin = Clock::now();
    hadron_rows_.take(quark, source, std::move(propagators->front()), on, [&](const Hadron& hadron, const std::vector<Correlator>& made) {
      const Row of_hadron = row_of(configuration, hadron, source);
      take(of_hadron, [&] { return row_results(made); });
      const auto end = Clock::now();
      unwritten_.push_back({of_hadron, std::chrono::duration<double>(end - std::exchange(begin, end)).count()});
      write(configuration);
      ++rows;
    });
    watch_.begin_row();  // the time of hadrons is not that of the quark's next row
    return rows;
  }

  void take(const Row& row, const std::function<RowResults()>& results) {
    Job::current().on_root([&] { results_.of_quarks[row.quark][row.source] = results(); });
  }

  /// The rows that are done since the last time, while others are solved for: results first, then the journal's word of them.
  void write(const Configuration& configuration) {
    if (unwritten_.empty()) return;
    journal_.write(
        [results = results_, file = campaign_.file_of(configuration), name = configuration.name] { write_results(file, name, results); });
    for (const DoneRow& done : std::exchange(unwritten_, {})) journal_.note_done(done.row, done.seconds, done.by_helper);
  }

  /// Before an error that is told: one of writing is not.
  void write_what_is_done(const Configuration& configuration) {
    try {
      write(configuration);
    } catch (const Error&) {
    }
  }

  /// Solves that are not tried: progress goes on.
  void skip(const Configuration& configuration, const Quark& quark, std::size_t sources) {
    if (sources == 0) return;
    watch_.begin(configuration.name, quark);
    watch_.end(sources);
  }

  void fail(const Failure& failure, ErrorKind kind) {
    journal_.note_failed(failure.row, failure.reason);
    if (Job::current().is_root() && listener_.failed) listener_.failed(failure);
    if (options_.stop_on_error)
      throw runtime::mpi::SharedError(
          kind, failure.name(), failure.reason,
          fmt::format("without --stop-on-error the campaign goes on; rows that are done are in {}", campaign_.out));
  }

  const Campaign& campaign_;
  const Options& options_;
  CampaignPlan& plan_;
  Journal& journal_;
  runtime::Session& session_;
  CampaignWatch watch_;
  const Listener& listener_;
  Outcome& outcome_;
  TimeAccount account_{session_};
  runtime::KeptArrays arrays_;
  KeptBetweenSolves kept_{session_};
  HadronRows hadron_rows_{campaign_, journal_};
  std::vector<const Configuration*> todo_;
  ConfigurationResults results_;  ///< on the root, of the configuration at work
  struct DoneRow {
    Row row;
    double seconds;
    bool by_helper = false;
  };
  std::vector<DoneRow> unwritten_;
  int helped_ = 0;                                 ///< rows that the helper has done
  const Configuration* other_links_of_ = nullptr;  ///< the last one whose links it has had otherwise
};

}  // namespace

Row row_of(const Configuration& configuration, const Table& table, const Source& source) {
  return {configuration.name, table.name, quarkstar::text_of(source)};
}

void compute_rows(const Campaign& campaign, const Options& options, CampaignPlan& plan, Journal& journal, runtime::Session& session,
                  RunWatch& watch, const Listener& listener, Outcome& outcome, Helper* helper) {
  CampaignRun(campaign, options, plan, journal, session, watch, listener, outcome, helper).run();
}

}  // namespace quarkstar::app::campaign
