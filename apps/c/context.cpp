#include "apps/c/context.hpp"

#include "apps/run/rank_plan.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/graph/pause.hpp"
#include "runtime/mpi/exchange.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/system/failure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

namespace quarkstar::c {
namespace {

struct LastError {
  std::string message, parameter;
};
thread_local LastError last_error;
thread_local bool calling_back = false;
std::atomic<bool> lost{false};             ///< whether some session was
std::atomic<pid_t> process_of_session{0};  ///< of the one that is open; 0: none is

runtime::Failure failure_text(const std::exception& error) { return runtime::failure_of(error, "use a machine with more, or more ranks"); }

std::atomic<const Context*> at_work{nullptr};  ///< whose call is in progress

/// Gives what the library's layers log to the function of the caller whose call is in progress.
class LogSink : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& line) override {
    const Context* const context = at_work.load();
    if (context == nullptr) return;
    const int level = line.level >= spdlog::level::err ? QS_LOG_ERROR : line.level == spdlog::level::warn ? QS_LOG_WARNING : QS_LOG_INFO;
    context->write_log(level, std::string(line.payload.begin(), line.payload.end()));
  }
  void flush_() override {}
};

/// Once in a process, whose own messages go elsewhere (apps/c/spdlog.cpp). To set a logger takes memory, so nothing is put back at the end
/// of a call.
void log_to_callers() {
  static const bool done = [] {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("", std::make_shared<LogSink>()));
    return true;
  }();
  (void)done;
}

/// While a call works for a caller: what is logged is for it, workers are awake, and MPI may be called.
class AtWork {
 public:
  explicit AtWork(Context& context) : context_(context) {
    log_to_callers();
    at_work = &context;
    if (context_.job) runtime::mpi::set_at_work(*context_.job, true);
    if (context_.session) runtime::resume(*context_.session);
  }
  ~AtWork() {
    if (context_.session) runtime::pause(*context_.session);
    if (context_.job) runtime::mpi::set_at_work(*context_.job, false);
    at_work = nullptr;
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  Context& context_;
};

constexpr std::array<std::string_view, 14> session_keys{"ranks",      "policy",      "watts",    "devices",    "cpu-share",
                                                        "gpu-memory", "cpu-memory",  "gpus",     "share-gpus", "workers",
                                                        "threads",    "worker-mode", "throttle", "watchdog"};
constexpr std::array<std::string_view, 3> contraction_keys{"correlators", "momenta", "fold"};
constexpr std::array<std::string_view, 4> three_point_keys{"three-points", "currents", "current-momenta", "sinks"};
constexpr std::array<std::string_view, 23> command_keys{
    "gauge",        "lattice", "reunitarize",      "action",           "source",   "columns",     "in-flight", "bound", "residual-history",
    "rank-weights", "share",   "checkpoint",       "checkpoint-every", "out",      "propagators", "json",      "trace", "graph",
    "decisions",    "deflate", "low-mode-average", "krylov-state",     "redundant"};

template <class Keys>
bool has(const Keys& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// Whose a setting is, what that is called, and where it is given, in C and in Python.
struct Owner {
  SettingsOf of;
  std::string_view name, place;
};
Owner owner_of(std::string_view key) {
  if (has(session_keys, key)) return {SettingsOf::session, "the session", "the session is opened"};
  if (has(contraction_keys, key)) return {SettingsOf::contractions, "contractions", "a propagator is contracted"};
  if (has(three_point_keys, key)) return {SettingsOf::three_points, "three-point functions", "they are asked for"};
  return {SettingsOf::operators, "operators", "the operator is made"};
}

/// What is taken there, for the action of `config`.
std::vector<std::string_view> keys_of(SettingsOf of, const app::RunConfig& config) {
  std::vector<std::string_view> keys;
  for (const app::Setting* setting : settings_for(of, config)) keys.push_back(setting->key);
  return keys;
}

}  // namespace

std::vector<const app::Setting*> settings_for(SettingsOf of, const app::RunConfig& config) {
  std::vector<const app::Setting*> settings;
  for (const app::Setting& setting : app::run_settings())
    if (!has(command_keys, setting.key) && owner_of(setting.key).of == of && (of != SettingsOf::operators || app::applies(setting, config)))
      settings.push_back(&setting);
  return settings;
}

void Context::write_log(int level, const std::string& message) const {
  if (log == nullptr) return;
  service->say([&] {
    calling_back = true;
    log(log_user, level, message.c_str());
    calling_back = false;
  });
}

void Context::free_later(qs_operator* op) noexcept try {
  const std::lock_guard lock(freeing);
  freed.push_back(op);
} catch (const std::bad_alloc&) {  // then it stays
}

void Context::free_operators() {
  std::vector<qs_operator*> all;
  {
    const std::lock_guard lock(freeing);
    all.swap(freed);
  }
  for (qs_operator* op : all) {
    op->drop_solvers();
    delete op;
  }
}

pid_t this_process() { return getpid(); }

bool in_callback() { return calling_back; }
bool process_is_lost() { return lost; }

qs_status set_error(qs_status code, std::string_view message, std::string_view parameter) noexcept {
  try {
    last_error = {std::string(message), std::string(parameter)};
  } catch (const std::bad_alloc&) {
    last_error.message.clear();  // shorter than any text
    last_error.parameter.clear();
  }
  return code;
}

qs_status set_error_of_exception() noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    try {
      const runtime::Failure failure = failure_text(error);
      return set_error(static_cast<qs_status>(failure.exit_code), failure.message, failure.parameter);
    } catch (const std::exception&) {
      return set_error(QS_ERROR_ENVIRONMENT, "out of memory");
    }
  } catch (...) {
    return set_error(QS_ERROR_INTERNAL, "an exception that is none of ours");
  }
}

void set_process_of_session(bool open) { process_of_session = open ? this_process() : 0; }

std::unique_lock<std::mutex> only_call() {
  static std::mutex mutex;
  if (const pid_t process = process_of_session; process != 0 && process != this_process())
    throw Error(ErrorKind::input, Parameter("session"), "this process was forked while one was open, and has none of its threads",
                "make the call in the process that opened it, or fork before that");
  if (calling_back)
    throw Error(ErrorKind::input, "", "a function of the library was called from a callback",
                "call it when the call in progress has returned");
  return std::unique_lock(mutex);
}

bool leaves_others(const runtime::mpi::Job& job, const std::exception& error) {
  if (!job.is_distributed() || dynamic_cast<const runtime::mpi::SharedError*>(&error) != nullptr) return false;
  const auto* const ours = dynamic_cast<const Error*>(&error);
  return ours == nullptr || (ours->kind() != ErrorKind::input && ours->kind() != ErrorKind::numerical);
}

qs_status call(Context* context, const std::function<qs_status()>& work, Among among) noexcept try {
  const std::unique_lock lock = only_call();
  if (context == nullptr) refuse("handle", "it is NULL", "give one that an earlier call has made");
  if (!context->open) refuse("session", "it has been closed", "open another, and make gauges and operators of it");
  Service& service = *context->service;
  qs_status status = QS_OK;
  try {
    if (!service.is_lost())
      service.run(
          [&] {
            const AtWork at_work(*context);
            context->free_operators();
            try {
              status = work();
            } catch (const std::exception& error) {
              if (among == Among::ranks && context->job != nullptr && leaves_others(*context->job, error)) {
                const runtime::Failure failure = failure_text(error);
                service.blame(failure.parameter);
                context->job->fail_alone(failure.message, failure.exit_code);
              }
              throw;
            }
          },
          context->caller_drives);
  } catch (const std::exception&) {
    if (!service.is_lost()) throw;
  }
  if (service.is_lost()) {
    lost = true;
    static auto* const kept = new std::set<std::shared_ptr<Context>>;
    kept->insert(context->shared_from_this());
    const Service::Loss loss = service.loss();
    return set_error(QS_ERROR_LOST, loss.message, loss.parameter);
  }
  return status == QS_OK ? QS_OK : set_error(status, context->failure);
} catch (...) {
  return set_error_of_exception();
}

qs_status call(Context* context, const std::function<void()>& work, Among among) noexcept {
  return call(context, std::function<qs_status()>([&work] {
                work();
                return QS_OK;
              }),
              among);
}

void refuse(std::string_view argument, const std::string& what, const std::string& remedy) {
  throw Error(ErrorKind::input, Parameter(argument), what, remedy);
}

void require(const void* pointer, std::string_view argument) {
  if (pointer == nullptr) refuse(argument, "it is NULL", "give one");
}

void take_settings(app::RunConfig& config, const qs_setting* settings, std::size_t count, SettingsOf of) {
  if (count > 0) require(settings, "settings");
  std::vector<app::Assignment> assignments;
  for (const qs_setting& setting : std::span(settings, count)) {
    require(setting.key, "settings");
    const std::string key = setting.key;
    if (setting.value == nullptr) refuse(key, "its value is NULL", "give a text, \"true\" or \"false\" for switches");
    if (has(command_keys, key)) refuse(key, "it is a setting of the command only", "leave it out; calls of the library take its place");
    if (const Owner owner = owner_of(key); owner.of != of && app::find_setting(key) != nullptr)
      refuse(key, fmt::format("it is a setting of {}", owner.name), fmt::format("give it where {}", owner.place));
    if (app::find_setting(key) == nullptr) refuse(key, "unknown key", fmt::format("use one of {}", fmt::join(keys_of(of, config), ", ")));
    assignments.push_back({key, setting.value, key});
  }
  try {
    app::apply_settings(config, assignments);
  } catch (const Error& error) {
    if (!error.parameter().empty()) throw;
    for (const app::Assignment& one : assignments)
      if (std::string_view(error.what()).starts_with(one.key + ": "))
        throw runtime::mpi::SharedError(error.kind(), error.what(), Parameter(one.key));
    throw;
  }
}

runtime::Decomposition cut_over_ranks(const Context& context, const Coord& lattice) {
  runtime::Decomposition cut = app::parts_of_links(lattice, context.config.ranks);
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (cut.part().extents[mu] * cut.ranks()[mu] != lattice[mu])  // on all ranks alike
      refuse("ranks", fmt::format("{} = {} on {} ranks: their parts are not equal", "xyzt"[mu], lattice[mu], cut.ranks()[mu]),
             "set `ranks` to a grid that divides the lattice");
  return cut;
}

HostReals collected(std::span<const double> part, std::size_t reals_per_site, const runtime::Decomposition& decomposition, const Box& box) {
  const Coord& lattice = decomposition.lattice();
  const Box own = decomposition.part();
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  using Reals = HostReals;
  const auto reals_of = [&](std::int64_t sites) { return static_cast<std::size_t>(sites) * reals_per_site; };
  Reals result(reals_of(volume(box.extents)));
  // Sites of `wanted` that the owner has, in the order in which they travel.
  const auto pieces = [&](const Box& wanted, const Box& owner) {
    std::vector<Box> shared;
    for (const Box& piece : folded(std::span(&wanted, 1), lattice))
      if (const Box both = common(piece, owner); volume(both.extents) > 0) shared.push_back(both);
    return shared;
  };
  const auto sites_of = [](const std::vector<Box>& boxes) {
    return std::accumulate(boxes.begin(), boxes.end(), std::int64_t{0},
                           [](std::int64_t sum, const Box& b) { return sum + volume(b.extents); });
  };
  const runtime::Team& team = runtime::Session::current().cpu_team();
  const auto each_site = [&](const std::vector<Box>& boxes, auto&& site) {
    std::int64_t first = 0;
    for (const Box& piece : boxes) {
      const std::int64_t sites = volume(piece.extents);
      team.for_range(sites, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t i = begin; i < end; ++i) site(site_of(piece, i), first + i);
      });
      first += sites;
    }
  };
  const auto copy = [&](std::span<const double> from, std::int64_t there, Reals& to, std::int64_t here) {
    std::ranges::copy(from.subspan(reals_of(there), reals_per_site), to.begin() + static_cast<std::ptrdiff_t>(reals_of(here)));
  };
  each_site(pieces(box, own),
            [&](const Coord& site, std::int64_t) { copy(part, index_in(own, site, lattice), result, index_in(box, site, lattice)); });
  if (!job.is_distributed()) return result;

  using runtime::mpi::Parcel;
  const std::vector<Box> wanted = job.gather(box);
  std::vector<Reals> sent, received;  // reals of pieces, one behind the other
  std::vector<std::vector<Box>> arriving;
  std::vector<int> to, from;
  for (int rank = 0; rank < job.size(); ++rank) {
    if (rank == job.rank()) continue;
    if (const auto theirs = pieces(wanted[static_cast<std::size_t>(rank)], own); !theirs.empty()) {
      Reals& out = sent.emplace_back(reals_of(sites_of(theirs)));
      each_site(theirs, [&](const Coord& site, std::int64_t i) { copy(part, index_in(own, site, lattice), out, i); });
      to.push_back(rank);
    }
    if (auto mine = pieces(box, decomposition.part_of(rank)); !mine.empty()) {
      received.emplace_back(reals_of(sites_of(mine)));
      arriving.push_back(std::move(mine));
      from.push_back(rank);
    }
  }
  const auto parcels = [](std::vector<Reals>& fields, const std::vector<int>& ranks) {
    std::vector<Parcel> all;
    for (std::size_t i = 0; i < fields.size(); ++i) all.push_back({ranks[i], std::as_writable_bytes(std::span(fields[i]))});
    return all;
  };
  runtime::mpi::exchange(job, parcels(sent, to), parcels(received, from));
  for (std::size_t i = 0; i < received.size(); ++i)
    each_site(arriving[i],
              [&](const Coord& site, std::int64_t number) { copy(received[i], number, result, index_in(box, site, lattice)); });
  return result;
}

HostGauge collected(const HostGauge& part, const runtime::Decomposition& decomposition, const Box& box) {
  return {box.extents, collected(part.data, HostGauge::reals_per_site, decomposition, box), box.origin};
}

}  // namespace quarkstar::c

using namespace quarkstar;
using namespace quarkstar::c;

const char* qs_error_message(void) { return last_error.message.c_str(); }
const char* qs_error_parameter(void) { return last_error.parameter.c_str(); }
