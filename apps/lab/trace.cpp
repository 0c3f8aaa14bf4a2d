#include "apps/lab/trace.hpp"

#include "runtime/system/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>

namespace quarkstar::app::lab {

Trace read_trace(const std::string& path, std::size_t most) {
  using Json = nlohmann::json;
  std::ifstream stream(path);
  if (!stream) throw Error(ErrorKind::input, path, "cannot be opened", "run the laboratory again with traces");
  Trace trace;
  std::map<std::string, std::size_t> index;
  try {
    const Json file = Json::parse(stream);
    for (const Json& event : file.at("traceEvents")) {
      const auto phase = event.at("ph").get<std::string>();
      const auto worker = event.at("tid").get<int>();
      if (phase == "M") {
        if (worker < 0 || event.at("name").get<std::string>() != "thread_name") continue;  // rows have places too
        trace.workers.resize(std::max(trace.workers.size(), static_cast<std::size_t>(worker) + 1));
        trace.workers[static_cast<std::size_t>(worker)] = event.at("args").at("name").get<std::string>();
      } else if (phase == "X") {
        const auto [name, is_new] = index.try_emplace(event.at("name").get<std::string>(), trace.names.size());
        if (is_new) {
          trace.names.push_back(name->first);
          trace.kinds.push_back(event.value("cat", ""));
        }
        trace.tasks.push_back(
            {worker, event.at("args").value("block", -1), name->second, event.at("ts").get<double>(), event.at("dur").get<double>()});
      }
    }
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::input, path, std::string("is no trace of ours: ") + error.what(), "run the laboratory again with traces");
  }
  for (const TraceTask& task : trace.tasks)
    if (task.worker < 0 || static_cast<std::size_t>(task.worker) >= trace.workers.size())
      throw Error(ErrorKind::input, path, "names a worker that it does not introduce", "run the laboratory again with traces");
  std::stable_sort(trace.tasks.begin(), trace.tasks.end(), [](const TraceTask& a, const TraceTask& b) { return a.begin_us < b.begin_us; });
  trace.all_tasks = trace.tasks.size();
  if (trace.tasks.size() > most) {
    const auto first = trace.tasks.begin() + static_cast<std::ptrdiff_t>((trace.tasks.size() - most) / 2);
    trace.tasks = std::vector<TraceTask>(first, first + static_cast<std::ptrdiff_t>(most));
  }
  return trace;
}

}  // namespace quarkstar::app::lab
