// Work on several workers at once: their own threads and teams, whatever the policy; and the bandwidth that is measured so.
#include "runtime/graph/on_workers.hpp"

#include "codelets/bench/stream.hpp"
#include "tests/unit/affinity_testing.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace on_workers_test {

using namespace quarkstar;
using namespace quarkstar::runtime;
using runtime_testing::allowed_cpus;
using runtime_testing::Gate;
using runtime_testing::options;
using runtime_testing::Script;

TEST_CASE("work on workers runs once on each, on its own thread, all at the same time, under any policy") {
  for (const char* policy : {"static", "adaptive", "eager", "dmda"}) {
    INFO(policy);
    const Session session(options(3, 1, policy));
    for (const std::vector<int>& ids : {std::vector<int>{0, 1, 2}, {2, 0}, {1}}) {
      std::atomic<std::size_t> arrived{0};
      Gate gate;
      std::vector<int> calls(ids.size(), 0);
      std::vector<const Worker*> workers(ids.size());
      std::vector<std::thread::id> threads(ids.size());
      std::vector<char> together(ids.size());
      on_workers(ids, [&](std::size_t i, const Worker& worker) {
        ++calls[i];
        workers[i] = &worker;
        threads[i] = std::this_thread::get_id();
        if (++arrived == ids.size()) gate.open();
        together[i] = gate.wait();
      });
      for (std::size_t i = 0; i < ids.size(); ++i) {
        CHECK(calls[i] == 1);
        CHECK(workers[i] == &session.worker(ids[i]));
        CHECK(together[i]);
        CHECK(threads[i] != std::this_thread::get_id());
        for (std::size_t j = 0; j < i; ++j) CHECK(threads[i] != threads[j]);
      }
    }
  }
}

TEST_CASE("work on workers has the cores of the workers' tasks") {
  const Session session(options(2));
  std::vector<int> of_task[2], of_work[2];
  {
    Script script;
    for (int w = 0; w < 2; ++w) script.submit([&, w](Call&) { of_task[w] = allowed_cpus(); }, {}, {.owner = w});
  }
  on_workers({0, 1}, [&](std::size_t i, const Worker&) { of_work[i] = allowed_cpus(); });
  for (int w = 0; w < 2; ++w) CHECK(of_work[w] == of_task[w]);
}

TEST_CASE("bandwidth and arithmetic of several workers are positive numbers") {
  for (const int workers : {1, 2}) {
    const Session session(options(workers));
    const bench::StreamResult stream = bench::measure_stream(session.cpu_workers(), 1 << 20, 2);
    const bench::FusedPeak peak = bench::measure_fused_peak(session.cpu_workers(), 1);
    for (const double speed : {stream.triad, stream.triad_streaming, stream.copy_streaming, stream.read, peak.single, peak.double_}) {
      CHECK(std::isfinite(speed));
      CHECK(speed > 0);
    }
  }
}

}  // namespace on_workers_test
