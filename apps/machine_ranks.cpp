#include "apps/machine_ranks.hpp"

#include "runtime/error.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/mpi/self_test.hpp"
#include "runtime/session.hpp"
#include "runtime/watchdog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;
using runtime::mpi::Job;
using runtime::mpi::PairTiming;
using runtime::mpi::SharedError;

[[noreturn]] void throw_damage(const std::string& what) {
  throw SharedError(ErrorKind::environment, "machine --self-test", what, "do not compute on this network; look at the hosts named here");
}

Json test_pairs(Job& job, std::chrono::seconds limit, bool print) {
  const std::vector<PairTiming> timings = runtime::mpi::time_pairs(job, limit);
  Json pairs = Json::array();
  std::vector<std::string> damaged;
  for (const PairTiming& t : timings) {
    pairs.push_back({{"ranks", {t.first, t.second}}, {"latency_us", t.latency_us}, {"bandwidth_gbs", t.bandwidth_gbs}, {"damaged_words", t.damaged}});
    if (t.damaged > 0) damaged.push_back(fmt::format("{} and {}", job.name_of(t.first), job.name_of(t.second)));
  }
  if (print) {
    fmt::print("pairs of ranks    latency us  bandwidth GB/s (1 MiB)\n");
    for (const PairTiming& t : timings) fmt::print("{:>6} {:>6} {:>15.1f} {:>12.3f}\n", t.first, t.second, t.latency_us, t.bandwidth_gbs);
    std::fflush(stdout);
  }
  if (!damaged.empty()) throw_damage(fmt::format("messages arrive damaged between {}", fmt::join(damaged, "; ")));
  return pairs;
}

}  // namespace

void print_ranks(const Json& ranks) {
  fmt::print("\nranks\n");
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<std::string> workers;
    for (const Json& worker : ranks[rank]["workers"]) {
      const auto cores = worker["cores"].get<std::vector<int>>();
      workers.push_back(worker["kind"] == "CUDA" ? fmt::format("GPU {}", worker["device"].get<int>())
                                                 : fmt::format("{} threads on cores {}", cores.size(), fmt::join(cores, " ")));
    }
    fmt::print("  {:>4}  {:<16} {}\n", rank, ranks[rank]["host"].get<std::string>(), fmt::join(workers, "; "));
  }
}

void call_roll(int limit_seconds) {
  const std::chrono::seconds limit(limit_seconds);
  Job::current().watchdog().set_silent(limit);
  runtime::mpi::roll_call(Job::current(), limit);
}

Json self_test(int limit_seconds, bool print) {
  Job& job = Job::current();
  const std::chrono::seconds limit(limit_seconds);
  if (print) fmt::print("\nself-test\nroll call         {} ranks answered\n", job.size());
  Json result{{"ranks", job.size()}, {"pairs", test_pairs(job, limit, print)}};
  const std::uint64_t wrong = runtime::mpi::exchange_known_faces(job);
  if (print) fmt::print("known faces       {} wrong values in 8 directions\n", wrong);
  if (wrong > 0) throw_damage(fmt::format("{} values of faces arrived wrong", wrong));
  result["wrong_face_values"] = wrong;
  result["gpu_messages"] = runtime::mpi::describe_gpu_messages();
  if (print) fmt::print("GPU memory        {}\n", result["gpu_messages"].get<std::string>());
  if (const auto* messages = runtime::Session::current().messages(); messages != nullptr) {
    const runtime::mpi::GpuPeers& peers = messages->peers();
    result["gpu_batches"] = peers.verdict();
    if (print) fmt::print("batches           messages {}\n", peers.verdict());
    result["gpu_pairs"] = Json::array();
    for (const runtime::mpi::GpuPeers::Pair& pair : peers.pairs()) {
      result["gpu_pairs"].push_back({{"from", pair.from}, {"to", pair.to}, {"mapped", pair.mapped}, {"damaged_words", pair.damaged}});
      if (print)
        fmt::print("  GPU of rank {:>3} -> {:<3} {}\n", pair.from, pair.to,
                   !pair.mapped ? "cannot be mapped" : pair.damaged == 0 ? "known words arrived" : fmt::format("{} damaged words", pair.damaged));
    }
  }
  return result;
}

}  // namespace quarkstar::app
