#include "apps/lab/journal.hpp"

#include <algorithm>

namespace quarkstar::app::lab {
namespace {

Json bandwidth_json(const Bandwidth& bandwidth) {
  return {{"kind", "bandwidth"},
          {"devices", settings_json(bandwidth.devices)},
          {"inputs", settings_json(bandwidth.inputs)},
          {"built_with", bandwidth.built_with},
          {"triad_gbs", bandwidth.triad ? Json(*bandwidth.triad) : Json()},
          {"unavailable", bandwidth.unavailable}};
}

Bandwidth bandwidth_of(const Json& json) {
  Bandwidth bandwidth;
  bandwidth.devices = settings_of(json.at("devices"));
  bandwidth.inputs = settings_of(json.value("inputs", Json::object()));
  bandwidth.built_with = json.value("built_with", "");
  if (json.at("triad_gbs").is_number()) bandwidth.triad = json.at("triad_gbs").get<double>();
  bandwidth.unavailable = json.at("unavailable").get<std::string>();
  return bandwidth;
}

}  // namespace

Journal::Journal(std::string path)
    : lines_(std::move(path), "laboratory", [this](const Json& line) {
        const auto kind = line.at("kind").get<std::string>();
        if (kind == "order") seed_ = line.at("seed").get<std::uint64_t>();
        else if (kind == "bandwidth") bandwidths_.push_back(bandwidth_of(line));
        else records_.push_back(record_of(line));
      }) {}

void Journal::append(Record record) {
  lines_.append(to_json(record));
  records_.push_back(std::move(record));
}

void Journal::append(const Bandwidth& bandwidth) {
  lines_.append(bandwidth_json(bandwidth));
  bandwidths_.push_back(bandwidth);
}

void Journal::append_seed(std::uint64_t seed) {
  lines_.append({{"kind", "order"}, {"seed", seed}});
  seed_ = seed;
}

const Record* Journal::find_done(const Cell& cell, const PlannedRun& run) const {
  const auto done = std::find_if(records_.rbegin(), records_.rend(), [&](const Record& r) { return r.ok() && r.is(cell, run); });
  return done == records_.rend() ? nullptr : &*done;
}

const Bandwidth* Journal::find_bandwidth(const Settings& devices, const Settings& inputs, const std::string& built_with) const {
  const auto found = std::find_if(bandwidths_.rbegin(), bandwidths_.rend(), [&](const Bandwidth& b) {
    return b.devices == devices && b.inputs == inputs && b.built_with == built_with && b.triad;
  });
  return found == bandwidths_.rend() ? nullptr : &*found;
}

int Journal::last_number() const {
  int last = 0;
  for (const Record& record : records_) last = std::max(last, record.number);
  return last;
}

}  // namespace quarkstar::app::lab
