// Faces that travel while kernels run: a copy to the GPU that no task there has asked for.
#include "runtime/graph/early_copy.hpp"

#include "runtime/observe/worker_times.hpp"
#include "tests/gpu/support.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace early_copy_test {

using namespace quarkstar::runtime;
using namespace quarkstar::runtime_testing;

namespace {

/// Bytes that have moved; waits up to ten seconds for `expected` of them.
double moved(WorkerProfile& profile, double expected) {
  double bytes = 0;
  for (int i = 0; i < 1000; ++i) {
    bytes = 0;
    for (const LinkTraffic& link : profile.links()) bytes += link.bytes;
    if (bytes >= expected) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return bytes;
}

}  // namespace

TEST_CASE("what is wanted on a GPU goes there when it has been written, each time, and the host keeps what it has") {
  QUARKSTAR_NEEDS_GPU("early copy");
  constexpr std::size_t values = 1 << 18;
  constexpr double bytes = values * sizeof(int);
  constexpr int gpu = 0, cpu = 1;
  SessionOptions settings = options(1);
  settings.cuda_workers = 1;
  Session session(settings);
  WorkerProfile profile(session);
  Handle face(values * sizeof(int)), other(values * sizeof(int));
  copy_early(face, cpu, gpu);
  copy_early(other, cpu, cpu);
  {
    Script script;
    for (int round = 1; round <= 3; ++round) {
      for (const Handle* handle : {&face, &other})
        script.submit([round](Call& call) { std::fill_n(call.buffer<int>(0), values, round); }, {out(*handle)}, {.owner = cpu});
      session.wait_all();
      CHECK(moved(profile, round * bytes) == round * bytes);
      for (const Handle* handle : {&face, &other}) {
        const HostView<int> view(*handle);
        CHECK(view[0] == round);
        CHECK(view[values - 1] == round);
      }
    }
  }
}

}  // namespace early_copy_test
