#include "runtime/simulate/process.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/simulate/platform.hpp"
#include "runtime/simulate/simulate.hpp"

namespace quarkstar::runtime::simulate {
namespace {

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

}  // namespace

int run(const Machine& machine, int argc, char** argv) {
  // StarPU's library has a main() that starts SimGrid and then calls ours, which it knows as starpu_main.
  auto* starpu_start = reinterpret_cast<int (*)(int, char**)>(dlsym(RTLD_NEXT, "main"));
  if (starpu_start == nullptr)
    throw Error(ErrorKind::environment, "StarPU", "this build of it cannot simulate", "build it with scripts/build-starpu --mode simgrid");
  const PrivateFolder folder;
  constexpr const char* host_name = "simulated";
  write_platform(machine, folder.path(), host_name);
  setenv("STARPU_PERF_MODEL_DIR", folder.path().c_str(), 1);
  setenv("STARPU_HOSTNAME", host_name, 1);
  // What StarPU would add by itself is in the machine's own numbers.
  for (const char* cost : {"CUDA_MALLOC", "CUDA_QUEUE", "TASK_SUBMIT", "TASK_PUSH", "FETCHING_INPUT"})
    setenv((std::string("STARPU_SIMGRID_") + cost + "_COST").c_str(), "0", 1);
  use(machine);
  std::string quiet = "--log=root.thresh:error";
  std::vector<char*> arguments(argv, argv + argc);
  arguments.push_back(quiet.data());
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return starpu_start(count, arguments.data());
}

}  // namespace quarkstar::runtime::simulate
