// How a job ends early.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>

#include "runtime/mpi/native.hpp"

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
  // Ranks that fail for the same reason do so at nearly the same time; on busy hosts some start seconds later.
  constexpr auto grace = std::chrono::seconds(20);
  bool all = false;
  try {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const std::lock_guard lock(library_);
      check(MPI_Ibarrier(native_->failure, &request), "MPI_Ibarrier");
    }
    std::optional<Waiting> waiting;
    if (everywhere) waiting.emplace(*this, "agreeing on an error");
    all = wait(*this, request, "agreeing on an error", everywhere ? Clock::time_point::max() : Clock::now() + grace);
  } catch (const std::exception&) {  // the connection may be what is broken
  }
  if (!all) fail_alone(message, code);
  if (is_root()) print_line("", message);
  return code;
}

void Job::print_error(const std::string& message) const noexcept {
  std::string name;
  try {
    if (!named_ || is_distributed()) name = name_of(rank_) + ": ";
  } catch (const std::bad_alloc&) {  // the message counts more
  }
  print_line(name, message);
}

void Job::fail_alone(const std::string& message, int code) noexcept {
  print_error(message);
  abort(code);
}

void Job::abort(int code) {
  if (connected_) MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace quarkstar::runtime::mpi
