#include "apps/bench/bench_options.hpp"

#include "apps/bench/action_bench.hpp"
#include "apps/run/check_action.hpp"
#include "apps/run/device_plan.hpp"
#include "apps/run/report.hpp"
#include "codelets/actions/session_tuning.hpp"
#include "codelets/arch/block_threads.hpp"
#include "codelets/arch/dispatch.hpp"
#include "codelets/bench/stream_cuda.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/system/error.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/solver_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quarkstar::app {

using Json = nlohmann::ordered_json;
using Kind = runtime::Worker::Kind;

namespace {

/// CPU workers that own blocks, or may.
std::vector<int> cpu_owners(const runtime::Session& session) {
  return session.gpu_count() == 0 || cpus_may_own(session.options()) ? session.cpu_workers() : std::vector<int>{};
}

}  // namespace

BenchMemory measure_memory(double array_megabytes, int repetitions, const runtime::Session& session) {
  const auto bytes = static_cast<std::size_t>(array_megabytes * 1e6);
  BenchMemory memory;
  for (const runtime::Worker& worker : session.workers())
    if (worker.kind == Kind::cuda) memory.owners_triad += bench::measure_triad_on_gpu(worker.device, bytes, repetitions);
  const std::vector<int> owners = cpu_owners(session), all = session.cpu_workers();
  if (all.empty()) return memory;
  memory.cpu = bench::measure_stream(owners.empty() ? std::vector<int>{all.front()} : owners, bytes, repetitions);
  if (owners.empty()) return memory;
  memory.owners_triad += memory.cpu.best_triad();
  memory.owners_read = memory.cpu.read;
  return memory;
}

void measure_peak(BenchMemory& memory, int repetitions, const runtime::Session& session) {
  const std::vector<int> owners = cpu_owners(session);
  if (!owners.empty()) memory.owners_peak = bench::measure_fused_peak(owners, repetitions);
}

Json peak_json(const BenchMemory& memory) {
  const auto known = [](double gflops) { return gflops > 0 ? Json(gflops) : Json(); };
  return {{"single", known(memory.owners_peak.single)}, {"double", known(memory.owners_peak.double_)}};
}

namespace {

/// Threads are chosen where one size is measured; the subcommands' own lattices are large.
runtime::SessionOptions tuned_options(const runtime::SessionOptions& session, const BenchOptions& options) {
  if (options.no_tune) return with_cpu_kernels(session, KernelTuning::rule);
  const std::vector<Coord>& lattices = options.lattices;
  const bool is_large = lattices.empty() || std::any_of(lattices.begin(), lattices.end(), is_worth_measuring_kernels);
  runtime::SessionOptions tuned = with_cpu_kernels(session, is_large ? KernelTuning::measure : KernelTuning::known);
  const std::vector<int> vectors = numbers_of_right_hand_sides(options);
  if (lattices.size() == 1 && vectors.size() == 1)
    tuned.threads_per_worker = choose_threads(tuned, {lattices.front(), kind_named(options.action).components, vectors.front()});
  return tuned;
}

}  // namespace

void for_devices(const BenchOptions& options, const std::function<void(const std::string&, runtime::Session&)>& body) {
  const runtime::SessionOptions& asked = options.session;
  const auto run = [&](const runtime::SessionOptions& session_options) {
    runtime::Session session(tuned_options(session_options, options));
    body(session.gpu_count() == 0 ? "cpu" : cpus_may_own(session.options()) ? "all" : "cuda", session);
  };
  if (asked.devices != "all") return run(asked);
  runtime::SessionOptions alone = asked;
  alone.cpu_share.reset();
  alone.measure_cpu_share = false;
  alone.devices = "cpu";
  alone.cuda_workers = 0;
  run(alone);
  const std::vector<runtime::GpuDescription> gpus = runtime::gpus();
  if (asked.cuda_workers == 0 || std::none_of(gpus.begin(), gpus.end(), [](const auto& gpu) { return gpu.obstacle.empty(); })) return;
  alone.devices = "cuda";
  alone.cuda_workers = asked.cuda_workers;
  run(alone);
  if (asked.cpu_share.value_or(1) > 0) run(asked);
}

Json machine_facts(const runtime::Session& session) {
  Json gpus = Json::array();
  int threads = 0;
  for (const runtime::Worker& worker : session.workers()) {
    if (worker.kind == Kind::cuda) gpus.push_back(worker.name);
    else if (threads == 0) threads = worker.team.threads();
  }
  return {{"cpu", session.topology().cpu_model()},
          {"threads", threads},
          {"gpus", gpus},
          {"architecture", arch::name_of(arch::current())},
          {"versions", version_line()}};
}

namespace {

/// What flags give, else what goes by rule.
arch::MemoryAccess memory_of(const BenchOptions& options, const arch::MemoryAccess& rule) {
  return {options.prefetch.value_or(rule.prefetch), options.stores.value_or(rule.stores)};
}

int vectors_in_lanes_of(const BenchOptions& options, const runtime::Decomposition& decomposition, const Action& action,
                        const SolverSettings& settings, int vectors) {
  const auto by_rule = [&] { return vectors_in_lanes_for(decomposition, action.components(), action.slices(), settings, {&vectors, 1}); };
  if (!options.vectors_in_lanes) return options.lanes ? 1 : by_rule();
  SolverSettings possible = settings;
  if (action.components() == colour_components) possible.precision = Precision::single;  // in half precision it can be, but is not chosen
  const int most = most_vectors_in_lanes(action.components(), possible, {&vectors, 1}, action.slices());
  const int wanted = *options.vectors_in_lanes;
  if (action.slices() > 1 ? wanted != 1 && wanted != most : wanted > most || vectors % wanted != 0)
    throw Error(ErrorKind::input, "--vectors-in-lanes", fmt::format("{} for {} right-hand sides, where {} can be", wanted, vectors, most),
                action.components() == spinor_components
                    ? "give --nrhs of whole groups, --links 18 or 12, --precision single and --devices cuda"
                    : "give --nrhs of whole groups, --links 18, --solver cg and --devices cpu");
  if (wanted == 1 || action.components() == spinor_components || settings.precision == Precision::half) return wanted;
  return std::min(wanted, by_rule());  // fewer fill a line in double precision
}

}  // namespace

Speed speed_of(const BenchOptions& options, const runtime::Decomposition& decomposition, const Action& action,
               const SolverSettings& settings, int vectors) {
  Speed speed{.vectors = vectors,
              .tile = options.tile,
              .most_lanes = options.lanes,
              .vectors_in_lanes = vectors_in_lanes_of(options, decomposition, action, settings, vectors),
              .measure = !options.no_tune};
  if (!options.block_threads && !options.vectors_a_thread && !options.tile && !options.prefetch && !options.stores && !options.lanes)
    return speed;
  speed.tile = options.tile.value_or(Coord{});
  speed.launch = {options.block_threads.value_or(0), options.vectors_a_thread.value_or(0),
                  memory_of(options, action.usual_launch(vectors).memory)};
  return speed;
}

Json stream_json(const BenchMemory& memory) {
  const bench::StreamResult& s = memory.cpu;
  return {
      {"triad_gbs", s.triad}, {"triad_streaming_gbs", s.triad_streaming}, {"copy_streaming_gbs", s.copy_streaming}, {"read_gbs", s.read}};
}

void print_stream(const BenchMemory& memory) {
  const bench::StreamResult& s = memory.cpu;
  fmt::print("triad {:.1f} GB/s, with streaming stores {:.1f}; copy {:.1f}; read {:.1f}\n", s.triad, s.triad_streaming, s.copy_streaming,
             s.read);
  if (memory.owners_peak.single > 0)
    fmt::print("fused multiply-adds {:.1f} GFLOP/s in single, {:.1f} in double precision\n", memory.owners_peak.single,
               memory.owners_peak.double_);
}

std::string bound_text(const DevicePlan& plan, double gflops) {
  const double bound = plan.bound_gflops();
  if (bound == 0) return "-";
  std::vector<std::string> parts;
  for (const DevicePart& part : plan.parts)
    parts.push_back(fmt::format("{} {} {:.1f}", part.name, fmt::join(part.extents, "x"), part.gflops_alone));
  return fmt::format("{:.1f} % of {:.1f} ({}); {}", 100 * gflops / bound, bound, fmt::join(parts, " + "), plan.reason);
}

void check_case(const BenchOptions& options) {
  links_of(options);
  if (options.block_threads) arch::require_block_size(*options.block_threads);
  if (!options.lanes) return;
  if (options.vectors_in_lanes.value_or(1) > 1)
    throw Error(ErrorKind::input, "--lanes", "lanes of sites, where --vectors-in-lanes has right-hand sides in them",
                "give one of the two");
  for (const std::string& precision : options.precisions) {
    const std::vector<int> known = precision == "double" ? std::vector<int>{8, 4} : std::vector<int>{16, 8};
    if (std::find(known.begin(), known.end(), *options.lanes) == known.end())
      throw Error(ErrorKind::input, "--lanes", fmt::format("there is no layout of {} lanes in {} precision", *options.lanes, precision),
                  fmt::format("use {}, or give another --precision", fmt::join(known, " or ")));
  }
}

std::vector<int> links_of(const BenchOptions& options) {
  const ActionKind& kind = kind_named(options.action);
  for (const int reals : options.links)
    if (std::find(kind.link_reals.begin(), kind.link_reals.end(), reals) == kind.link_reals.end())
      throw Error(ErrorKind::input, "--links", fmt::format("{} reals are not for the action {}", reals, options.action),
                  fmt::format("use {}", fmt::join(kind.link_reals, ", ")));
  return options.links.empty() ? kind.bench_links : options.links;
}

std::vector<int> numbers_of_right_hand_sides(const BenchOptions& options) {
  return options.nrhs.empty() ? kind_named(options.action).bench_numbers : options.nrhs;
}

std::vector<std::string> solvers_of(const BenchOptions& options) {
  const ActionKind& kind = kind_named(options.action);
  const std::vector<std::string> known = solver_names_of(kind);
  for (const std::string& solver : options.solvers)
    if (std::find(known.begin(), known.end(), solver) == known.end())
      throw Error(ErrorKind::input, "--solver", fmt::format("'{}' is not for the action {}", solver, options.action),
                  fmt::format("use {}", fmt::join(known, ", ")));
  return options.solvers.empty() ? kind.bench_solvers : options.solvers;
}

RunConfig asked_of(const BenchOptions& options) {
  RunConfig config;
  config.action = &kind_named(options.action);
  apply_settings(config, *options.settings);
  check_applicable(config);
  const ActionKind& kind = *config.action;
  const SettingValues settings = benchmarked(kind, config.settings);
  kind.check(settings);
  const auto refuse_mass = [&kind](const std::string& what, const std::string& remedy) {
    throw Error(ErrorKind::input, fmt::format("--{}", kind.mass_key), what, remedy);
  };
  const std::vector<double> masses = kind.masses(settings);
  if (masses.size() != 1) refuse_mass(fmt::format("{} values, where all right-hand sides have one", masses.size()), "give one");
  if (!(masses[0] >= kind.bench_mass.least && masses[0] <= kind.bench_mass.most))
    refuse_mass(fmt::format("{} is out of range", masses[0]), fmt::format("use {:g} to {:g}", kind.bench_mass.least, kind.bench_mass.most));
  return config;
}

void add_operator_flags(CLI::App& command, const std::shared_ptr<BenchOptions>& options) {
  for (const Setting& setting : run_settings())
    if (is_operator_setting(setting.key)) add_setting_flag(command, setting, options->settings);
  std::vector<std::string> usual;
  for (const ActionKind* kind : action_kinds())
    usual.push_back(fmt::format("{} --{} {:g}", kind->name, kind->mass_key, kind->bench_mass.usual));
  command.footer(fmt::format("Links are those of a hot configuration, and without a flag: {}.", fmt::join(usual, ", ")));
}

void add_action_flags(CLI::App& command, const std::shared_ptr<BenchOptions>& options) {
  command.add_option("--action", options->action, fmt::format("{}", fmt::join(action_names(), ", ")))
      ->check(CLI::IsMember(action_names()))
      ->capture_default_str();
  command.add_option("--nrhs", options->nrhs, "Right-hand sides in one application (default 1, staggered 1 2 4 8 16)")
      ->check(CLI::Range(1, 32));
}

void add_layout_flags(CLI::App& command, const std::shared_ptr<BenchOptions>& options) {
  command
      .add_option("--vectors-a-thread", options->vectors_a_thread,
                  "Right-hand sides of a GPU thread (Wilson: of a thread block), 0: the kernel's own choice (default: tuned)")
      ->check(CLI::IsMember({0, 1, 2, 3, 4, 8}));
  command
      .add_option("--vectors-in-lanes", options->vectors_in_lanes,
                  "Staggered on CPUs, Wilson on GPUs: right-hand sides that lie in lanes: 16, 12 (Wilson), 8, or 1: sites do; domain "
                  "wall and moebius on GPUs: all slices, or 1 (default: as a solve has them)")
      ->check(CLI::IsMember({1, 8, 12, 16}));
}

void add_case_flags(CLI::App& command, const std::shared_ptr<BenchOptions>& options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--lattice",
          [options](const std::vector<std::string>& values) {
            for (const std::string& value : values) options->lattices.push_back(coord_of_flag("--lattice", value, 2));
          },
          "Extents, one lattice or several")
      ->type_name("X,Y,Z,T");
  command
      .add_option_function<std::string>(
          "--tile", [options](const std::string& value) { options->tile = coord_of_flag("--tile", value, 0); },
          "Order of sites in memory: extents of a tile of outer sites, 0: no limit (default: tuned)")
      ->type_name("X,Y,Z,T");
  command.add_flag("--no-tune", options->no_tune, "Speed settings by fixed rules: read and write no tune cache, measure nothing");
  command.add_option("--block-threads", options->block_threads,
                     "Threads of a GPU block (staggered: at most), 32 to 256, 0: the kernel's own choice (default: tuned)");
  command
      .add_option("--prefetch", options->prefetch, "CPUs: 1: kernels ask for the lines of hops to come, 0: they do not (default: tuned)")
      ->check(CLI::IsMember({0, 1}));
  const auto take_stores = [options](const std::string& value) {
    options->stores = value == "streaming" ? arch::Stores::streaming : arch::Stores::plain;
  };
  command
      .add_option_function<std::string>("--stores", take_stores, "CPUs: plain stores, or streaming ones past the caches (default: tuned)")
      ->check(CLI::IsMember({"plain", "streaming"}));
  command.add_option("--links", options->links, "Stored reals of a link (default 18 and 12; of a staggered long link 18)")
      ->check(CLI::IsMember({18, 14, 13, 12, 9, 8}));
  add_precision_flag(command, options);
}

void add_precision_flag(CLI::App& command, const std::shared_ptr<BenchOptions>& options) {
  command.add_option("--precision", options->precisions, "half, single, double")->check(CLI::IsMember({"half", "single", "double"}));
}

}  // namespace quarkstar::app
