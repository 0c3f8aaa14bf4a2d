#include "runtime/system/watchdog.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/mpi/alive.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

Watchdog::Watchdog(mpi::Job& job, const Patience& patience)
    : job_(job), patience_(patience), stall_(Stall::Clock::now()), thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

void Watchdog::set_patience(const Patience& patience) {
  const std::lock_guard lock(mutex_);
  patience_ = patience;
}

void Watchdog::set_idle(std::chrono::seconds idle) {
  const std::lock_guard lock(mutex_);
  patience_.idle = idle;
}

void Watchdog::set_silent(std::chrono::seconds silent) {
  const std::lock_guard lock(mutex_);
  patience_.silent = silent;
}

void Watchdog::allow(std::chrono::seconds idle) {
  const std::lock_guard lock(mutex_);
  if (patience_.idle.count() > 0) patience_.idle = std::max(patience_.idle, idle);
}

void Watchdog::watch(Session* session) {
  const std::lock_guard lock(mutex_);
  session_ = session;
}

bool Watchdog::waits() const {
  if (job_.waits_in() != nullptr) return true;
  return session_ != nullptr && (starpu_task_nsubmitted() > 0 || (session_->messages() != nullptr && session_->messages()->pending() > 0));
}

std::int64_t Watchdog::progress() const {
  std::int64_t done = job_.calls_done();
  if (session_ != nullptr && session_->messages() != nullptr) done += session_->messages()->progress();
  for (const Activity& activity : activities) done += activity.done.load(std::memory_order_relaxed);
  return done;
}

mpi::Answer Watchdog::answer() const {
  return {std::chrono::duration_cast<std::chrono::milliseconds>(stall_.idle(Stall::Clock::now())).count(), waits() ? 1 : 0};
}

/// A rank that lives may be inside a call that keeps MPI to itself for a while. Where a limit for silence is given, no longer than that.
std::chrono::seconds Watchdog::time_to_answer() const {
  constexpr std::chrono::seconds least{15}, most{60};  // watchdogs look twice a second, on busy cores somewhat less often
  if (patience_.silent.count() == 0) return std::clamp(patience_.idle / 4, least, most);
  return std::min(std::clamp(patience_.silent / 4, least, most), patience_.silent);
}

void Watchdog::run() {
  try {
    std::unique_lock lock(mutex_);
    while (!ending_.wait_for(lock, std::chrono::milliseconds(500), [this] { return ended_; })) {
      look();
      if (stall_.should_ask(Stall::Clock::now(), patience_) || mpi::is_roll_call_wanted(job_)) call_roll(lock);
    }
  } catch (const std::exception& error) {  // from MPI
    job_.fail_alone(error.what(), static_cast<int>(ErrorKind::environment));
  }
}

void Watchdog::look() {
  stall_.look(Stall::Clock::now(), progress(), waits());
  mpi::answer_calls(job_, answer());
}

/// Hears of the other ranks, and reports where some do not answer, or know of no progress either; for itself, not for those by whom the
/// root is asked.
void Watchdog::call_roll(std::unique_lock<std::mutex>& lock) {
  const bool for_itself = stall_.should_ask(Stall::Clock::now(), patience_);
  const Stall::Clock::time_point before = stall_.since();
  const mpi::Answer mine = answer();
  const std::chrono::seconds limit = time_to_answer();
  lock.unlock();
  const std::optional<mpi::RollCall> heard = mpi::call_roll(job_, limit, mine);
  lock.lock();
  if (ended_) return;
  look();
  if (!for_itself || stall_.since() != before) return;  // something has happened meanwhile

  if (heard && heard->silent > 0) {
    std::string silent;
    for (std::size_t i = 0; i < heard->first_silent.size() && static_cast<std::int64_t>(i) < heard->silent; ++i)
      silent += "; no answer from " + job_.name_of(static_cast<int>(heard->first_silent[i]));
    if (const auto more = heard->silent - static_cast<std::int64_t>(heard->first_silent.size()); more > 0)
      silent += fmt::format(" and {} more", more);
    report(silent);
  }
  const Stall::Clock::time_point now = Stall::Clock::now();
  if (heard) stall_.heard(now, std::chrono::milliseconds(heard->idle_ms));
  else stall_.heard_nothing(now);
  if (!stall_.hangs(now, patience_)) return;
  if (heard)
    report(
        "; all ranks answer" +
        (heard->alone < 0 ? "" : fmt::format("; {} works on its own and shows no progress", job_.name_of(static_cast<int>(heard->alone)))));
  report(job_.waits_in() != nullptr ? "; whether the other ranks answer cannot be asked during this call" : "");
}

/// ranks: what is known of the others.
void Watchdog::report(const std::string& ranks) {
  const auto still = std::chrono::duration_cast<std::chrono::seconds>(Stall::Clock::now() - stall_.since());
  std::string text = fmt::format("no task or message has completed for {} s", still.count());
  if (session_ != nullptr)
    for (std::size_t worker = 0; worker < session_->workers().size(); ++worker)
      if (const char* codelet = activities[worker].codelet.load(); codelet != nullptr)
        text += fmt::format("; worker {} runs {}", session_->worker(static_cast<int>(worker)).name, codelet);
  if (const char* call = job_.waits_in(); call != nullptr) text += fmt::format("; the main thread waits for all ranks in {}", call);
  constexpr std::size_t most = 4;
  if (session_ != nullptr && session_->messages() != nullptr) {
    const std::vector<std::string> waiting = session_->messages()->waiting();
    for (std::size_t i = 0; i < waiting.size() && i < most; ++i) text += "; waits for " + waiting[i];
    if (waiting.size() > most) text += fmt::format("; and {} more", waiting.size() - most);
  }
  job_.print_error(text + ranks + "; look at the hosts named here, " + patience_.remedy);
  // Other ranks notice at nearly the same time; those that have asked us need an answer.
  constexpr std::chrono::seconds for_others{5};
  const mpi::Answer mine = answer();
  for (const auto end = Stall::Clock::now() + for_others; Stall::Clock::now() < end;
       std::this_thread::sleep_for(std::chrono::milliseconds(100)))
    mpi::answer_calls(job_, mine);
  job_.abort(static_cast<int>(ErrorKind::environment));
}

}  // namespace quarkstar::runtime
