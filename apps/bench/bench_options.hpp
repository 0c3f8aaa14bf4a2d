#pragma once
// What the subcommands of `quarkstar bench` share: flags, devices, and the bandwidth that speeds are compared with.
#include "apps/bench/extra_solves.hpp"
#include "apps/command/commands.hpp"
#include "apps/run/config.hpp"
#include "apps/run/device_plan.hpp"
#include "apps/run/session_defaults.hpp"
#include "codelets/actions/action_kind.hpp"
#include "codelets/bench/stream.hpp"
#include "runtime/cut/coord.hpp"
#include "runtime/graph/session.hpp"
#include "solvers/eigen/lanczos.hpp"
#include "solvers/settings.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app {

struct BenchOptions {
  runtime::SessionOptions session = session_defaults();
  bool json = false;
  int repetitions = 5;
  double array_megabytes = 256;
  std::vector<Coord> lattices;  ///< none: the subcommand's own
  std::vector<int> links;       ///< none: 18 and 12, staggered 18
  std::string action{action_kinds().front()->name};
  std::vector<int> nrhs;                ///< right-hand sides together; none: numbers_of_right_hand_sides()
  std::optional<Coord> tile;            ///< none: tuned
  std::optional<int> block_threads;     ///< none: tuned
  std::optional<int> vectors_a_thread;  ///< none: tuned
  std::optional<int> lanes;             ///< of `bench dslash`: at most so many in the layout; none: choose_lane_grid()'s own
  std::optional<int> vectors_in_lanes;  ///< none: as a solve has them, with `lanes` none in lanes
  std::optional<int> prefetch;          ///< none: tuned
  std::optional<arch::Stores> stores;   ///< none: tuned
  bool no_tune = false;
  std::vector<std::string> precisions{"half", "single", "double"};
  std::vector<std::string> solvers;                                    ///< none: bicgstab and cgnr, staggered cg
  Coord blocks{};                                                      ///< zeros: as a solve cuts
  int iterations = 0;                                                  ///< 0: 512 on GPUs, 64 on CPUs
  ExtraSolves extra;                                                   ///< of `bench solver`
  Assignments settings = std::make_shared<std::vector<Assignment>>();  ///< a solve's: of the action, and of multigrid
  EigenSettings eigen{.modes = 16};                                    ///< of `bench eigen`,
  int restarts = 2;                                                    ///< after which its solve ends
  std::string graph;                                                   ///< file of `bench replay`,
  int groups = 1;                                                      ///< copies of it,
  double volume = 1;                                                   ///< and how many times as many sites
};

/// Bandwidth of the memory behind a session's blocks.
struct BenchMemory {
  bench::StreamResult cpu;       ///< of the CPU workers that own blocks, or may, together; where GPUs own all, of the first CPU worker
  double owners_triad = 0;       ///< best triad, GB/s, summed over the workers that own blocks, or may (CPUs beside GPUs)
  double owners_read = 0;        ///< GB/s of reading alone, of the same workers but GPUs
  bench::FusedPeak owners_peak;  ///< of the same workers but GPUs; where it was asked for
};
/// Bandwidths only. CPU workers are measured at once, each by its own team (bench::measure_stream()).
BenchMemory measure_memory(double array_megabytes, int repetitions, const runtime::Session& session);
/// Adds the arithmetic peak.
void measure_peak(BenchMemory& memory, int repetitions, const runtime::Session& session);
/// The bandwidths of the CPU, and where it is known the peak, as text.
void print_stream(const BenchMemory& memory);
nlohmann::ordered_json stream_json(const BenchMemory& memory);
/// null: not known, as where GPUs own all blocks.
nlohmann::ordered_json peak_json(const BenchMemory& memory);

/// Calls body(devices, session) in a session for each set of devices that --devices names: "cpu", "cuda", and for `all` these two, then
/// "all", CPUs and GPUs together. Without GPUs `all` is "cpu". Throws Error(environment) for --devices cuda without a GPU.
void for_devices(const BenchOptions& options, const std::function<void(const std::string& devices, runtime::Session& session)>& body);

/// "machine" of the JSON: processor, GPUs, threads, versions.
nlohmann::ordered_json machine_facts(const runtime::Session& session);

/// What flags give of a solve's; where they give something, the rest goes by rule, but for what is in lanes: of a solve with
/// these settings on this decomposition. vectors: right-hand sides. Throws Error(input) for vectors in lanes where there are no kernels.
Speed speed_of(const BenchOptions& options, const runtime::Decomposition& decomposition, const Action& action,
               const SolverSettings& settings, int vectors);

/// Adds --precision.
void add_precision_flag(CLI::App& command, const std::shared_ptr<BenchOptions>& options);
/// Adds --lattice, --tile, --block-threads, --prefetch, --stores, --no-tune, --links and --precision; `options` must outlive the parsing.
void add_case_flags(CLI::App& command, const std::shared_ptr<BenchOptions>& options);

/// Speed over the sum of the parts' Dslashes alone: "95.1 % of 3120.4 (GPU 8x8x8x12 3000.0 + CPU 8x8x8x4 120.4); why";
/// "-": not measured.
std::string bound_text(const DevicePlan& plan, double gflops);

/// Links of --links, or the action's own. Throws Error(input) for links that the action's Dslash does not know.
std::vector<int> links_of(const BenchOptions& options);

/// Before anything is measured: throws Error(input) for flags of a case that its kernels do not know.
void check_case(const BenchOptions& options);

/// Solvers of --solver, or the action's own. Throws Error(input) for solvers that are not the action's.
std::vector<std::string> solvers_of(const BenchOptions& options);

/// --nrhs, or what is usual for the action.
std::vector<int> numbers_of_right_hand_sides(const BenchOptions& options);

/// A run with `settings`. Throws Error(input) naming the flag for those of other actions, values that exclude each other, and masses that
/// the action cannot have on a hot configuration, or more than one.
RunConfig asked_of(const BenchOptions& options);

/// Adds a flag for every setting of an action's operator.
void add_operator_flags(CLI::App& command, const std::shared_ptr<BenchOptions>& options);
/// Adds --action and --nrhs.
void add_action_flags(CLI::App& command, const std::shared_ptr<BenchOptions>& options);
/// Adds --vectors-a-thread and --vectors-in-lanes.
void add_layout_flags(CLI::App& command, const std::shared_ptr<BenchOptions>& options);

/// `quarkstar bench dslash`.
void run_bench_dslash(const BenchOptions& options);

/// `quarkstar bench blas`.
void run_bench_blas(const BenchOptions& options);

/// `quarkstar bench solver`.
void run_bench_solver(const BenchOptions& options);

/// `quarkstar bench multigrid`.
void run_bench_multigrid(const BenchOptions& options);

/// `quarkstar bench eigen`.
void run_bench_eigen(const BenchOptions& options);

/// `quarkstar-sim bench replay`.
void run_bench_replay(const BenchOptions& options);

}  // namespace quarkstar::app
