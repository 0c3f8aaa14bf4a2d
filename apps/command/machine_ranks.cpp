#include "apps/command/machine_ranks.hpp"

#include "runtime/graph/session.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/watchdog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <span>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;
using runtime::mpi::FaceDamage;
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
    pairs.push_back({{"ranks", {t.first, t.second}},
                     {"latency_us", t.latency_us},
                     {"bandwidth_gbs", t.bandwidth_gbs},
                     {"both_ways_gbs", t.both_ways_gbs},
                     {"damaged_words", t.damaged}});
    if (t.damaged > 0) damaged.push_back(fmt::format("{} and {}", job.name_of(t.first), job.name_of(t.second)));
  }
  if (print) {
    fmt::print("pairs of ranks    latency us  bandwidth GB/s (1 MiB)  each way while both send\n");
    for (const PairTiming& t : timings)
      fmt::print("{:>6} {:>6} {:>15.1f} {:>12.3f} {:>25.3f}\n", t.first, t.second, t.latency_us, t.bandwidth_gbs, t.both_ways_gbs);
    std::fflush(stdout);
  }
  if (!damaged.empty()) throw_damage(fmt::format("messages arrive damaged between {}", fmt::join(damaged, "; ")));
  return pairs;
}

/// "GPU 2 near domain 1"
std::string describe_gpu(const Json& worker) {
  const std::string gpu = fmt::format("GPU {}", worker["device"].get<int>());
  return worker["numa_node"].is_null() ? gpu : gpu + fmt::format(" near domain {}", worker["numa_node"].get<int>());
}

/// How many values were wrong, where none was: anything else is an error that names the ranks.
std::uint64_t test_faces(Job& job, bool print) {
  const std::vector<FaceDamage> damage = runtime::mpi::exchange_known_faces(job);
  std::uint64_t wrong = 0;
  for (const FaceDamage& d : damage) wrong += d.words;
  if (print) fmt::print("known faces       {} wrong values in 8 directions\n", wrong);
  if (wrong > 0) throw_damage(describe_damage(job, damage));
  return wrong;
}

}  // namespace

std::string describe_damage(const Job& job, const std::vector<FaceDamage>& damage) {
  constexpr std::size_t most = 8;
  std::vector<std::string> texts;
  for (const FaceDamage& d : std::span(damage).first(std::min(most, damage.size())))
    texts.push_back(fmt::format("{} values of faces that {} reads in {}{} from {}", d.words, job.name_of(d.reader),
                                d.direction % 2 == 0 ? '+' : '-', "xyzt"[d.direction / 2], job.name_of(d.sender)));
  if (damage.size() > most) texts.push_back(fmt::format("and {} more", damage.size() - most));
  return fmt::format("arrived wrong: {}", fmt::join(texts, "; "));
}

void print_ranks(const Json& ranks) {
  fmt::print("\nranks\n");
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<std::string> workers;
    for (const Json& worker : ranks[rank]["workers"]) {
      const auto cores = worker["cores"].get<std::vector<int>>();
      workers.push_back(worker["kind"] == "CUDA" ? describe_gpu(worker)
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
  result["wrong_face_values"] = test_faces(job, print);
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
                   !pair.mapped        ? "cannot be mapped"
                   : pair.damaged == 0 ? "known words arrived"
                                       : fmt::format("{} damaged words", pair.damaged));
    }
  }
  return result;
}

}  // namespace quarkstar::app
