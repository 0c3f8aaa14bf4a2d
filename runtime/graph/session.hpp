#pragma once
// Start and stop of the task runtime: which workers exist, what they command, and which policy places tasks.
#include "runtime/observe/events.hpp"
#include "runtime/system/power.hpp"
#include "runtime/system/team.hpp"
#include "runtime/system/throttle.hpp"
#include "runtime/system/topology.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::runtime {

namespace mpi {
class Messages;
}

/// How CPU cores become workers.
enum class WorkerMode {
  per_domain,  ///< one worker for each NUMA domain, commanding an OpenMP team on its cores (the default)
  per_core     ///< one worker for each core, one thread each
};

struct SessionOptions {
  WorkerMode mode = WorkerMode::per_domain;
  int cpu_workers = 0;         ///< 0: as `mode` says; otherwise exactly this many
  int threads_per_worker = 0;  ///< 0: the cores shared evenly; more threads than cores share cores
  int cuda_workers =
      -1;  ///< GPUs of each rank; -1: all that the driver shows, divided among the ranks of the host; 0: none; see gpu_numbers
  bool share_gpus = false;            ///< several ranks may use one GPU
  std::string policy = "static";      ///< a name (runtime/policy/policy.hpp), or the path of a shared library
  int watchdog_seconds = 600;         ///< end the job when nothing completes for so long; 0: never
  bool keep_events = false;           ///< record every task for traces and timelines (about 50 ns per task)
  std::string devices{};              ///< which devices own blocks, as asked for: cpu, cuda, all, numbers of GPUs; "": not asked
  std::optional<double> cpu_share{};  ///< part of the lattice that CPU workers own beside GPUs, 0..1; none: see cpu_share_is_open()
  bool measure_cpu_share = false;     ///< cpu-share auto, beside any GPUs
  std::vector<int> gpu_numbers{};  ///< which GPUs, as the driver counts, divided among the ranks of the host; empty: the first cuda_workers
  std::size_t gpu_memory = 0;      ///< bytes that a rank's fields may take on each GPU; 0: 90 % of it or what is free, shared by its ranks
  MachinePower power{};            ///< for policies that weigh joules
  bool join_on_cpus =
      false;  ///< join the tasks of several owners between their exchanges (runtime/graph/segments.hpp) also where no GPU owns a block
  bool time_kernels = false;  ///< for traces: of the batches that GPUs replay, time each kernel in every eighth, and the others as a whole
  int lane_bytes = 64;        ///< 64 or 32, for this rank's CPU (arch::lane_bytes()): see Session::lane_bytes()
  std::vector<Throttle> throttles{};  ///< CPU workers of each rank that are to look slower, for experiments
};

/// Whether the share of the CPUs is to be found by measurement: that, or all devices, were asked for and no share was
/// given.
inline bool cpu_share_is_open(const SessionOptions& options) {
  return !options.cpu_share && (options.measure_cpu_share || options.devices == "all");
}

/// Whether CPUs were asked to share the work with the GPUs of a session: what Session::cpus_join() begins with.
inline bool cpus_join_gpus(const SessionOptions& options) { return options.cpu_share.value_or(0) > 0 || cpu_share_is_open(options); }

struct Worker {
  enum class Kind { cpu, cuda };
  Kind kind = Kind::cpu;
  int device = 0;  ///< NUMA domain or GPU number
  Team team{std::vector<int>{}};
  double bandwidth_gbs = 0;  ///< prediction for cost models, GB/s
  PowerDraw power;           ///< of its part of SessionOptions::power
  std::string name;
};

/// The runtime between construction and destruction. One at a time in a process; another may follow it.
class Session {
 public:
  /// Ranks of one host that have the same cores, or see the same GPUs, divide them. Collective: under MPI all ranks start their sessions
  /// together, and try each other's GPU memory.
  /// Throws Error(input) for two ranks on one GPU unless asked for, for an unknown policy (listing the known ones) and for numbers of
  /// workers or threads that are negative or more than StarPU was built for, Error(environment) when StarPU cannot start.
  explicit Session(const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The running session. Throws Error(internal) when there is none.
  static Session& current();
  static bool is_running();

  const SessionOptions& options() const { return options_; }
  const std::vector<Worker>& workers() const { return workers_; }
  const Worker& worker(int id) const { return workers_[static_cast<std::size_t>(id)]; }
  /// Workers that own blocks: the GPUs where the session has any (CPU workers then serve what has no GPU version), else all.
  int block_owners() const { return gpu_count_ > 0 ? gpu_count_ : static_cast<int>(workers_.size()); }
  int gpu_count() const { return gpu_count_; }
  /// Whether policies may give tasks of GPUs' blocks to CPUs, too.
  bool cpus_join() const { return cpus_join_; }
  /// Decides that for the fields that are made from now on; none that were made before may be in use.
  void let_cpus_join(bool join) { cpus_join_ = join; }
  /// Bytes that one component of a field should fill in a layout, the same on all ranks, which exchange faces: 64, a line, where any has a
  /// GPU; else the most that any rank's options ask for.
  int lane_bytes() const { return lane_bytes_; }
  /// Ids of the CPU workers; GPU workers have the ids 0 .. gpu_count() - 1.
  std::vector<int> cpu_workers() const;
  /// The threads of the first CPU worker, for work on the host. Throws Error(environment) when there is none.
  const Team& cpu_team() const;
  /// Bytes that fields may take on a GPU worker's device.
  std::size_t device_memory(int worker) const;
  /// Divides other watts among the workers than the options gave. Call when no task is running.
  void set_power(const MachinePower& power);
  /// Watts that no worker accounts for.
  double host_watts() const { return options_.power.host; }
  const Topology& topology() const { return topology_; }
  Events& events() { return *events_; }
  Throttler& throttler() { return throttler_; }
  /// Between this rank's graph and the others'; nullptr where the job has one rank.
  mpi::Messages* messages() { return messages_.get(); }

  /// Whether every task runs on the worker that it is placed on: the policy keeps_owners(), or OnOwners is there.
  bool keeps_owners() const;

  /// Blocks until every submitted task has run and every message has been completed. Not for use inside a solver's iteration.
  void wait_all();

 private:
  friend class OnOwners;
  void share_cores();
  void plan_gpus();
  void plan_workers();
  void agree_on_lanes();
  void place_workers();
  void share_power();
  std::string obstacle_to_gpu_messages() const;

  SessionOptions options_;
  bool cpus_join_, on_owners_ = false;
  Topology topology_;
  int gpu_count_ = 0, ranks_a_gpu_ = 1, lane_bytes_ = 64;
  std::vector<int> gpu_numbers_;  ///< of this rank, as the driver counts
  std::vector<int> gpu_nodes_;    ///< memory nodes near them, -1: not known
  std::vector<int> gpu_cores_;
  std::vector<Worker> workers_;
  std::unique_ptr<Events> events_;
  Throttler throttler_;
  std::unique_ptr<mpi::Messages> messages_;
};

/// While one is there tasks run on the workers that they are placed on, under any policy: for measurements of one worker. No other work
/// should be on the graph.
class OnOwners {
 public:
  explicit OnOwners(Session& session) : session_(session) { session_.on_owners_ = true; }
  ~OnOwners() { session_.on_owners_ = false; }
  OnOwners(const OnOwners&) = delete;
  OnOwners& operator=(const OnOwners&) = delete;

 private:
  Session& session_;
};

/// Version and build facts of the runtime underneath, e.g. "StarPU 1.4.10 (CUDA)".
std::string runtime_version();

}  // namespace quarkstar::runtime
