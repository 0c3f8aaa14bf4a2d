// What the machine says about its memory, read from trees made for the test.
#include "runtime/memory.hpp"

#include "apps/memory_check.hpp"
#include "runtime/error.hpp"
#include "tests/unit/app_testing.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

using namespace quarkstar;
using runtime::available_host_memory;

namespace {

constexpr std::size_t gib = std::size_t{1} << 30;

class Machine {
 public:
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(path)).parent_path());
    testing::write_file(folder_.file(path), text);
  }
  std::string root() const { return folder_.file("."); }

 private:
  testing::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("available memory is the least of what the kernel and the control groups leave") {
  Machine machine;
  CHECK_FALSE(available_host_memory(machine.root()));
  machine.write("proc/meminfo", "MemTotal:       67108864 kB\nMemFree:         1048576 kB\nMemAvailable:   33554432 kB\n");
  CHECK(available_host_memory(machine.root()) == 32 * gib);
  machine.write("proc/self/cgroup", "0::/job/step\n");
  machine.write("sys/fs/cgroup/job/step/memory.max", "max\n");
  machine.write("sys/fs/cgroup/job/step/memory.current", "1073741824\n");
  CHECK(available_host_memory(machine.root()) == 32 * gib);
  machine.write("sys/fs/cgroup/job/memory.max", "8589934592\n");
  machine.write("sys/fs/cgroup/job/memory.current", "2147483648\n");
  CHECK(available_host_memory(machine.root()) == 6 * gib);
  // The cache of files is not taken for good.
  machine.write("sys/fs/cgroup/job/memory.stat", "anon 536870912\ninactive_file 536870912\nactive_file 536870912\n");
  CHECK(available_host_memory(machine.root()) == 7 * gib);
  machine.write("proc/self/cgroup", "0::/\n");
  machine.write("sys/fs/cgroup/memory.max", "1073741824\n");
  machine.write("sys/fs/cgroup/memory.current", "2147483648\n");
  CHECK(available_host_memory(machine.root()) == 0);
}

TEST_CASE("handles are counted while they live") {
  const runtime::Session session(runtime_testing::options(1));
  const std::size_t before = runtime::host_memory_use().now;
  runtime::restart_peak();
  {
    const runtime::Handle handle(3 * gib / 1024);
    *runtime::HostView<char>(handle, runtime::HostAccess::overwrite) = 1;
    CHECK(runtime::host_memory_use().now - before == 3 * gib / 1024);
  }
  runtime::Session::current().wait_all();
  CHECK(runtime::host_memory_use().now == before);
  CHECK(runtime::host_memory_use().peak - before == 3 * gib / 1024);
}

TEST_CASE("a solve that does not fit is refused with what it needs, what there is, and remedies") {
  app::MemoryNeed need{.where = "CUDA 0", .gpu = true, .fields = {.links = 2.0 * gib, .spinors = 1.0 * gib}, .available = 4.0 * gib};
  CHECK_NOTHROW(app::require_memory({need}));
  CHECK(app::memory_text(need) == "CUDA 0: 3.00 GiB of 4.00 GiB (links 2.00 GiB, spinors 1.00 GiB, faces 0.0 MiB, tables 0.0 MiB)");
  need.available = 0;  // unknown
  CHECK_NOTHROW(app::require_memory({need}));
  need.available = 2.5 * gib;
  const auto message = [](const app::MemoryNeed& n) -> std::string {
    try {
      app::require_memory({n});
    } catch (const Error& error) {
      CHECK(error.exit_code() == 2);
      return error.what();
    }
    return "accepted";
  };
  CHECK(message(need).find("--gpu-memory: this solve needs 3.00 GiB of memory on CUDA 0, 2.50 GiB are available; use ") == 0);
  need.gpu = false;
  CHECK(message(need).find("--cpu-memory: ") == 0);
  CHECK(message(need).find("--links 12") != std::string::npos);
}
