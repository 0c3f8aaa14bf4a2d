#include "runtime/observe/codelet_costs.hpp"

#include "runtime/gpu/cuda.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/policy/policy.hpp"
#include "runtime/simulate/simulate.hpp"
#include "runtime/tune/file_lock.hpp"
#include "runtime/tune/tune_cache.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace quarkstar::runtime {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int format = 1;
constexpr double older = 0.9;    // what a task's weight becomes with each one after it
constexpr int fewest_tasks = 8;  // to be kept
// What a task counts for at most, times what was expected. One that has waited for its core, while something else had it, would otherwise
// keep those after it from this worker, and then nothing would show that it was no measure.
constexpr double most_of_own = 4, most_of_others = 1.5;
constexpr double shortest_us = 2, most_bytes_a_us = 5e7;

std::unique_ptr<CodeletCosts> of_running;

/// {"format": 1, "devices": {DEVICE: {CODELET: {"bytes": of a task, "microseconds": that it takes}}}}; of anything else an empty one.
json read(const std::string& path) {
  json empty = {{"format", format}, {"devices", json::object()}};
  std::ifstream file(path, std::ios::binary);
  if (!file) return empty;
  json found = json::parse(std::string{std::istreambuf_iterator<char>(file), {}}, nullptr, false);
  const bool fits =
      found.is_object() && found.value("format", json()) == format && found.contains("devices") && found["devices"].is_object();
  return fits ? found : empty;
}

double number(const json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_number() ? found->get<double>() : -1;
}

std::string device_of(const Session& session, const Worker& worker) {
  if (worker.kind == Worker::Kind::cuda) return gpus().at(static_cast<std::size_t>(worker.device)).name;
  return fmt::format("{}, {} threads", session.topology().cpu_model(), worker.team.threads());
}

}  // namespace

CodeletCosts::CodeletCosts(std::vector<std::string> devices, std::string file)
    : devices_(std::move(devices)), file_(std::move(file)), lanes_(devices_.size()) {
  if (file_.empty()) return;
  const json found = read(file_);
  for (const auto& [device, codelets] : found["devices"].items()) {
    if (!codelets.is_object()) continue;
    for (const auto& [codelet, cost] : codelets.items()) {
      if (!cost.is_object()) continue;
      const double bytes = number(cost, "bytes"), us = number(cost, "microseconds");
      if (bytes > 0 && us > 0) kept_[device][codelet] = {bytes, us, 1, fewest_tasks};
    }
  }
}

void CodeletCosts::record(int worker, std::string_view codelet, double bytes, double us) {
  if (!(us >= shortest_us) || !(bytes > 0) || bytes > most_bytes_a_us * us) return;
  const double known = predicted_us(worker, codelet, bytes);
  Lane& lane = lanes_.at(static_cast<std::size_t>(worker));
  const std::lock_guard guard(lane.mutex);
  auto found = lane.costs.find(codelet);
  if (found == lane.costs.end()) found = lane.costs.emplace(codelet, Cost{}).first;
  Cost& cost = found->second;
  if (cost.seen++ == 0) return;
  if (known > 0) us = std::min(us, known * (cost.tasks > 0 ? most_of_own : most_of_others));
  cost.bytes = older * cost.bytes + bytes;
  cost.us = older * cost.us + us;
  cost.tasks = older * cost.tasks + 1;
}

const CodeletCosts::Cost* CodeletCosts::kept(int worker, std::string_view codelet) const {
  const auto device = kept_.find(devices_[static_cast<std::size_t>(worker)]);
  if (device == kept_.end()) return nullptr;
  const auto cost = device->second.find(codelet);
  return cost != device->second.end() ? &cost->second : nullptr;
}

double CodeletCosts::predicted_us(int worker, std::string_view codelet, double bytes) const {
  const auto measured = [&](std::size_t of) {
    const Lane& lane = lanes_[of];
    const std::lock_guard guard(lane.mutex);
    const auto cost = lane.costs.find(codelet);
    return cost != lane.costs.end() && cost->second.tasks > 0 ? cost->second.us_of(bytes) : 0;
  };
  const auto own = static_cast<std::size_t>(worker);
  if (const double us = measured(own); us > 0) return us;
  double sum = 0;
  int others = 0;
  for (std::size_t other = 0; other < lanes_.size(); ++other)
    if (devices_[other] == devices_[own])
      if (const double us = measured(other); us > 0) sum += us, ++others;
  if (others > 0) return sum / others;
  const Cost* cost = kept(worker, codelet);
  return cost != nullptr ? cost->us_of(bytes) : 0;
}

void CodeletCosts::keep() const {
  if (file_.empty()) return;
  std::map<std::string, Table> fresh;  // the fastest worker of a device: what slows the others down is not the device's
  for (std::size_t worker = 0; worker < lanes_.size(); ++worker) {
    const std::lock_guard guard(lanes_[worker].mutex);
    for (const auto& [codelet, cost] : lanes_[worker].costs) {
      if (cost.seen < fewest_tasks) continue;
      const Cost mean{cost.bytes / cost.tasks, cost.us / cost.tasks, 1, cost.seen};
      const Cost* before = kept(static_cast<int>(worker), codelet);
      constexpr double little = 1.2;
      if (before != nullptr) {
        const double ratio = mean.us / before->us_of(mean.bytes);
        if (ratio < little && ratio > 1 / little) continue;
      }
      Cost& best = fresh[devices_[worker]][codelet];
      if (best.us == 0 || mean.us < best.us_of(mean.bytes)) best = mean;
    }
  }
  if (fresh.empty()) return;
  const std::string temporary = fmt::format("{}.{}.tmp", file_, getpid());
  try {
    if (const fs::path folder = fs::path(file_).parent_path(); !folder.empty()) fs::create_directories(folder);
    const FileLock lock(file_ + ".lock");
    json all = read(file_);
    for (const auto& [device, costs] : fresh) {
      json& of_device = all["devices"][device];
      if (!of_device.is_object()) of_device = json::object();
      for (const auto& [codelet, cost] : costs) of_device[codelet] = {{"bytes", cost.bytes}, {"microseconds", cost.us}};
    }
    {
      std::ofstream out(temporary, std::ios::binary);
      out << all.dump(1) << "\n";
      out.close();
      if (!out) throw std::runtime_error(fmt::format("{} cannot be written", temporary));
    }
    fs::rename(temporary, file_);  // not flushed: what a crash loses is measured again
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    spdlog::warn("{}: what tasks cost cannot be kept ({}); set $QUARKSTAR_TUNE to a file in a folder that can be written", file_,
                 error.what());
  }
}

CodeletCosts* CodeletCosts::of_session() { return of_running.get(); }

void CodeletCosts::start(const Session& session) {
  of_running.reset();
  if (simulate::active || keeps_owners(session.options().policy)) return;
  std::vector<std::string> devices;
  for (const Worker& worker : session.workers()) devices.push_back(device_of(session, worker));
  const fs::path tune = TuneCache::of_user().path();
  of_running = std::make_unique<CodeletCosts>(std::move(devices), (tune.parent_path() / (tune.stem().string() + ".costs.json")).string());
}

void CodeletCosts::end(bool throttled) {
  if (of_running != nullptr && !throttled) of_running->keep();
  of_running.reset();
}

}  // namespace quarkstar::runtime
