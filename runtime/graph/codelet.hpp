#pragma once
// A codelet: one kind of work with a CPU and, where the build has CUDA, a GPU implementation; and the call that submits it.
#include "runtime/graph/codelet_kind.hpp"
#include "runtime/graph/cost.hpp"
#include "runtime/graph/handle.hpp"
#include "runtime/system/team.hpp"

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct starpu_codelet;

namespace quarkstar::runtime {

class GpuTimes;
struct SumExchange;

/// What an implementation sees while it runs.
class Call {
 public:
  Call(void* const* buffers, const void* arguments, const Team* team, void* stream, int worker)
      : buffers_(buffers), arguments_(arguments), team_(team), stream_(stream), worker_(worker) {}

  /// Memory of the i-th access, in the order of submission, on this worker's memory node.
  template <class T>
  T* buffer(int i) const {
    return static_cast<T*>(buffers_[i]);
  }
  template <class Arguments>
  const Arguments& arguments() const {
    return *static_cast<const Arguments*>(arguments_);
  }

  const Team& team() const { return *team_; }  ///< CPU workers only
  void* stream() const { return stream_; }     ///< cudaStream_t; CUDA workers only
  int worker() const { return worker_; }

  /// The call of one part of a fused task, which has its own buffers and arguments on the same worker.
  Call part(void* const* buffers, const void* arguments) const { return Call(buffers, arguments, team_, stream_, worker_); }
  /// A fused task records its parts itself.
  void record_parts() { parts_recorded_ = true; }
  bool parts_recorded() const { return parts_recorded_; }

  /// Where a fused task on a GPU leaves its parts; nullptr on CPU workers.
  GpuTimes* gpu_times() const { return gpu_times_; }
  void set_gpu_times(GpuTimes* times) { gpu_times_ = times; }

  /// Where a scalar step that several GPUs take meets the others; its buffers are then nullptr where partial sums are theirs. Otherwise
  /// nullptr.
  const SumExchange* exchange() const { return exchange_; }
  void set_exchange(const SumExchange* exchange) { exchange_ = exchange; }

  /// The handle of a conditional part of a CUDA graph that a scalar step is to let run where a refresh is due; 0: none.
  unsigned long long refresh_condition() const { return refresh_condition_; }
  void set_refresh_condition(unsigned long long condition) { refresh_condition_ = condition; }

  /// The graph had been stopped, so nothing was done: the task must not count as work.
  void skip() { skipped_ = true; }
  bool skipped() const { return skipped_; }

 private:
  void* const* buffers_;
  const void* arguments_;
  const Team* team_;
  void* stream_;
  int worker_;
  bool skipped_ = false, parts_recorded_ = false;
  GpuTimes* gpu_times_ = nullptr;
  const SumExchange* exchange_ = nullptr;
  unsigned long long refresh_condition_ = 0;
};

/// Implementations must not throw: an exception cannot cross the runtime. Check arguments before submission.
using Implementation = void (*)(Call&);

/// Lives as long as the program (declare it with static storage duration).
class Codelet {
 public:
  /// name: appears in traces and performance models; one for each operator, precision and link format that is timed apart.
  /// cuda: nullptr where there is none; such a codelet runs on CPU workers only.
  Codelet(std::string name, CodeletKind kind, Implementation cpu, Implementation cuda = nullptr);
  Codelet(std::string name, Implementation cpu, Implementation cuda = nullptr) : Codelet(std::move(name), CodeletKind::other, cpu, cuda) {}
  ~Codelet();
  Codelet(const Codelet&) = delete;
  Codelet& operator=(const Codelet&) = delete;

  const char* name() const { return name_.c_str(); }
  CodeletKind kind() const { return kind_; }
  Implementation cpu() const { return cpu_; }
  Implementation cuda() const { return cuda_; }
  starpu_codelet* native() const { return native_; }

 private:
  std::string name_;
  CodeletKind kind_;
  Implementation cpu_, cuda_;
  starpu_codelet* native_;
};

/// One use of a handle by a task.
struct Access {
  enum class Mode { in, out, inout };
  const Handle* handle;
  Mode mode;
  bool apart = false;  ///< writes no byte that the latest writers touch: where nothing else needs an order, both may run at once
};
inline Access in(const Handle& handle) { return {&handle, Access::Mode::in}; }
inline Access out(const Handle& handle) { return {&handle, Access::Mode::out}; }
inline Access inout(const Handle& handle) { return {&handle, Access::Mode::inout}; }
inline Access inout_apart(const Handle& handle) { return {&handle, Access::Mode::inout, true}; }
using AccessList = std::vector<Access>;

/// What becomes of a task once the graph has stopped, for those who count what was done (solvers/krylov/work_ledger.hpp).
enum class Role : std::uint8_t {
  work,          ///< runs, or works until the graph stops
  refresh,       ///< works only while a refresh is due
  step,          ///< a scalar step, which may stop the graph
  refresh_step,  ///< the scalar step that ends a refresh
};

/// Where and how urgently a task should run.
struct Placement {
  int owner = 0;            ///< worker that owns the block; policies that keeps_owners() obey it, others within only_on_gpus()
  int block = -1;           ///< for traces
  bool urgent = false;      ///< others wait for its result (packs, boundaries, scalars)
  bool everywhere = false;  ///< a small step whose result every owner needs: several GPUs may each compute it from the same numbers
  Role role = Role::work;
};

/// Whether only GPUs may run the task, whatever the policy: it has a GPU version, belongs to a GPU's block, and CPUs were not asked to join
/// (Session::cpus_join()).
bool only_on_gpus(const Codelet& codelet, const Placement& placement);

namespace detail {
void submit(const Codelet& codelet, const void* arguments, std::size_t size, std::span<const Access> accesses, Cost cost,
            Placement placement);
}

/// Arguments to fill in member by member, all zeros, also in gaps between members: batches are told apart by the bytes of their tasks'
/// arguments, and what chance leaves in a gap would make the same work another batch, whose CUDA graph must be made.
template <class Arguments>
Arguments blank() {
  static_assert(std::is_trivially_copyable_v<Arguments>);
  Arguments arguments;
  std::memset(static_cast<void*>(&arguments), 0, sizeof arguments);
  return arguments;
}

/// Submits one task. arguments: a trivially copyable structure, copied now; without gaps, or from blank(). Order between tasks follows from
/// their accesses, as in a sequential program. Costs about 1 us plus 1 us for each tracked handle.
template <class Arguments>
void submit(const Codelet& codelet, const Arguments& arguments, const AccessList& accesses, Cost cost = {}, Placement placement = {}) {
  static_assert(std::is_trivially_copyable_v<Arguments>);
  detail::submit(codelet, &arguments, sizeof arguments, accesses, cost, placement);
}

}  // namespace quarkstar::runtime
