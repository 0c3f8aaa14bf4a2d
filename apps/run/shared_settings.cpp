#include "apps/run/shared_settings.hpp"

#include "apps/run/parse.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace quarkstar::app {
namespace {

constexpr std::array<std::string_view, 11> of_each_rank{"watts",   "devices", "gpu-memory",  "cpu-memory", "gpus",    "share-gpus",
                                                        "workers", "threads", "worker-mode", "throttle",   "watchdog"};

}  // namespace

std::string shared_settings(const RunConfig& config) {
  std::string text;
  for (const auto& [key, value] : parameters_of(config)) {
    if (std::find(of_each_rank.begin(), of_each_rank.end(), key) != of_each_rank.end()) continue;
    // What reports call `auto` depends on a rank's devices; several ranks take it as 0.
    const std::string shown = key == "cpu-share" ? fmt::format("{}", config.session.cpu_share.value_or(0))
                                                 : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    text += fmt::format("{} {}\n", key, shown);
  }
  return text;
}

void require_same_settings(const std::string& mine, const std::string& roots) {
  if (mine == roots) return;
  const std::vector<std::string> here = split(mine, '\n'), there = split(roots, '\n');
  // Which settings there are depends on the action alone, which is one of the first: until lines differ they are of the same keys.
  const auto [own, root] = std::mismatch(here.begin(), here.end(), there.begin(), there.end());
  const auto value_of = [](const std::string& line) { return line.substr(std::min(line.size(), line.find(' ') + 1)); };
  const std::string& line = own != here.end() ? *own : *root;
  throw Error(ErrorKind::input, Parameter(std::string_view(line).substr(0, line.find(' '))),
              fmt::format("{} here, but {} on rank 0", own != here.end() ? value_of(*own) : "nothing",
                          root != there.end() ? value_of(*root) : "nothing"),
              "give all ranks the same settings and run file");
}

void require_same_settings_everywhere(const std::string& mine) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const std::string roots = job.broadcast(mine);
  job.together([&] { require_same_settings(mine, roots); });
}

}  // namespace quarkstar::app
