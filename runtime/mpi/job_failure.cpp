// How a job ends early.
#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/mpi/native.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>
#include <vector>

namespace quarkstar::runtime::mpi {
namespace {

using Clock = std::chrono::steady_clock;

/// What fails for want of memory prints its text all the same.
void print_line(const std::string& name, const std::string& text) noexcept {
  std::fflush(stdout);
  try {
    std::fputs(("quarkstar: error: " + name + text + "\n").c_str(), stderr);  // in one piece: other ranks print too
  } catch (const std::bad_alloc&) {
    std::fputs(text.c_str(), stderr);
  }
  std::fflush(stderr);
}

}  // namespace

int Job::fail(const std::string& message, int code, bool everywhere) noexcept {
  if (native_ == nullptr) {
    print_line("", message);
    return code;
  }
  // Ranks that fail for the same reason do so at nearly the same time; on busy hosts some come seconds later. Who reads of it must not wait
  // for them.
  constexpr auto soon = std::chrono::seconds(2), grace = std::chrono::seconds(20);
  const auto start = Clock::now();
  const std::array<std::uint64_t, 2> mine{std::hash<std::string>{}(message), static_cast<std::uint64_t>(code)};
  std::vector<std::array<std::uint64_t, 2>> all;  // here until the process ends where MPI may still write to it
  std::array<std::uint64_t, 2> roots = mine;      // so is this
  bool printed = false, agreed = false, root_known = false;
  try {
    all.resize(static_cast<std::size_t>(size_));
    MPI_Request request = MPI_REQUEST_NULL, from_root = MPI_REQUEST_NULL;
    call_mpi(*this, [&] {
      check(MPI_Iallgather(mine.data(), 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, native_->failure, &request), "MPI_Iallgather");
      check(MPI_Ibcast(roots.data(), 2, MPI_UINT64_T, 0, native_->failure, &from_root), "MPI_Ibcast");
    });
    constexpr const char* what = "agreeing on an error";
    if (everywhere) {
      const Waiting waiting(*this, what);
      agreed = wait(*this, request, what);
    } else {
      agreed = wait(*this, request, what, start + soon);
      if (!agreed) {
        // One line is enough where the first rank says the same; some rank is late.
        root_known = wait(*this, from_root, what, Clock::now());
        if (is_root() || !root_known || roots != mine) print_error(message);
        printed = true;
        agreed = wait(*this, request, what, start + grace);
      }
    }
    if (agreed && !root_known) agreed = wait(*this, from_root, what, start + grace);
  } catch (const std::exception&) {  // the connection may be what is broken
  }
  if (!agreed && !printed) print_error(message);
  if (!agreed) abort(code);
  const bool alike = everywhere || std::all_of(all.begin(), all.end(), [&](const auto& words) { return words == mine; });
  if (alike && is_root() && !printed) print_line("", message);
  if (!alike && !printed && std::find(all.begin(), all.end(), mine) == all.begin() + rank_) print_error(message);
  return code;
}

void Job::print_error(const std::string& message) const noexcept {
  std::string name;
  try {
    if (!named_ || is_distributed()) name = name_of(rank_) + ": ";
  } catch (const std::bad_alloc&) {  // the message counts more
  }
  if (const Host* const program = host(); program != nullptr && program->error) program->error(name + message);
  else print_line(name, message);
}

void Job::fail_alone(const std::string& message, int code) noexcept {
  print_error(message);
  abort(code);
}

void Job::abort(int code) {
  if (const Host* const program = host(); program != nullptr) {
    give_up_work(*this);
    if (program->lost) program->lost(code);
    wait_for_ever();
  }
  if (connected_) {
    // What was printed passes through the launcher, which on some systems drops what comes together with the end.
    std::fflush(stderr);
    if (size() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  std::_Exit(code);
}

}  // namespace quarkstar::runtime::mpi
