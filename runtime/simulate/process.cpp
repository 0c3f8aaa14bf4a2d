#include "runtime/simulate/process.hpp"

#include "runtime/simulate/platform.hpp"
#include "runtime/simulate/simulate.hpp"
#include "runtime/system/error.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#ifdef QUARKSTAR_SIMULATION
#include <simgrid/s4u/Engine.hpp>
#endif

namespace quarkstar::runtime::simulate {
namespace {

/// Whether SimGrid has ended the program because nothing could go on.
bool stuck = false;

void notice_when_stuck() {
#ifdef QUARKSTAR_SIMULATION
  simgrid::s4u::Engine::on_deadlock_cb([] { stuck = true; });
#endif
}

/// Deleted with everything in it.
class PrivateFolder {
 public:
  PrivateFolder() : path_((std::filesystem::temp_directory_path() / "quarkstar-sim-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr)
      throw Error(ErrorKind::environment, path_, "cannot be made", "point $TMPDIR at a folder that can be written");
  }
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Files about a machine whose tasks StarPU simulates, in `folder`, and where StarPU finds them.
void describe_to_starpu(const Machine& machine, const std::string& folder) {
  constexpr const char* host_name = "simulated";
  write_platform(machine, folder, host_name);
  setenv("STARPU_PERF_MODEL_DIR", folder.c_str(), 1);
  setenv("STARPU_HOSTNAME", host_name, 1);
  // What StarPU would add by itself is in the machine's own numbers.
  for (const char* cost : {"CUDA_MALLOC", "CUDA_QUEUE", "TASK_SUBMIT", "TASK_PUSH", "FETCHING_INPUT"})
    setenv((std::string("STARPU_SIMGRID_") + cost + "_COST").c_str(), "0", 1);
  // Of our StarPU (scripts/build-starpu): copies between GPUs wait for each other within a host only.
  setenv("STARPU_SIMGRID_GPUS_A_HOST", std::to_string(std::max(1, machine.gpus)).c_str(), 1);
}

/// Its exit code.
int run_command(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t process = 0;
  const int error = posix_spawnp(&process, pointers.front(), nullptr, nullptr, pointers.data(), environ);
  if (error != 0)
    throw Error(ErrorKind::environment, words.front(), fmt::format("cannot be started: {}", std::strerror(error)),
                "install libsimgrid-dev, which has it");
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code > 128)  // as a shell tells it, which smpirun is
    throw Error(ErrorKind::environment, words.front(), fmt::format("was ended by signal {}", code - 128),
                "ask for fewer ranks if memory was short");
  return code;
}

}  // namespace

int run(const Machine& machine, int argc, char** argv) {
  // StarPU's library has a main() that starts SimGrid and then calls ours, which it knows as starpu_main.
  auto* starpu_start = reinterpret_cast<int (*)(int, char**)>(dlsym(RTLD_NEXT, "main"));
  if (starpu_start == nullptr)
    throw Error(ErrorKind::environment, "StarPU", "this build of it cannot simulate", "build it with scripts/build-starpu --mode simgrid");
  const PrivateFolder folder;
  describe_to_starpu(machine, folder.path());
  use(machine);
  std::string quiet = "--log=root.thresh:error";
  std::vector<char*> arguments(argv, argv + argc);
  arguments.push_back(quiet.data());
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  notice_when_stuck();
  const int code = starpu_start(count, arguments.data());
  if (stuck)
    throw Error(ErrorKind::environment, machine.name,
                "nothing goes on in the simulation, as where a GPU's memory is too small for its part",
                "give a smaller lattice, or more GPUs");
  return code;
}

int run_job(const Machine& machine, int ranks, const std::string& program, const std::vector<std::string>& arguments) {
  const PrivateFolder folder;
  describe_to_starpu(one_rank_of(machine), folder.path());
  const std::string platform = folder.path() + "/job.xml", hosts = folder.path() + "/hosts";
  write_job(machine, ranks, platform, hosts);
  setenv("OMP_NUM_THREADS", "1", 1);  // threads that wait for work would count as the ranks' time
  setenv("TMPDIR", folder.path().c_str(), 1);
  std::vector<std::string> words{
      "smpirun", "-quiet", "-np", fmt::format("{}", ranks), "-platform", platform, "-hostfile", hosts, "--log=root.thresh:error",
      // A message takes what the machine's network says, a call of MPI nothing.
      "--cfg=network/model:CM02", "--cfg=smpi/simulate-computation:no", "--cfg=smpi/test:0", "--cfg=smpi/privatization:dlopen",
      // Thousands of actors: a guard page each would be more mappings than Linux allows a process.
      "--cfg=contexts/stack-size:1024", "--cfg=contexts/guard-size:0", program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (const std::string& word : words)
    if (word.find_first_of(" \t\n") != word.npos)
      throw Error(ErrorKind::input, word, "has a space in it, and smpirun takes it for two words", "use paths without spaces");
  return run_command(words);
}

Machine one_rank_of(Machine machine) {
  machine.nodes = 1;
  machine.gpus = 0;
  return machine;
}

Machine one_gpu_of(Machine machine) {
  machine.nodes = 1;
  machine.gpus = 1;
  machine.gpu_kinds = {{1, machine.gpu(0)}};
  return machine;
}

}  // namespace quarkstar::runtime::simulate
