#pragma once
// A job in the process of another program, which has started MPI, or not, and goes on when the job has ended.
#include "runtime/mpi/job.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace quarkstar::runtime::mpi {

/// What the program gives its guest.
struct Host {
  const void* communicator = nullptr;                          ///< MPI_Comm*: the job is a copy of it; nullptr: this process alone
  std::function<void(const std::string& message)> error = {};  ///< what is said of a failure, in place of stderr; for any thread
  /// In place of the end of the process: the job is lost. No thread of ours calls MPI from here on, unless one hangs in a call; the thread
  /// that calls this waits for ever, and so does each that comes to a call of MPI, or has waited for tasks where it works for the program
  /// (Waits). Job and Session must not be destroyed. For any thread.
  std::function<void(int code)> lost = {};
};

/// Collective over the communicator. MPI is neither initialised nor finalised. It is called inside set_at_work(true) and
/// set_at_work(false) alone, on the thread of Funnel::drive() where it was initialised for one thread; the job begins at work. Throws
/// Error(environment) where there is a communicator and MPI is not running, Error(input) naming mpi_communicator where it is not one of a
/// group of ranks, or where MPI was initialised for one thread and the host's is another.
std::unique_ptr<Job> guest_of(Host host);

/// The program behind this process's guest, or nullptr.
const Host* host();

/// Whether a guest's host waits for it. When set_at_work(false) returns no thread of ours calls MPI any more.
void set_at_work(Job& job, bool at_work);
/// False for ever, of a job that is lost. Who is in a call of MPI may hang there, and is waited for no longer than a second.
void give_up_work(Job& job) noexcept;
/// True for jobs that are no guests, false for one that is lost.
bool is_at_work();

/// This thread works for the host. uses_host: false while it waits (Waits, wait_for_ever()), for its owner to look at.
void work_for_host(std::atomic<bool>& uses_host);

/// While one lives this thread waits for ranks or tasks, and uses nothing that the host gave it. A thread that works for the host never
/// goes on where the job has been lost meanwhile: the host does not wait for it any more, and what it gave may be gone.
class Waits {
 public:
  Waits();
  ~Waits();
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;

 private:
  bool used_host_;
};

[[noreturn]] void wait_for_ever();

}  // namespace quarkstar::runtime::mpi
