#pragma once
// What stands behind the handles of the C library, and how its functions run.
#include "apps/c/quarkstar.h"
#include "apps/run/config.hpp"
#include "apps/run/eigen_file.hpp"
#include "codelets/actions/action_kind.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/cut/decomposition.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "solvers/solver.hpp"

#include <sys/types.h>

#include <atomic>
#include <complex>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace quarkstar::c {

/// A thread of the library's own that does the work of all calls, while the caller waits, or makes the calls of MPI for it. So the caller's
/// threads keep their affinity and their OpenMP threads, and a call returns when a rank or a device is lost, although the work never does.
/// Behind a call it looks for the next one for 0.2 ms before it sleeps: calls that follow each other do not wait until it is awake.
class Service {
 public:
  Service();
  /// Not of a job that is lost: its thread never comes back.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Runs work there. drives: whether the caller is the thread for MPI. Throws what it throws, and Error(environment) where the job is
  /// lost: then the thread uses nothing of the caller's any more.
  void run(const std::function<void()>& work, bool drives);
  /// For the thread, some 10 us before the work ends: the caller is awake then, which takes about as long.
  void ends_soon();
  /// For any thread: says something to the caller, unless the job is lost. While it does so no call returns because of a loss.
  void say(const std::function<void()>& words);
  /// For any thread: what is to be told of a job that has failed, the parameter that it is about, and that it is lost.
  void tell(const std::string& message);
  void blame(const std::string& parameter);
  void lose();
  bool is_lost() const { return lost_.load(); }
  /// The error of a lost job.
  struct Loss {
    std::string message, parameter;
  };
  Loss loss() const;

 private:
  void serve();

  mutable std::mutex mutex_;
  std::mutex saying_;
  std::condition_variable changed_;
  std::atomic<const std::function<void()>*> work_{nullptr};
  std::exception_ptr thrown_;
  Loss loss_;
  std::atomic<bool> done_{true}, lost_{false}, ends_soon_{false};
  std::atomic<bool> uses_caller_{false};  ///< whether the thread may use what the caller gave it
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

struct Operator;

/// Of this process. A child that it forks has the memory of a session, but none of its threads.
pid_t this_process();

/// A session, which its gauges and operators keep until they are freed.
struct Context : std::enable_shared_from_this<Context> {
  app::RunConfig config;  ///< of the session; operators start from it
  qs_log log = nullptr;
  void* log_user = nullptr;
  std::unique_ptr<runtime::mpi::Job> job;
  std::unique_ptr<runtime::Session> session;
  std::set<Operator*> operators;  ///< that hold a solver
  std::mutex freeing;
  std::vector<qs_operator*> freed = {};  ///< under `freeing`
  std::unique_ptr<Service> service = std::make_unique<Service>();
  bool open = true;
  std::string failure = {};    ///< of a call that was answered with QS_NOT_CONVERGED
  bool caller_drives = false;  ///< whether the caller's thread makes the calls of MPI
  pid_t process = this_process();

  void write_log(int level, const std::string& message) const;
  /// For a callback: the next call frees it.
  void free_later(qs_operator* op) noexcept;
  void free_operators();
  /// Whether a handle of it can be deleted. Not where the job is lost: a thread or a task may still use it; nor in a child of the process,
  /// which would wait for threads that it does not have.
  bool lets_go() const { return !service->is_lost() && process == this_process(); }
};

/// Links of a lattice: this rank's part.
struct Gauge {
  std::shared_ptr<Context> context;
  Coord lattice{};
  std::shared_ptr<HostGauge> part;
  GaugeSummary summary = {};
};

/// Fills in the plaquettes and the link trace of its summary. Collective.
void measure(Gauge& gauge);

/// Lowest modes of an operator's even-odd system: this rank's part.
struct Eigenvectors {
  std::shared_ptr<Context> context;
  app::EigenHeader header = {};
  double mass = 0;                              ///< of A
  std::vector<app::StoredVector> vectors = {};  ///< of each mode
  std::shared_ptr<const EigenProjector> projector(const LatticePointer& lattice, ModesMemory where) const;
};

struct Operator {
  std::shared_ptr<Context> context;
  app::RunConfig config;
  Coord lattice{};
  HostGauge links;  ///< of this rank's part and what hops need around it
  std::optional<runtime::Decomposition> decomposition;
  RunOperator made;
  std::map<int, std::unique_ptr<Solver>> solvers;  ///< by numbers of vectors in lanes
  std::vector<SolveResult> last = {};
  std::optional<Source> last_source = {};  ///< of which these are the propagator's, all columns of one mass; none: something else
  std::shared_ptr<const Eigenvectors> deflation = {};  ///< of its solves; none: they are not deflated
  std::shared_ptr<const EigenProjector> modes = {};    ///< these, as its one solver then has them

  const ActionKind& kind() const { return *config.action; }
  /// The solver for so many right-hand sides, or whose solves are for numbers[0], numbers[1], ... of them.
  Solver& solver_for(int vectors) { return solver_for({&vectors, 1}); }
  Solver& solver_for(std::span<const int> numbers);
  /// Of so many vectors, or propagators (what): those that are given, else its own. Throws Error(input) naming masses.
  std::vector<double> masses_for(int count, const double* given, std::string_view what = "vector") const;
  /// Throws Error(input) naming a memory that is too small for solves of such a configuration. Gives up the solvers where that makes room.
  /// All ranks must call.
  void require_room_for(const app::RunConfig& config);
  /// What is told of a solve that has not converged. shortfall: which residual is too large.
  std::string failure_of(const std::string& what, const SolveResult& result, const std::string& shortfall) const;
  /// Gives up the solvers.
  void drop_solvers();
};

// ---- calls

/// What this thread is told of its last failure. Returns the code.
qs_status set_error(qs_status code, std::string_view message, std::string_view parameter = {}) noexcept;
/// The same of the exception that is being handled.
qs_status set_error_of_exception() noexcept;

/// Who takes part in a call: all ranks, which wait for each other, or this one alone.
enum class Among { ranks, this_rank };

/// Runs work on the service's thread of a context that is open, with workers awake, and gives back what came of it. When the job is lost,
/// the context stays for ever, with what its threads may still use. Among ranks an error of this rank alone, of its machine or of ours,
/// loses the job: the others wait in the call, and this rank does not know where. Errors of input and of numbers are the same on all ranks,
/// because what may differ is compared first (Job::together()).
qs_status call(Context* context, const std::function<qs_status()>& work, Among among = Among::ranks) noexcept;
/// The same without an answer of its own.
qs_status call(Context* context, const std::function<void()>& work, Among among = Among::ranks) noexcept;
/// Whether it is such an error.
bool leaves_others(const runtime::mpi::Job& job, const std::exception& error);
/// Whether a session of this process was lost: StarPU cannot start again.
bool process_is_lost();

/// Whether there is a session is known to the process that has it, and to the children that it forks then.
void set_process_of_session(bool open);
/// Held by a call: there is one at a time, also of those that need no session. Throws Error(input) in a callback, whose call holds it, and
/// in a child of a process with an open session, where a thread that is not there may hold it.
std::unique_lock<std::mutex> only_call();
/// Whether this thread is in a callback.
bool in_callback();

[[noreturn]] void refuse(std::string_view argument, const std::string& what, const std::string& remedy);
/// Throws Error(input) where a pointer that must be given is not.
void require(const void* pointer, std::string_view argument);

/// Throws Error(input) where a struct of the caller says that it is smaller than its first two members, or larger than any of ours will be.
template <class Struct>
void require_size(const Struct& given, std::string_view argument) {
  constexpr std::size_t most = 4096;
  if (given.struct_size < 2 * sizeof(std::size_t) || given.struct_size > most)
    refuse(argument, "struct_size is not set", "set it to sizeof of the struct, and zero what is not used");
}

/// A struct of the caller, whose members beyond its struct_size are 0; all 0 where it is not given. Throws Error(input) where members that
/// only a later version knows are not 0.
template <class Struct>
Struct taken(const Struct* given, std::string_view argument) {
  Struct mine{};
  if (given == nullptr) return mine;
  require_size(*given, argument);
  std::memcpy(&mine, given, given->struct_size < sizeof mine ? given->struct_size : sizeof mine);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof mine; i < given->struct_size; ++i)
    if (bytes[i] != 0) refuse(argument, "it asks for something that this version of the library does not know", "zero what is not used");
  return mine;
}

/// Fills a struct of the caller, which may be smaller than ours, but for its struct_size.
template <class Struct>
void give(Struct mine, void* to, std::size_t size) {
  mine.struct_size = size;
  std::memcpy(to, &mine, size < sizeof mine ? size : sizeof mine);
}

/// What a call gives back is NULL until it has succeeded.
template <class Handle>
void clear(Handle** given) {
  if (given != nullptr) *given = nullptr;
}

/// Settings of a session, of an operator, of a contraction or of three-point functions, applied to `config`. Throws Error(input) naming the
/// key.
enum class SettingsOf { session, operators, contractions, three_points };
void take_settings(app::RunConfig& config, const qs_setting* settings, std::size_t count, SettingsOf of);
/// All that are taken there, for the action of `config`.
std::vector<const app::Setting*> settings_for(SettingsOf of, const app::RunConfig& config);

/// A source as the command writes it. Throws Error(input) naming `source`.
Source source_of(const Coord& lattice, const char* text);
/// The column. Throws Error(input) naming `columns` where there is no such one.
int require_column(int column, int components);

// ---- ranks

/// How the lattices of a session are cut over its ranks: equal parts, one block each. Throws Error(input) naming ranks.
runtime::Decomposition cut_over_ranks(const Context& context, const Coord& lattice);
/// A box of the lattice of which every rank has its part, so many numbers per site: this rank's own, which may reach over the lattice's
/// edges. Collective.
HostReals collected(std::span<const double> part, std::size_t reals_per_site, const runtime::Decomposition& decomposition, const Box& box);
HostGauge collected(const HostGauge& part, const runtime::Decomposition& decomposition, const Box& box);

}  // namespace quarkstar::c

struct qs_session {
  std::shared_ptr<quarkstar::c::Context> context;
};
struct qs_gauge : quarkstar::c::Gauge {};
struct qs_operator : quarkstar::c::Operator {};
struct qs_eigenvectors {
  std::shared_ptr<quarkstar::c::Eigenvectors> kept;
};
