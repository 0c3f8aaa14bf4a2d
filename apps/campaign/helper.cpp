#include "apps/campaign/helper.hpp"

#include "apps/command/child_process.hpp"
#include "runtime/mpi/launcher.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/topology.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <limits>
#include <numeric>
#include <utility>

namespace quarkstar::app::campaign {
namespace {

bool is_launched() {
  return runtime::mpi::read_launch([](const char* name) -> const char* { return std::getenv(name); }).wants_mpi;
}

/// Whether CPUs own blocks beside GPUs, are an island, or project onto eigenvectors.
bool cpus_solve(const CampaignPlan& plan, const runtime::Session& session) {
  return std::any_of(plan.quarks.begin(), plan.quarks.end(), [&](const QuarkPlan& quark) {
    const PlannedSolve& solve = quark.solve;
    const auto has_cpu = [&](const runtime::Decomposition& decomposition) {
      return std::any_of(decomposition.blocks().begin(), decomposition.blocks().end(),
                         [&](const runtime::Block& block) { return block.owner >= session.gpu_count(); });
    };
    return solve.modes_memory == ModesMemory::on_cpus || has_cpu(solve.where.decomposition) ||
           std::any_of(solve.islands.begin(), solve.islands.end(), has_cpu);
  });
}

}  // namespace

Campaign of_helper(Campaign campaign) {
  campaign.out += "/helper";
  return campaign;
}

void use_own_workers(Campaign& campaign) {
  for (Quark& quark : campaign.quarks) {
    runtime::SessionOptions& session = quark.config.session;
    session.cpu_workers = session.threads_per_worker = 0;
    session.throttles.clear();
    session.cpu_share.reset();
    quark.config.blocks = {0, 0, 0, 0};
    quark.config.islands.reset();
  }
}

std::string obstacle_to_helper(const Campaign& campaign) {
  if (is_launched()) return "a launcher of MPI has started this program";
  if (campaign.propagators) return "propagators are written";
  if (!campaign.hadrons.empty()) return "hadrons are made of the propagators of two quarks";
  for (const Quark& quark : campaign.quarks) {
    if (quark.config.solver.recycle > 0) return fmt::format("solves of quark {} depend on those before them (recycle)", quark.name);
    if (!quark.config.multigrid_setup.empty())
      return fmt::format("set-ups of quark {} depend on those before them (multigrid-setup)", quark.name);
  }
  return "";
}

std::vector<int> cores_of_helper(const CampaignPlan& plan, const runtime::Session& session) {
  const Campaign& campaign = *plan.campaign;
  constexpr int left_over = 2, fewest = 4;  // left over: for the threads that submit, and that read the next configuration
  std::vector<int> cores;
  for (const runtime::Worker& worker : session.workers())
    if (worker.kind == runtime::Worker::Kind::cpu) cores.insert(cores.end(), worker.team.cores().begin(), worker.team.cores().end());
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  std::string obstacle = obstacle_to_helper(campaign);
  if (obstacle.empty() && std::none_of(plan.quarks.begin(), plan.quarks.end(), fills_groups))
    obstacle = "no quark has a source that fills groups of `nrhs` right-hand sides";
  if (campaign.helper) {
    if (*campaign.helper == 0) return {};
    if (!obstacle.empty()) throw Error(ErrorKind::input, campaign.helper_where, "a helper has nothing to do: " + obstacle, "leave it out");
    if (*campaign.helper > static_cast<int>(cores.size()))
      throw Error(ErrorKind::input, campaign.helper_where,
                  fmt::format("{} cores are asked for, and CPU workers have {}", *campaign.helper, cores.size()),
                  fmt::format("ask for {} at most", cores.size()));
    cores.erase(cores.begin(), cores.end() - *campaign.helper);
    return cores;
  }
  if (!obstacle.empty() || session.options().devices != "all" || session.gpu_count() == 0 || cpus_solve(plan, session)) return {};
  if (static_cast<int>(cores.size()) < left_over + fewest) return {};
  cores.erase(cores.begin(), cores.begin() + left_over);
  return cores;
}

bool fills_groups(const QuarkPlan& quark) {
  const RunConfig& config = quark.quark->config;
  return config.columns.size() * config.masses().size() % static_cast<std::size_t>(quark.solve.nrhs) == 0;
}

std::optional<double> gain_of(const Campaign& helped, const Journal& theirs, const QuarkPlan& own) {
  const std::string& quark = own.quark->name;
  const std::optional<double> seconds = theirs.seconds_of(quark);
  if (!seconds) return std::nullopt;
  if (own.seconds_a_row) return *seconds / *own.seconds_a_row;
  for (const Configuration& configuration : helped.configurations)
    for (const Row& row : theirs.rows_of(configuration.name)) {
      if (row.quark != quark) continue;
      const ConfigurationResults results = read_results(helped.file_of(configuration));
      const RowResults* const found = results.find(quark, row.source);
      if (found == nullptr || found->iterations.empty()) continue;
      const double iterations =
          std::accumulate(found->iterations.begin(), found->iterations.end(), 0.0) / static_cast<double>(found->iterations.size());
      return *seconds / (own.seconds_a_hundred_iterations * iterations / 100);
    }
  return std::nullopt;
}

const HelpfulRow* best_of(std::span<const HelpfulRow> rows) {
  double most = 0;
  for (const HelpfulRow& row : rows)
    if (row.seconds < row.left) most = std::max(most, row.gain);
  const HelpfulRow* best = nullptr;
  for (const HelpfulRow& row : rows)
    if (row.seconds < row.left && row.gain >= 0.8 * most && (best == nullptr || row.seconds < best->seconds)) best = &row;
  return best;
}

ConfigurationResults rows_of_helper(const Campaign& campaign, const Configuration& configuration, const Journal& journal) {
  const Campaign theirs = of_helper(campaign);
  try {
    if (!obstacle_to_helper(campaign).empty() || !std::filesystem::exists(theirs.journal())) return {};
    const Journal done(theirs.journal(), Journal::Mode::look);
    std::vector<Row> rows = done.rows_of(configuration.name);
    std::erase_if(rows, [&](const Row& row) { return journal.is_done(row); });
    if (rows.empty()) return {};
    done.require_same_settings(campaign);
    ConfigurationResults all = read_results(theirs.file_of(configuration)), found{all.links, {}};
    for (const Row& row : rows)
      if (all.find(row.quark, row.source) != nullptr)
        found.of_quarks[row.quark][row.source] = std::move(all.of_quarks.at(row.quark).at(row.source));
    return found;
  } catch (const std::exception& error) {
    spdlog::warn("{}: rows of the helper are computed anew: {}", theirs.out, error.what());
    return {};
  }
}

void forget_helper(const Campaign& campaign, const Journal& journal) {
  const Campaign theirs = of_helper(campaign);
  std::error_code error;
  if (is_launched() || !std::filesystem::exists(theirs.journal(), error)) return;
  try {
    const Journal done(theirs.journal(), Journal::Mode::look);
    if (!journal.has_all_rows_of(done)) return;  // a campaign of more configurations, quarks or sources may come back for them
    std::filesystem::remove_all(theirs.out, error);
  } catch (const std::exception& damage) {
    spdlog::warn("{}: what the helper has left stays there: {}", theirs.out, damage.what());
  }
}

Helper::Helper(const Campaign& campaign, std::vector<std::string> command, std::vector<int> cores) {
  for (const std::string& argument : {std::string("--devices"), std::string("cpu"), std::string("--helper"), std::string("0"),
                                      std::string("--out"), of_helper(campaign).out, std::string("--helper-of"), campaign.out})
    command.push_back(argument);
  thread_ = std::thread([this, command = std::move(command), cores = std::move(cores), where = of_helper(campaign).out] {
    if (!runtime::bind_this_thread(cores)) return spdlog::warn("{}: no helper: the system does not bind it to its cores", where);
    try {  // the process inherits the cores
      const ChildResult result = run_child(
          command, std::numeric_limits<double>::infinity(), [this] { return ends_.load(); }, 0, [this](int group) { group_ = group; });
      group_ = 0;
      constexpr int interrupted = 130;  // by a signal to all processes of the job
      if (!result.ok() && result.exit_code != interrupted && !ends_) spdlog::warn("{}: the helper has ended: {}", where, result.failure());
    } catch (const std::exception& error) {
      spdlog::warn("{}: no helper: {}", where, error.what());
    }
  });
}

void Helper::set_working(bool works) {
  const int group = group_;
  if (works == works_ || group == 0) return;
  works_ = works;
  ::kill(-group, works ? SIGCONT : SIGSTOP);
}

Helper::~Helper() {
  ends_ = true;
  thread_.join();
}

}  // namespace quarkstar::app::campaign
