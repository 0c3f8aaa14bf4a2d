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
  /// In place of the end of the process: the job is lost, the thread that calls this waits for ever, and Job and Session must not be
  /// destroyed. For any thread.
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
/// True for jobs that are no guests.
bool is_at_work();

}  // namespace quarkstar::runtime::mpi
