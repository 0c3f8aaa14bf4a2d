#include "runtime/watchdog.hpp"

#include <fmt/format.h>
#include <starpu.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

#include "runtime/error.hpp"
#include "runtime/mpi/alive.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/session.hpp"

namespace quarkstar::runtime {
namespace {

/// What each worker does; one session runs at a time.
struct Activity {
  std::atomic<const char*> codelet{nullptr};
  std::atomic<std::int64_t> done{0};
};
std::array<Activity, STARPU_NMAXWORKERS> activities;

}  // namespace

void Watchdog::begins(int worker, const char* codelet) {
  activities[static_cast<std::size_t>(worker)].codelet.store(codelet, std::memory_order_relaxed);
}

void Watchdog::ends(int worker) {
  Activity& activity = activities[static_cast<std::size_t>(worker)];
  activity.codelet.store(nullptr, std::memory_order_relaxed);
  activity.done.store(activity.done.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

Watchdog::Watchdog(Session& session, std::chrono::seconds limit) : session_(session), limit_(limit), thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

std::int64_t Watchdog::progress() const {
  std::int64_t done = session_.messages() != nullptr ? session_.messages()->progress() : 0;
  done += mpi::Job::current().calls_done();
  for (const Activity& activity : activities) done += activity.done.load(std::memory_order_relaxed);
  return done;
}

void Watchdog::run() {
  using Clock = std::chrono::steady_clock;
  std::int64_t seen = -1;
  Clock::time_point since = Clock::now();
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, std::chrono::milliseconds(500), [this] { return ended_; })) {
    mpi::answer_calls(mpi::Job::current());
    const bool pending = starpu_task_nsubmitted() > 0 || mpi::Job::current().waits_in() != nullptr || (session_.messages() != nullptr && session_.messages()->pending() > 0);
    const std::int64_t now = progress();
    if (!pending || now != seen) {
      seen = now;
      since = Clock::now();
    } else if (Clock::now() - since > limit_) {
      report();
    }
  }
}

void Watchdog::report() {
  mpi::Job& job = mpi::Job::current();
  std::string text = fmt::format("quarkstar: error: {}: no task or message has completed for {} s", job.name_of(job.rank()), limit_.count());
  for (std::size_t worker = 0; worker < session_.workers().size(); ++worker)
    if (const char* codelet = activities[worker].codelet.load(); codelet != nullptr)
      text += fmt::format("; worker {} runs {}", session_.worker(static_cast<int>(worker)).name, codelet);
  if (const char* call = job.waits_in(); call != nullptr) text += fmt::format("; the main thread waits for all ranks in {}", call);
  constexpr std::size_t most = 4;
  if (session_.messages() != nullptr) {
    const std::vector<std::string> waiting = session_.messages()->waiting();
    for (std::size_t i = 0; i < waiting.size() && i < most; ++i) text += "; waits for " + waiting[i];
    if (waiting.size() > most) text += fmt::format("; and {} more", waiting.size() - most);
  }
  constexpr std::chrono::seconds to_answer{5};  // watchdogs look twice a second, on busy cores somewhat less often
  const std::vector<int> silent = mpi::silent_ranks(job, to_answer);
  for (std::size_t i = 0; i < silent.size() && i < most; ++i) text += "; no answer from " + job.name_of(silent[i]);
  if (silent.size() > most) text += fmt::format(" and {} more ranks", silent.size() - most);
  if (job.is_distributed() && silent.empty()) text += "; no rank is known to be silent";
  text += "; look at the hosts named here, restart from the last checkpoint, or raise --watchdog\n";
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  // Other ranks notice at nearly the same time; those that have asked us need an answer.
  for (const auto end = std::chrono::steady_clock::now() + to_answer; std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(std::chrono::milliseconds(100)))
    mpi::answer_calls(job);
  job.abort(static_cast<int>(ErrorKind::environment));
}

}  // namespace quarkstar::runtime
