#include "runtime/mpi/job.hpp"

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/alive.hpp"
#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/mpi/kept_pieces.hpp"
#include "runtime/mpi/launcher.hpp"
#include "runtime/mpi/native.hpp"
#include "runtime/simulate/rank.hpp"
#include "runtime/simulate/simulate.hpp"
#include "runtime/system/failure.hpp"
#include "runtime/system/number_variable.hpp"
#include "runtime/system/watchdog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <thread>
#include <utility>

namespace quarkstar::runtime::mpi {
namespace {

Job* started = nullptr;
std::optional<Host> hosting;
std::atomic<bool> at_work{true};
thread_local std::atomic<bool>* uses_host = nullptr;  ///< of a thread that works for the host

int fake_number(const char* variable) {
  return static_cast<int>(number_in(variable, std::getenv(variable), std::numeric_limits<int>::max()).value_or(0));
}

struct Place {
  int rank, size;
};

/// In a job whose ranks agree about everything by themselves, because they are alike or do not exist.
Place place_without_mpi() {
  if constexpr (simulate::active) return {simulate::rank(), simulate::ranks()};
  else return {fake_number("STARPU_MPI_FAKE_RANK"), fake_number("STARPU_MPI_FAKE_SIZE")};
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

/// Of the host's name and what its kernel calls this boot: nodes and containers may have one name, "localhost".
std::uint64_t machine_number() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const std::string name = host_name() + " " + boot;
  return fingerprint(std::as_bytes(std::span(name)));
}

MPI_Op native_of(Combine how) { return how == Combine::maximum ? MPI_MAX : how == Combine::sum ? MPI_SUM : MPI_BXOR; }

}  // namespace

bool wait(Job& job, MPI_Request request, const char* what, std::chrono::steady_clock::time_point limit, int spins) {
  for (int round = 0;; ++round) {
    int done = 0;
    call_mpi(job, [&] { check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what); });
    if (done != 0) return true;
    if (std::chrono::steady_clock::now() > limit) return false;
    if (round < spins) std::this_thread::yield();
    else std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

/// Starts a non-blocking call under the library's lock and waits for it.
template <class Start>
void Job::complete(const char* what, Start&& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  call_mpi(*this, [&] { check(start(&request), what); });
  const Waiting waiting(*this, what);
  wait(*this, request, what);
  answer_calls(*this, {});
}

Job::Job(Alone) : hosts_{host_name()}, machines_{0} {}

Job::Job(Patience patience) : Job(Alone{}) {
  if (started != nullptr) throw Error(ErrorKind::internal, "Job", "a job has begun already", "this is a defect: please report it");
  started = this;
  if (const Place fake = place_without_mpi(); fake.size > 1) {
    fake_ = true;
    size_ = fake.size;
    rank_ = std::clamp(fake.rank, 0, size_ - 1);
    hosts_.resize(static_cast<std::size_t>(size_), hosts_.front());
    machines_.resize(hosts_.size(), 0);
    return;
  }
  if constexpr (simulate::active) return;  // whoever launched it: SimGrid's MPI is there for simulated ranks only
  const Launch launch = read_launch(std::getenv);
  if (!launch.wants_mpi) return;
  rank_ = launch.rank;
  named_ = false;
  // Starting many processes takes long, whatever is expected of them later.
  Patience start = patience;
  if (start.idle.count() > 0) start.idle = std::max(start.idle, Patience{}.idle);
  watchdog_ = std::make_unique<Watchdog>(*this, start);
  start_mpi(launch);
  watchdog_->set_patience(patience);
  try {
    meet();
  } catch (const std::exception& error) {  // others may have met
    fail_alone(error.what(), static_cast<int>(ErrorKind::environment));
  }
}

const Host* host() { return hosting ? &*hosting : nullptr; }

bool is_at_work() { return at_work.load(); }

void set_at_work(Job& job, bool works) {
  const std::lock_guard lock(job.library());
  at_work = works;
}

void give_up_work(Job& job) noexcept {
  constexpr int attempts = 1000;
  bool locked = false;
  for (int i = 0; i < attempts && !(locked = job.library().try_lock()); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  at_work = false;
  if (locked) job.library().unlock();
}

void work_for_host(std::atomic<bool>& uses) { uses_host = &uses; }

Waits::Waits() : used_host_(uses_host != nullptr && uses_host->exchange(false)) {}

Waits::~Waits() {
  if (!used_host_) return;
  *uses_host = true;  // before the question: who has lost the job reads this after the answer has changed
  if (!is_at_work()) wait_for_ever();
}

void wait_for_ever() {
  if (uses_host != nullptr) *uses_host = false;
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

std::unique_ptr<Job> guest_of(Host program) { return Job::Native::guest(std::move(program)); }

std::unique_ptr<Job> Job::Native::guest(Host program) {
  if (started != nullptr) throw Error(ErrorKind::internal, "Job", "a job has begun already", "end it first");
  std::unique_ptr<Job> job(new Job(Alone{}));
  const void* const communicator = program.communicator;
  hosting = std::move(program);
  at_work = true;
  started = job.get();
  if (communicator != nullptr) {
    join(*job, communicator);
    job->meet();
  }
  return job;
}

void Job::Native::forget_host() {
  hosting.reset();
  funnel().turn(false);
  at_work = true;
}

namespace {

/// A copy of the host's communicator, so that nothing of ours meets its messages. On the thread that calls MPI.
MPI_Comm copy_of(MPI_Comm given) {
  const auto refuse = [](const char* what, const char* remedy) {
    throw Error(ErrorKind::input, Parameter("mpi_communicator"), what, remedy);
  };
  int is_main = 1, between_groups = 0;
  check(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (funnel().is_on() && is_main == 0)
    refuse("MPI was initialised for one thread, and this is another",
           "call from the thread that initialised MPI, or initialise it with MPI_THREAD_SERIALIZED");
  if (given == MPI_COMM_NULL) refuse("it is MPI_COMM_NULL", "open the session on the ranks of the communicator alone");
  check(MPI_Comm_test_inter(given, &between_groups), "MPI_Comm_test_inter");
  if (between_groups != 0) refuse("it is an inter-communicator", "give one of MPI_Intercomm_merge()");
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(given, &copy), "MPI_Comm_dup");
  return copy;
}

}  // namespace

void Job::Native::join(Job& job, const void* communicator) {
  int initialised = 0, finalised = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (initialised == 0 || finalised != 0)
    throw Error(ErrorKind::environment, "MPI", finalised != 0 ? "it has been finalised" : "it has not been initialised",
                "call MPI_Init before, or give no communicator");
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  funnel().turn(level < MPI_THREAD_SERIALIZED);
  int rank = 0, size = 1;
  MPI_Comm copy = MPI_COMM_NULL;
  call_mpi(job, [&] {
    copy = copy_of(*static_cast<const MPI_Comm*>(communicator));
    check(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(copy, &rank), "MPI_Comm_rank");
    check(MPI_Comm_size(copy, &size), "MPI_Comm_size");
  });
  job.rank_ = rank;
  job.size_ = size;
  job.native_ = new Native(size);
  job.native_->base = copy;
  job.connected_ = true;
}

void Job::start_mpi(const Launch& launch) {
  const Waiting waiting(*this, "MPI_Init");
  const std::lock_guard lock(library_);
  int level = 0, rank = 0, size = 1;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS || level < MPI_THREAD_SERIALIZED)
    throw Error(ErrorKind::environment, "MPI", "the library does not allow calls from several threads in turn",
                "use one with MPI_THREAD_SERIALIZED, or start without a launcher");
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  try {
    require_all_connected(launch, size);
  } catch (const Error&) {
    MPI_Finalize();
    throw;
  }
  rank_ = rank;
  size_ = size;
  native_ = new Native(size);
  connected_ = true;
}

/// Everything in which ranks wait for each other, by calls that do not block: so that a watchdog can ask who is missing.
void Job::meet() {
  for (MPI_Comm* communicator : native_->all()) {
    complete("MPI_Comm_idup", [&](MPI_Request* r) { return MPI_Comm_idup(native_->base, communicator, r); });
    call_mpi(*this, [&] { check(MPI_Comm_set_errhandler(*communicator, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler"); });
  }
  machines_ = gather(machine_number());
  hosts_ = gather_text(hosts_.front());
  named_ = true;
}

Job::~Job() {
  const bool is_guest = started == this && host() != nullptr;
  if (started == this) started = nullptr;
  if (native_ != nullptr) {
    try {
      if (is_guest && native_->control != MPI_COMM_NULL) free_kept_pieces(*this);
      if (native_->control != MPI_COMM_NULL) barrier();  // MPI_Finalize waits for all ranks too, and answers nobody meanwhile
      native_->transports.reset();
    } catch (const Error&) {  // the work is done
    }
    if (watchdog_ != nullptr) watchdog_->allow(Patience{}.idle);  // all is written, and ending many processes may take long
    const Waiting waiting(*this, "MPI_Finalize");
    call_mpi(*this, [this, is_guest] {
      connected_ = false;
      for (MPI_Comm* communicator : native_->all())
        if (*communicator != MPI_COMM_NULL) MPI_Comm_free(communicator);
      if (is_guest) native_->leave();
      else MPI_Finalize();
    });
    delete native_;
  }
  watchdog_.reset();
  if (is_guest) Native::forget_host();
}

Watchdog& Job::watchdog() {
  if (watchdog_ == nullptr) watchdog_ = std::make_unique<Watchdog>(*this, Patience{});
  return *watchdog_;
}

void Job::note_progress() {
  ++calls_done_;
  answer_calls(*this, {});
}

Job& Job::current() {
  static Job alone{Alone{}};  // tests and programs that use the libraries need no job of their own
  return started != nullptr ? *started : alone;
}

std::string Job::name_of(int rank) const {
  return named_ ? fmt::format("rank {} ({})", rank, hosts_[static_cast<std::size_t>(rank)]) : fmt::format("rank {}", rank);
}

Job::Share Job::share_of(const std::string& resources) {
  if (!is_distributed() || is_fake()) return {};
  const std::uint64_t mine = fingerprint(std::as_bytes(std::span(resources)), machines_[static_cast<std::size_t>(rank_)]);
  const std::vector<std::uint64_t> all = gather(mine);
  Share share{0, 0, {}};
  for (int rank = 0; rank < size_; ++rank) {
    if (all[static_cast<std::size_t>(rank)] != mine) continue;
    if (rank == rank_) share.index = share.count;
    ++share.count;
    share.ranks.push_back(rank);
  }
  return share;
}

Job::Share Job::share_of_cores(const std::vector<int>& cores) { return share_of(fmt::format("{}", fmt::join(cores, " "))); }

void Job::barrier() {
  if (native_ != nullptr) complete("barrier", [this](MPI_Request* r) { return MPI_Ibarrier(native_->control, r); });
}

std::uint64_t Job::combined(std::uint64_t mine, Combine how) {
  combine(std::span(&mine, 1), how);
  return mine;
}

void Job::combine(std::span<std::uint64_t> values, Combine how) {
  if (native_ == nullptr) return;
  complete("MPI_Iallreduce", [&](MPI_Request* r) {
    return MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T, native_of(how), native_->control, r);
  });
}

void Job::combine(std::span<double> values, Combine how) {
  if (native_ == nullptr) return;
  complete("MPI_Iallreduce", [&](MPI_Request* r) {
    return MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, native_of(how), native_->control, r);
  });
}

void Job::combine(std::span<BinnedSum> sums) {
  if (native_ == nullptr) return;
  std::vector<BinnedSum> all(sums.size() * static_cast<std::size_t>(size_));
  gather_bytes(sums.data(), all.data(), sums.size_bytes());
  std::fill(sums.begin(), sums.end(), BinnedSum::zero());
  for (std::size_t i = 0; i < all.size(); ++i) sums[i % sums.size()].merge(all[i]);
}

void Job::gather_bytes(const void* mine, void* all, std::size_t bytes) {
  if (native_ == nullptr) {
    for (int rank = 0; rank < size_; ++rank)
      std::copy_n(static_cast<const char*>(mine), bytes, static_cast<char*>(all) + static_cast<std::size_t>(rank) * bytes);
    return;
  }
  const int count = static_cast<int>(bytes);
  complete("MPI_Iallgather",
           [&](MPI_Request* r) { return MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, native_->control, r); });
}

/// Texts that are equal go once: ranks gather 16 bytes each, and the lowest rank with a text puts it into a table for all. Where all have
/// the same there is nothing more to be said.
std::vector<std::string> Job::gather_text(const std::string& mine) {
  struct Text {
    std::uint64_t print, length;
    bool operator==(const Text&) const = default;
  };
  const Text own{fingerprint(std::as_bytes(std::span(mine))), mine.size()};
  const std::vector<Text> texts = gather(own);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> numbers;
  std::vector<std::size_t> number_of;
  std::size_t longest = 0, own_number = 0;
  bool own_first = false;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const auto [at, fresh] = numbers.try_emplace({texts[rank].print, texts[rank].length}, numbers.size());
    number_of.push_back(at->second);
    longest = std::max(longest, static_cast<std::size_t>(texts[rank].length));
    if (fresh && static_cast<int>(rank) == rank_) own_first = true;
    if (texts[rank] == own) own_number = at->second;
  }
  if (numbers.size() == 1) return std::vector<std::string>(texts.size(), mine);
  const std::size_t words = (longest + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
  std::vector<std::uint64_t> table(words * numbers.size(), 0);
  const auto place = [&](std::size_t number) { return reinterpret_cast<char*>(table.data() + number * words); };
  if (own_first) std::copy(mine.begin(), mine.end(), place(own_number));
  combine(std::span(table), Combine::exclusive_or);
  std::vector<std::string> result;
  for (std::size_t rank = 0; rank < texts.size(); ++rank)
    result.emplace_back(place(number_of[rank]), static_cast<std::size_t>(texts[rank].length));
  return result;
}

std::string Job::broadcast(const std::string& text) {
  if (native_ == nullptr) return text;
  std::string shared = text;
  shared.resize(combined(is_root() ? text.size() : 0, Combine::maximum));
  complete("MPI_Ibcast",
           [&](MPI_Request* r) { return MPI_Ibcast(shared.data(), static_cast<int>(shared.size()), MPI_BYTE, 0, native_->control, r); });
  return shared;
}

void Job::together(const std::function<void()>& work) {
  if (!is_distributed()) return work();
  Failure mine{"", 0};
  try {
    work();
  } catch (const std::exception& error) {
    mine = failure_of(error, "use more ranks or machines with more");
  }
  const std::vector<int> kinds = gather(mine.exit_code);
  const auto failed = [](int k) { return k != 0; };
  const auto first = std::find_if(kinds.begin(), kinds.end(), failed);
  if (first == kinds.end()) return;
  const auto rank = static_cast<int>(first - kinds.begin());
  const auto of_rank = [&](const std::string& text) { return gather_text(text)[static_cast<std::size_t>(rank)]; };
  std::string message = of_rank(mine.message);
  const std::string parameter = of_rank(mine.parameter);
  if (!std::all_of(kinds.begin(), kinds.end(), failed)) message = name_of(rank) + ": " + message;
  throw SharedError(static_cast<ErrorKind>(*first), message, Parameter(parameter));
}

void Job::on_root(const std::function<void()>& work) {
  together([&] {
    if (is_root()) work();
  });
}

}  // namespace quarkstar::runtime::mpi
