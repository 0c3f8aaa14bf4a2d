#include "runtime/graph/turns.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace quarkstar::runtime {
namespace {

constexpr int none = -1, not_begun = -2;  // instead of a lane that has the turn

/// The lanes of one run(). Everything but the turn itself belongs to whoever has it.
struct Ring {
  std::mutex mutex;
  std::condition_variable changed;
  Turns::Order order = Turns::Order::ring;
  int turn = not_begun;
  std::deque<int> queue;      ///< as_they_come: lanes that want the turn
  std::vector<bool> running;  ///< by lane
  int next = 0, count = 0;    ///< programs started, and all
  std::exception_ptr error;

  void begin() {
    const std::lock_guard lock(mutex);
    turn = order == Turns::Order::ring ? 0 : none;
    changed.notify_all();
  }
  void wait_for_turn(int lane) {
    std::unique_lock lock(mutex);
    if (order == Turns::Order::ring) return changed.wait(lock, [&] { return turn == lane; });
    queue.push_back(lane);
    changed.wait(lock, [&] { return turn == none && queue.front() == lane; });
    queue.pop_front();
    turn = lane;
  }
  /// To the next lane that runs; stays where there is none.
  void give_turn(int lane) {
    const std::lock_guard lock(mutex);
    const int lanes = static_cast<int>(running.size());
    if (order == Turns::Order::as_they_come) turn = none;
    else
      for (int step = 1; step <= lanes; ++step)
        if (const int other = (lane + step) % lanes; running[static_cast<std::size_t>(other)]) {
          turn = other;
          break;
        }
    changed.notify_all();
  }
};

std::atomic<int> programs{1};
thread_local Ring* ring = nullptr;
thread_local int own_lane = 0;

}  // namespace

void Turns::run(int count, int in_flight, const std::function<void(int)>& program, Order order) {
  const int lanes = std::min(count, in_flight);
  if (lanes <= 1) {
    for (int i = 0; i < count; ++i) program(i);
    return;
  }
  Ring shared;
  shared.order = order;
  shared.running.assign(static_cast<std::size_t>(lanes), true);
  shared.count = count;
  std::vector<std::thread> threads;
  const auto start = [&](int lane) {
    threads.emplace_back([&shared, &program, lane] {
      ring = &shared;
      own_lane = lane;
      shared.wait_for_turn(lane);
      while (shared.next < shared.count && shared.error == nullptr) {
        const int number = shared.next++;
        try {
          program(number);
        } catch (...) {
          if (shared.error == nullptr) shared.error = std::current_exception();
        }
      }
      shared.running[static_cast<std::size_t>(lane)] = false;
      shared.give_turn(lane);
    });
  };
  try {
    threads.reserve(static_cast<std::size_t>(lanes));
    for (int lane = 0; lane < lanes; ++lane) start(lane);
  } catch (const std::system_error& failure) {
    for (std::size_t lane = threads.size(); lane < shared.running.size(); ++lane) shared.running[lane] = false;
    shared.error = std::make_exception_ptr(
        Error(ErrorKind::environment, Parameter("in-flight"),
              fmt::format("no thread can be started for {} of {} in flight ({})", threads.size() + 1, lanes, failure.what()),
              "let fewer be in flight, or allow more threads with `ulimit -u`"));
  }
  programs = lanes;
  if (!threads.empty()) shared.begin();
  for (std::thread& thread : threads) thread.join();
  programs = 1;
  if (shared.error != nullptr) std::rethrow_exception(shared.error);
}

void Turns::pass() {
  if (ring == nullptr) return;
  ring->give_turn(own_lane);
  ring->wait_for_turn(own_lane);
}

void Turns::wait(const std::function<void()>& wait) {
  if (ring == nullptr) return wait();
  ring->give_turn(own_lane);
  std::exception_ptr failure;
  if (ring->order == Order::as_they_come) {
    try {
      wait();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  ring->wait_for_turn(own_lane);
  if (failure != nullptr) std::rethrow_exception(failure);
  if (ring->order == Order::ring) wait();
}

int Turns::lane() { return own_lane; }
int Turns::in_flight() { return programs; }
bool Turns::taken() { return ring != nullptr; }
bool Turns::failed() { return ring != nullptr && ring->error != nullptr; }

}  // namespace quarkstar::runtime
