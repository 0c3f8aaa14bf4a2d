#pragma once
// The processes that run one program together: MPI's ranks, or this process alone. Only runtime/mpi/ knows MPI,
// and runtime/simulate/rank.cpp that of SimGrid.
#include "runtime/graph/binned_sum.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/stall.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace quarkstar::runtime {
class Watchdog;
}

namespace quarkstar::runtime::mpi {

struct Launch;

/// An error that all ranks of the job throw: none of them goes on, so none has to be ended (Job::fail).
class SharedError : public Error {
 public:
  using Error::Error;
  /// What an error of one rank said.
  SharedError(ErrorKind kind, std::string_view message, Parameter parameter) : Error(kind, message, parameter) {}
};

/// How contributions of ranks are combined. Only sums of floating-point numbers depend on their order, which is MPI's: in the last bits, so
/// they are for reports. Sums that decide anything are sums of BinnedSum.
enum class Combine { maximum, sum, exclusive_or };

/// One at most, made by main(). Without it, or when no launcher (mpirun, srun) started the process, the job is this process alone and
/// MPI is never initialised. Its collective calls are for one thread at a time, the main one or one whose turn it is
/// (runtime/graph/turns.hpp); every rank makes the same ones in the same order. They poll, so that messages of tasks go on meanwhile.
class Job {
 public:
  /// Initialises MPI where a launcher's environment says that there are several ranks (launcher.hpp), or $QUARKSTAR_MPI is 1 (0: never).
  /// A watchdog guards the job from here to its end; patience: of the watchdog, until a command sets another. MPI_Init may take 600 s at
  /// least. $STARPU_MPI_FAKE_RANK and _SIZE: a rank of a job that does not exist, whose messages go nowhere, to measure submission. In a
  /// simulation: a rank of the simulated job, which agrees with the others about everything without a word, because all are alike. Throws
  /// Error(environment) when MPI cannot start, or does not connect all processes that were started.
  explicit Job(Patience patience = {});
  /// Waits for all ranks.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// The job of this process.
  static Job& current();

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  bool is_distributed() const { return size_ > 1; }
  /// Whether MPI is not there for collective calls, and each rank's answer counts as everybody's.
  bool is_fake() const { return fake_; }
  /// Whether MPI is running. For any thread.
  bool is_connected() const { return connected_.load(); }

  /// Host names by rank.
  const std::vector<std::string>& hosts() const { return hosts_; }
  /// "rank 3 (node12)"; "rank 3" while the ranks do not know each other yet.
  std::string name_of(int rank) const;
  /// Numbers by rank that are equal on one host only: hosts of one name are not always one.
  const std::vector<std::uint64_t>& machines() const { return machines_; }

  /// Ranks with this one's host and `resources` (a text that names cores or GPUs): how many there are, and which of them this one is.
  struct Share {
    int index = 0, count = 1;
    std::vector<int> ranks;  ///< all of them, ascending; empty without MPI
  };
  Share share_of(const std::string& resources);
  /// With the same cores.
  Share share_of_cores(const std::vector<int>& cores);

  void barrier();
  bool any(bool mine) { return combined(std::uint64_t{mine}, Combine::maximum) != 0; }
  std::uint64_t combined(std::uint64_t mine, Combine how);
  /// values[i] of all ranks combined, on every rank.
  void combine(std::span<std::uint64_t> values, Combine how);
  void combine(std::span<double> values, Combine how);
  void combine(std::span<BinnedSum> sums);
  /// Every rank's value, by rank.
  template <class T>
  std::vector<T> gather(const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<std::size_t>(size_));
    gather_bytes(&mine, all.data(), sizeof(T));
    return all;
  }
  std::vector<std::string> gather_text(const std::string& mine);
  /// The root's text on every rank.
  std::string broadcast(const std::string& text);

  /// Runs work on every rank, or on the root only, and throws SharedError on all ranks if it failed on any: the error of the lowest such
  /// rank, with its name unless all failed. So that no rank waits for one that has gone, and the user reads one message.
  void together(const std::function<void()>& work);
  void on_root(const std::function<void()>& work);

  /// A failure on its way to the user. Where every rank has failed (a wrong flag, a solve without an answer) all return `code`, and the
  /// root prints; where their messages differ, each one is printed once, by the lowest rank that has it, with its name. A rank that the
  /// others have not joined within 2 s prints its name with the message; where they have not after 20 s either, it ends the whole job with
  /// `code`. everywhere: all ranks come here with one message, however long they take.
  int fail(const std::string& message, int code, bool everywhere = false) noexcept;

  /// Prints this rank's name, where there are several, with the message. For any thread.
  void print_error(const std::string& message) const noexcept;
  /// The same, and ends all processes of the job.
  [[noreturn]] void fail_alone(const std::string& message, int code) noexcept;

  /// Ends all processes of the job, half a second later where there is a launcher, which has texts to pass on.
  [[noreturn]] void abort(int code);

  /// The collective call that the main thread waits in, or nullptr: for a watchdog.
  const char* waits_in() const { return waits_in_.load(); }

  /// Collective calls that have ended, and note_progress(): grows while the job makes progress.
  std::int64_t calls_done() const { return calls_done_.load(); }

  /// For long work between collective calls, such as reading a file, after each piece of it: tells the watchdogs of all ranks that this
  /// rank goes on. About a microsecond. Not while holding library().
  void note_progress();

  /// Ends the job when it hangs. For the main thread.
  Watchdog& watchdog();

  /// While it lives the main thread counts as waiting in that collective call. call: for ever valid.
  class Waiting {
   public:
    Waiting(Job& job, const char* call) : job_(job) { job.waits_in_ = call; }
    ~Waiting() {
      job_.waits_in_ = nullptr;
      ++job_.calls_done_;
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Job& job_;
  };

  /// Held for each call of MPI: the library is initialised for one calling thread at a time.
  std::mutex& library() { return library_; }

  struct Native;
  Native& native() { return *native_; }

 private:
  template <class Start>
  void complete(const char* what, Start&& start);
  struct Alone {};
  explicit Job(Alone);
  void start_mpi(const Launch& launch);
  void meet();
  void gather_bytes(const void* mine, void* all, std::size_t bytes);

  std::atomic<int> rank_{0};  ///< what the launcher says, until MPI has started: a watchdog may print it meanwhile
  int size_ = 1;
  bool fake_ = false;
  std::vector<std::string> hosts_;
  std::vector<std::uint64_t> machines_;
  std::mutex library_;
  std::atomic<bool> connected_{false};  ///< size_ is known
  std::atomic<bool> named_{true};       ///< hosts_ are
  std::atomic<const char*> waits_in_{nullptr};
  std::atomic<std::int64_t> calls_done_{0};
  Native* native_ = nullptr;  ///< nullptr: alone
  std::unique_ptr<Watchdog> watchdog_;
};

}  // namespace quarkstar::runtime::mpi
