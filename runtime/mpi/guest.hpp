#pragma once
// A job in the process of another program, which has started MPI, or not, and goes on when the job has ended.
#include "runtime/mpi/job.hpp"

#include <functional>
#include <memory>
#include <string>

namespace quarkstar::runtime::mpi {

/// What the program gives its guest.
struct Host {
  const void* communicator = nullptr;                          ///< MPI_Comm*: the job is a copy of it; nullptr: this process alone
  std::function<void(const std::string& message)> error = {};  ///< what is said of a failure, in place of stderr; for any thread
  /// In place of the end of the process: the job is lost. No thread of ours calls MPI from here on, unless one hangs in a call; the thread
  /// that calls this waits for ever, and so does each that comes to a call of MPI or has waited for tasks (wait_for_ever_if_lost()). Job
  /// and Session must not be destroyed. For any thread.
  std::function<void(int code)> lost = {};
};

/// Collective over the communicator. MPI is neither initialised nor finalised. It is called inside set_at_work(true) and
/// set_at_work(false) alone, on the thread of Funnel::drive() where it was initialised for one thread; the job begins at work. Throws
/// Error(environment) where there is a communicator and MPI is not running.
std::unique_ptr<Job> guest_of(Host host);

/// The program behind this process's guest, or nullptr.
const Host* host();

/// Whether a guest's host waits for it. When set_at_work(false) returns no thread of ours calls MPI any more.
void set_at_work(Job& job, bool at_work);
/// False for ever, of a job that is lost. Who is in a call of MPI may hang there, and is waited for no longer than a second.
void give_up_work(Job& job) noexcept;
/// True for jobs that are no guests, false for one that is lost.
bool is_at_work();

/// Where this thread works for a host that does not wait for it any more, because the job is lost, it never goes on: what the host gave it
/// may be gone.
void wait_for_ever_if_lost();
[[noreturn]] void wait_for_ever();

}  // namespace quarkstar::runtime::mpi
