#include "runtime/graph/session.hpp"

#include "runtime/gpu/cuda.hpp"
#include "runtime/gpu/end_of_session.hpp"
#include "runtime/gpu/gpu_affinity.hpp"
#include "runtime/gpu/sum_exchange.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/host_memory.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/observe/codelet_costs.hpp"
#include "runtime/observe/decisions.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/simulate/rank_times.hpp"
#include "runtime/simulate/simulate.hpp"
#include "runtime/system/environment.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/large_pages.hpp"
#include "runtime/system/sanitizer.hpp"
#include "runtime/system/stderr_filter.hpp"
#include "runtime/system/switch_variable.hpp"
#include "runtime/system/watchdog.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <spdlog/spdlog.h>
#include <starpu.h>
#include <starpu_scheduler.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>

namespace quarkstar::runtime {
namespace {

Session* running = nullptr;
std::unique_ptr<EnvironmentChanges> environment;  ///< while a session runs

/// Where StarPU keeps what it measures of buses: this user's cache, else a temporary folder, for StarPU ends the program where it cannot
/// write.
std::string model_folder() {
  namespace fs = std::filesystem;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::error_code error;
  fs::path folder = cache != nullptr && *cache != 0 ? fs::path(cache)
                    : home != nullptr && *home != 0 ? fs::path(home) / ".cache"
                                                    : fs::path();
  if (!folder.empty()) {
    folder = folder / "quarkstar" / "starpu";
    fs::create_directories(folder, error);
    if (!error && access(folder.c_str(), W_OK) == 0) return folder.string();
  }
  return (fs::temp_directory_path(error) / fmt::format("quarkstar-starpu-{}", getuid())).string();
}

/// StarPU looks for models in the folder where it was installed, and warns where that is missing, as it is on any machine but the one that
/// built it. Nothing turns the warning off.
int start_runtime(starpu_conf& conf) {
  std::optional<StderrFilter> quiet;
  // With other ranks, which end in any order.
  const bool shares_stderr = simulate::active && mpi::Job::current().is_distributed();
  if (std::error_code error; !shares_stderr && !std::filesystem::is_directory(QUARKSTAR_STARPU_MODELS, error))
    quiet.emplace("as set by installation directory does not exist");
  return starpu_init(&conf);
}

/// Policy heteroprio keeps what it has learnt of kinds of tasks in a file, for the next run of the program, and aborts when there are more
/// than 100: so each session gets a file of its own, unless the user names one.
constexpr const char* heteroprio_variable = "STARPU_HETEROPRIO_DATA_FILE";
std::string heteroprio_file() {
  std::error_code error;
  return (std::filesystem::temp_directory_path(error) / fmt::format("quarkstar-heteroprio-{}", getpid())).string();
}
void forget_heteroprio_data() noexcept try {
  std::error_code error;
  std::filesystem::remove(heteroprio_file(), error);
} catch (const std::bad_alloc&) {  // where a start has failed for want of memory it is a file that stays
}

void end_runtime() {
  starpu_shutdown();
  free_what_workers_kept();
  forget_heteroprio_data();
  environment.reset();
  running = nullptr;
}

/// Settings of StarPU that have no field in starpu_conf. A user's own environment wins.
void prepare_environment(EnvironmentChanges& environment) {
  forget_heteroprio_data();
  const char* heteroprio = std::getenv(heteroprio_variable);
  if (heteroprio == nullptr || std::string_view(heteroprio).find("quarkstar-heteroprio-") != std::string_view::npos)  // a parent's
    environment.set(heteroprio_variable, heteroprio_file());
  // By default StarPU writes clean GPU buffers back to the host for ever, which takes the bus from the solver.
  environment.set_if_absent("STARPU_MINIMUM_CLEAN_BUFFERS", "0");
  environment.set_if_absent("STARPU_TARGET_CLEAN_BUFFERS", "0");
  environment.set_if_absent("STARPU_FXT_TRACE", "0");
  environment.set_if_absent("STARPU_SILENT", "1");
  if (std::getenv("STARPU_PERF_MODEL_DIR") == nullptr) environment.set("STARPU_PERF_MODEL_DIR", model_folder());
  environment.unset("STARPU_SCHED");  // StarPU would let it win over the session's policy, and reports would name the wrong one
}

/// The limit of the session on the memory of each of its GPUs, never above the 90 % that the runtime takes by itself, nor above what is
/// free now but for a twentieth of the whole, or this rank's part of that where several share a GPU. One that a user's environment sets
/// stays where the session asks for none.
void limit_gpu_memory(EnvironmentChanges& environment, std::size_t bytes, int ranks_a_gpu, const std::vector<int>& numbers) {
  constexpr const char* name = "STARPU_LIMIT_CUDA_MEM";
  const bool users = std::getenv(name) != nullptr;
  bool needed = bytes > 0 || ranks_a_gpu > 1;
  std::size_t most = bytes > 0 ? bytes : std::numeric_limits<std::size_t>::max();
  const std::vector<GpuDescription> present = gpus();
  for (const int number : numbers) {
    const std::size_t whole = present[static_cast<std::size_t>(number)].memory_bytes, usual = whole / 10 * 9;
    const std::size_t free = free_gpu_memory(number).value_or(whole);
    const std::size_t available = std::min(usual, free - std::min(free, whole / 20));
    most = std::min(most, available / static_cast<std::size_t>(ranks_a_gpu));
    needed = needed || (available < usual && !users);
  }
  if (needed && !numbers.empty()) environment.set(name, fmt::format("{}", std::max<std::size_t>(1, most >> 20)));
}

/// Teams bind their threads. A GPU's worker has a team of one: StarPU would bind it to a core of its own choice, which a CPU team may
/// hold, and two threads that poll on one core take turns by the millisecond. As StarPU itself, not with STARPU_WORKERS_NOBIND: processes
/// that know nothing of each other would all take the first cores.
void bind_worker(void* session) {
  if (starpu_getenv_number("STARPU_WORKERS_NOBIND") > 0) return;
  happens_after(session);
  static_cast<const Session*>(session)->worker(starpu_worker_get_id_check()).team.bind();
  happens_before(session);
}

/// Of the GPUs that are here, the numbers of those that the options allow and that can be used. Collective: throws on
/// all ranks where one's options ask for others.
std::vector<int> usable_gpus(const std::vector<GpuDescription>& found, const SessionOptions& options) {
  const int all_present = static_cast<int>(found.size());
  std::vector<int> numbers = options.gpu_numbers;
  std::string obstacle = found.empty() ? obstacle_to_gpus() : "";
  if (!obstacle.empty() && options.cuda_workers != 0) spdlog::warn("no GPU can be used: {}; check the driver with nvidia-smi", obstacle);
  if (numbers.empty())
    for (int number = 0; number < all_present; ++number) {
      const std::string& of_gpu = found[static_cast<std::size_t>(number)].obstacle;
      if (of_gpu.empty()) {
        numbers.push_back(number);
        continue;
      }
      obstacle = of_gpu;
      if (options.cuda_workers != 0) spdlog::warn("GPU {} is left out: {}", number, of_gpu);
    }
  mpi::Job::current().together([&] {  // hosts may have different GPUs, and then all ranks ask each other
    for (const int number : options.gpu_numbers)
      if (number < 0 || number >= all_present || std::count(options.gpu_numbers.begin(), options.gpu_numbers.end(), number) > 1)
        throw Error(ErrorKind::environment, Parameter("devices"), fmt::format("GPU {} asked for, {} present", number, all_present),
                    "give each number once; `quarkstar machine` lists the GPUs");
      else if (const std::string& of_gpu = found[static_cast<std::size_t>(number)].obstacle; !of_gpu.empty())
        throw Error(ErrorKind::environment, Parameter("devices"), fmt::format("GPU {} asked for: {}", number, of_gpu),
                    "leave it out, or build for it with ./bootstrap build --cuda-architectures LIST");
    if (options.devices == "cuda" && numbers.empty())
      throw Error(ErrorKind::environment, Parameter("devices"),
                  obstacle.empty() ? "GPUs asked for, none present" : "GPUs asked for, none can be used: " + obstacle,
                  "use CPUs alone (devices cpu), or check the driver with nvidia-smi");
  });
  return numbers;
}

}  // namespace

bool Session::is_running() { return running != nullptr; }

Session& Session::current() {
  if (running == nullptr) throw Error(ErrorKind::internal, "Session", "no session is running", "create a runtime::Session first");
  return *running;
}

Session::Session(const SessionOptions& options)
    : options_(options), cpus_join_(cpus_join_gpus(options)), topology_(simulate::active ? simulate::topology() : Topology::discover()) {
  if (running != nullptr) throw Error(ErrorKind::internal, "Session", "a session is already running", "destroy it before starting another");
  if (starpu_is_initialized())
    throw Error(ErrorKind::environment, "Session", "the program has started StarPU itself", "shut it down before a session starts");
  // What is refused on one rank is refused on all: else the others would wait for it in what follows.
  mpi::Job& all = mpi::Job::current();
  if constexpr (!simulate::active) all.watchdog().set_idle(std::chrono::seconds(options_.watchdog_seconds));
  starpu_sched_policy* policy = nullptr;
  all.together([&] {
    policy = resolve_policy(options.policy);
    check_switches();
  });
  share_cores();
  plan_gpus();
  all.together([&] { plan_workers(); });
  agree_on_lanes();
  throttler_ = Throttler(options.throttles, gpu_count_, gpu_count_ + static_cast<int>(workers_.size()));
  auto changes = std::make_unique<EnvironmentChanges>();
  prepare_environment(*changes);
  limit_gpu_memory(*changes, options.gpu_memory, ranks_a_gpu_, gpu_numbers_);

  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.precedence_over_environment_variables = 1;
  conf.sched_policy = Decisions::watched(policy, options_.policy);
  if (conf.sched_policy == nullptr) conf.sched_policy_name = options_.policy.c_str();
  conf.ncpus = static_cast<int>(workers_.size());
  conf.ncuda = gpu_count_;
  conf.use_explicit_workers_cuda_gpuid = gpu_count_ > 0 ? 1 : 0;
  for (std::size_t g = 0; g < gpu_numbers_.size(); ++g) conf.workers_cuda_gpuid[g] = static_cast<unsigned>(gpu_numbers_[g]);
  // StarPU numbers GPU workers first.
  conf.use_explicit_workers_bindid = 1;
  for (int g = 0; g < gpu_count_; ++g) conf.workers_bindid[g] = static_cast<unsigned>(gpu_cores_[static_cast<std::size_t>(g)]);
  for (std::size_t i = 0; i < workers_.size(); ++i)
    conf.workers_bindid[static_cast<std::size_t>(gpu_count_) + i] = static_cast<unsigned>(workers_[i].team.cores().front());
  conf.catch_signals = 0;
  give_host_memory(gpu_count_ > 0 && !simulate::active);
  // Freed pages that the C library keeps stay on the memory of the domain whose team wrote them first. A field must not get another's.
  // Not in the process of another program, whose memory is its own affair.
  if (topology_.domains().size() > 1 && mpi::host() == nullptr) mallopt(M_MMAP_THRESHOLD, huge_page);
  const int result = start_runtime(conf);
  if (result == 0) {
    environment = std::move(changes);
    running = this;
    GraphFailure::forget();
  } else {
    forget_heteroprio_data();
  }
  struct StarPU {  // where the rest of the start fails
    Session* session;
    ~StarPU() {
      if (session == nullptr) return;
      session->messages_.reset();
      CodeletCosts::end(true);
      end_runtime();
    }
  } starpu{result == 0 ? this : nullptr};
  all.together([&] {
    if (result != 0)
      throw Error(ErrorKind::environment, "StarPU", fmt::format("start-up failed with code {}", result),
                  "run `quarkstar machine` to see the workers it was asked for");
  });

  std::vector<Worker> cpu_workers = std::move(workers_);
  workers_.clear();
  std::size_t next_cpu = 0;
  for (unsigned id = 0; id < starpu_worker_get_count(); ++id) {
    Worker worker;
    if (starpu_worker_get_type(static_cast<int>(id)) == STARPU_CUDA_WORKER) {
      worker.kind = Worker::Kind::cuda;
      worker.device = starpu_worker_get_devid(static_cast<int>(id));
      worker.bandwidth_gbs = simulate::active ? simulate::machine().gpu(worker.device).triad_gbs : 3000;
      worker.team = Team({gpu_cores_.at(id)});
    } else {
      worker = cpu_workers.at(next_cpu++);
    }
    char name[64];
    starpu_worker_get_name(static_cast<int>(id), name, sizeof name);
    worker.name = name;
    workers_.push_back(std::move(worker));
  }
  share_power();
  events_ = std::make_unique<Events>(static_cast<int>(workers_.size()), options.keep_events);
  CodeletCosts::start(*this);
  happens_before(this);
  if constexpr (!simulate::active) starpu_execute_on_each_worker(bind_worker, this, STARPU_CPU | STARPU_CUDA);
  happens_after(this);
  if (all.is_distributed()) {
    // The watchdog, which gives the others up to a minute to answer, speaks before a wait on the device ends in a trap; without one it
    // takes an hour.
    constexpr std::uint64_t second = 1'000'000'000;
    const std::uint64_t patience = options_.watchdog_seconds > 0 ? static_cast<std::uint64_t>(options_.watchdog_seconds) + 120 : 3600;
    const std::string obstacle = obstacle_to_gpu_messages();
    if (simulate::stands_for_ranks() && !obstacle.empty())
      throw Error(ErrorKind::input, Parameter("ranks"), obstacle, "simulated ranks have a GPU each, and batches that are replayed");
    messages_ =
        std::make_unique<mpi::Messages>(all, std::make_unique<mpi::GpuPeers>(all, workers_.front().device, obstacle, patience * second));
  }
  if constexpr (!simulate::active) all.watchdog().watch(this);
  starpu.session = nullptr;
}

const Team& Session::cpu_team() const {
  const auto cpu = std::find_if(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.kind == Worker::Kind::cpu; });
  if (cpu == workers_.end()) throw Error(ErrorKind::environment, "Session", "the session has no CPU worker", "give it at least one");
  return cpu->team;
}

Session::~Session() {
  wait_quietly(*this);
  if constexpr (!simulate::active) mpi::Job::current().watchdog().watch(nullptr);
  messages_.reset();
  CodeletCosts::end(!options_.throttles.empty());
  end_runtime();
}

bool Session::keeps_owners() const { return on_owners_ || runtime::keeps_owners(options_.policy); }

void Session::wait_all() {
  wait_quietly(*this);
  GraphFailure::throw_if_any();
}

std::vector<int> Session::cpu_workers() const {
  std::vector<int> ids;
  for (int id = gpu_count_; id < static_cast<int>(workers_.size()); ++id) ids.push_back(id);
  return ids;
}

std::size_t Session::device_memory(int worker) const {
  const starpu_ssize_t bytes = starpu_memory_get_total(starpu_worker_get_memory_node(static_cast<unsigned>(worker)));
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

/// Ranks that mpirun has not bound to different cores divide them.
void Session::share_cores() {
  const std::vector<int> cores = topology_.all_cores();
  const mpi::Job::Share share = mpi::Job::current().share_of_cores(cores);
  yield_when_idle(2 * share.count > static_cast<int>(cores.size()));  // each rank has a worker and a thread for messages
  if (share.count > 1) topology_ = topology_.share(share.index, share.count);
}

void Session::share_power() {
  double cores = 0;
  const auto cores_of = [](const Worker& worker) { return static_cast<double>(worker.team.cores().size()); };
  for (const Worker& worker : workers_)
    if (worker.kind == Worker::Kind::cpu) cores += cores_of(worker);
  for (Worker& worker : workers_) {
    const PowerDraw& all = worker.kind == Worker::Kind::cpu ? options_.power.cpu : options_.power.cuda;
    const double part = worker.kind == Worker::Kind::cpu ? cores_of(worker) / cores : 1;
    worker.power = {part * all.idle, part * all.busy};
  }
}

void Session::set_power(const MachinePower& power) {
  options_.power = power;
  share_power();
}

void Session::plan_gpus() {
  const std::vector<GpuDescription> found = gpus();
  const std::vector<int> numbers = usable_gpus(found, options_);
  mpi::Job& job = mpi::Job::current();
  // Ranks of one host that may use the same GPUs divide them, unless a number for each rank is given.
  const int present = static_cast<int>(numbers.size());
  std::string seen;
  for (const int number : numbers) seen += found[static_cast<std::size_t>(number)].pci_bus_id + " ";
  const mpi::Job::Share share = job.share_of("GPUs " + seen);
  const bool divided = options_.cuda_workers < 0 || !options_.gpu_numbers.empty();
  int first = divided ? share.index * present / share.count : share.index * options_.cuda_workers;
  gpu_count_ = divided ? (share.index + 1) * present / share.count - first : options_.cuda_workers;
  // Of all ranks that share, so that all of them refuse together.
  const bool too_many = divided ? share.count > present && present > 0 : share.count * gpu_count_ > present;
  job.together([&] {
    if (gpu_count_ > present)
      throw Error(ErrorKind::environment, Parameter("gpus"), fmt::format("{} GPUs asked for, {} present", gpu_count_, present),
                  "ask for fewer, or check the driver with `quarkstar machine`");
    if (too_many && !options_.share_gpus)
      throw Error(ErrorKind::input, Parameter("gpus"),
                  fmt::format("{} ranks on {} have {} GPUs", share.count, job.hosts()[static_cast<std::size_t>(job.rank())], present),
                  "start one rank per GPU, use CPUs alone (gpus 0), or let ranks share a GPU (share-gpus)");
  });
  if (too_many) {
    gpu_count_ = divided ? 1 : gpu_count_;
    first = share.index * gpu_count_ % present;
    ranks_a_gpu_ = (share.count * gpu_count_ + present - 1) / present;
  }
  std::vector<int> near;
  for (const int number : numbers) near.push_back(numa_node_near(found[static_cast<std::size_t>(number)].pci_bus_id));
  const std::vector<std::uint64_t> nodes = job.gather(nodes_of(topology_));
  std::vector<std::size_t> mine;
  for (int g = 0; g < gpu_count_; ++g) mine.push_back(static_cast<std::size_t>((first + g) % present));
  if (divided && !too_many && share.count > 1) {
    std::vector<std::uint64_t> homes;
    for (const int rank : share.ranks) homes.push_back(nodes[static_cast<std::size_t>(rank)]);
    const std::vector<int> owners = ranks_of_gpus(near, homes);
    mine.clear();
    for (std::size_t g = 0; g < owners.size(); ++g)
      if (owners[g] == share.index) mine.push_back(g);
  }
  for (const std::size_t g : mine) {
    gpu_numbers_.push_back(numbers[g]);
    gpu_nodes_.push_back(near[g]);
  }
}

/// Why this rank's batches cannot hold messages from GPU to GPU; "": they can, if memory can be mapped.
/// $QUARKSTAR_GPU_IPC: `off` forbids it, `on` allows it also to ranks that share a GPU, which takes turns between them
/// while one waits for the other.
std::string Session::obstacle_to_gpu_messages() const {
  const mpi::Job& job = mpi::Job::current();
  const std::optional<bool> wish = switch_in(gpu_ipc_switch);
  if (!wish.value_or(true)) return fmt::format("{} is off", gpu_ipc_switch);
  if (!wish && ranks_a_gpu_ > 1) return "ranks share a GPU";
  if (job.is_fake() && !simulate::stands_for_ranks()) return "the other ranks do not exist";
  if (gpu_count_ != 1) return fmt::format("{} has {} GPUs, not one", job.name_of(job.rank()), gpu_count_);
  if (!runtime::keeps_owners(options_.policy)) return fmt::format("the policy {} places kernels one by one", options_.policy);
  if (options_.time_kernels) return "a trace times kernels";
  if (options_.cpu_share.value_or(0) > 0) return "CPUs own blocks beside GPUs";
  return "";
}

void Session::agree_on_lanes() {
  if (options_.lane_bytes != 32 && options_.lane_bytes != 64)
    throw Error(ErrorKind::internal, "SessionOptions::lane_bytes", fmt::format("{} bytes", options_.lane_bytes), "give 32 or 64");
  const int mine = gpu_count_ > 0 ? 64 : options_.lane_bytes;
  lane_bytes_ = static_cast<int>(mpi::Job::current().combined(static_cast<std::uint64_t>(mine), mpi::Combine::maximum));
}

void Session::plan_workers() {
  place_workers();
  if constexpr (simulate::active)
    for (Worker& worker : workers_) {
      const auto in_its_domain = [&worker](const Worker& other) { return other.device == worker.device; };
      const auto teams = static_cast<int>(std::count_if(workers_.begin(), workers_.end(), in_its_domain));
      worker.bandwidth_gbs = simulate::machine().team_gbs(worker.team.threads(), teams);
    }
}

void Session::place_workers() {
  // A GPU's worker thread polls, and the main thread submits: they get the last cores, near the GPU where it is known where that is, and
  // the teams share the others. The thread that moves messages polls too: it gets a core where there are some to spare.
  std::vector<Domain> domains = topology_.domains();
  constexpr int plenty = 4;
  const int cores = topology_.cores();
  const int for_messages = mpi::Job::current().is_distributed() && cores >= plenty ? 1 : 0;
  const int reserved = std::min((gpu_count_ > 0 ? gpu_count_ + 1 : 0) + for_messages, cores - 1);
  const std::vector<int> order = cores_to_give(topology_, gpu_nodes_);
  for (std::size_t g = 0; g < gpu_numbers_.size(); ++g) gpu_cores_.push_back(order[g % order.size()]);
  const std::set<int> given(order.begin(), order.begin() + reserved);
  for (Domain& domain : domains) std::erase_if(domain.cores, [&](int core) { return given.contains(core); });
  std::erase_if(domains, [](const Domain& domain) { return domain.cores.empty(); });

  const auto add = [this](int device, std::vector<int> cores) {
    Worker worker;
    worker.device = device;
    worker.bandwidth_gbs = 10.0 * static_cast<double>(cores.size());
    worker.team = Team(std::move(cores));
    workers_.push_back(std::move(worker));
  };

  if (options_.threads_per_worker < 0)
    throw Error(ErrorKind::input, Parameter("threads"), fmt::format("{} threads a worker", options_.threads_per_worker),
                "give a positive number, or 0 to share the cores evenly");
  if (options_.cpu_workers == 0 && options_.mode == WorkerMode::per_domain && options_.threads_per_worker == 0) {
    for (const Domain& domain : domains) add(domain.numa_node, domain.cores);
    return;
  }
  const int total = cores - reserved;
  int count = options_.cpu_workers;
  if (count == 0) count = options_.mode == WorkerMode::per_core ? total : static_cast<int>(domains.size());
  if (count < 1 || count > STARPU_MAXCPUS)
    throw Error(ErrorKind::input, Parameter("workers"), fmt::format("{} CPU workers", count),
                fmt::format("give 1 to {}, as many as StarPU was built for", STARPU_MAXCPUS));
  constexpr int threads_a_core = 8;  // more would only wait for each other
  if (options_.threads_per_worker > threads_a_core * total)
    throw Error(ErrorKind::input, Parameter("threads"), fmt::format("{} threads a worker on {} cores", options_.threads_per_worker, total),
                fmt::format("give at most {}, or 0 to share the cores evenly", threads_a_core * total));
  // Consecutive workers share a domain, and each takes its threads' cores from there.
  const int domain_count = static_cast<int>(domains.size());
  for (int w = 0; w < count; ++w) {
    const auto domain_of = [&](int worker) { return static_cast<int>(std::int64_t{worker} * domain_count / count); };
    const Domain& domain = domains[static_cast<std::size_t>(domain_of(w))];
    int first = w, last = w;  // the workers of this domain
    while (first > 0 && domain_of(first - 1) == domain_of(w)) --first;
    while (last + 1 < count && domain_of(last + 1) == domain_of(w)) ++last;
    const int available = static_cast<int>(domain.cores.size()), sharers = last - first + 1;
    int threads = options_.threads_per_worker;
    if (threads == 0) threads = options_.mode == WorkerMode::per_core ? 1 : std::max(1, available / sharers);
    std::vector<int> cores;
    for (int t = 0; t < threads; ++t) cores.push_back(domain.cores[static_cast<std::size_t>(((w - first) * threads + t) % available)]);
    add(domain.numa_node, std::move(cores));
  }
}

std::string runtime_version() {
  int major = 0, minor = 0, release = 0;
  starpu_get_version(&major, &minor, &release);
  std::string text = fmt::format("StarPU {}.{}.{}", major, minor, release);
#ifdef QUARKSTAR_CUDA
  text += " (CUDA)";
#endif
  return text;
}

}  // namespace quarkstar::runtime
