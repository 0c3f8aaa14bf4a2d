// quarkstar-sim bench replay GRAPH.json
#include "apps/bench/bench_options.hpp"
#include "apps/run/write_json.hpp"
#include "apps/simulation/replay.hpp"

#include <fmt/format.h>

namespace quarkstar::app {

void run_bench_replay(const BenchOptions& options) {
  const ReplayGraph graph = in_groups(read_graph(options.graph), options.groups, options.volume);
  runtime::Session session(options.session);
  const Replayed result = replay(graph, session);
  if (!options.json) {
    fmt::print("{} tasks under {}: {:.1f} us\n{:>28} {:>8} {:>10} {:>7}\n", graph.tasks.size(), options.session.policy, result.microseconds,
               "worker", "tasks", "busy, us", "of all");
    for (std::size_t w = 0; w < result.workers.size(); ++w)
      fmt::print("{:>28} {:>8} {:>10.1f} {:>6.1f}%\n", session.worker(static_cast<int>(w)).name, result.workers[w].tasks,
                 1e6 * result.workers[w].busy, 1e8 * result.workers[w].busy / result.microseconds);
    for (const runtime::LinkTraffic& link : result.links)
      fmt::print("from {} to {}: {:.0f} bytes in {} copies\n", link.from, link.to, link.bytes, link.transfers);
    return;
  }
  nlohmann::ordered_json workers = nlohmann::ordered_json::array();
  for (std::size_t w = 0; w < result.workers.size(); ++w)
    workers.push_back({{"name", session.worker(static_cast<int>(w)).name},
                       {"tasks", result.workers[w].tasks},
                       {"seconds", seconds_json(result.workers[w])}});
  const nlohmann::ordered_json row{{"graph", options.graph},        {"groups", options.groups},
                                   {"volume", options.volume},      {"policy", options.session.policy},
                                   {"tasks", graph.tasks.size()},   {"microseconds", result.microseconds},
                                   {"workers", std::move(workers)}, {"links", links_json(result.links)}};
  fmt::print("{}\n", nlohmann::ordered_json{{"machine", machine_facts(session)}, {"replay", row}}.dump(2));
}

}  // namespace quarkstar::app
