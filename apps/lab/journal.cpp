#include "apps/lab/journal.hpp"

#include "runtime/system/atomic_file.hpp"
#include "runtime/system/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>

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

Journal::Descriptor::~Descriptor() {
  if (value >= 0) ::close(value);
}

Journal::Journal(std::string path) : path_(std::move(path)), file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) {
  if (file_.value < 0) throw_write_error(path_, "opening", errno);
  if (::flock(file_.value, LOCK_EX | LOCK_NB) != 0)
    throw Error(ErrorKind::environment, path_, "another laboratory is writing this file", "wait for it, or give another --out");
  std::ifstream stream(path_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::size_t complete = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  int number = 0;
  for (std::size_t begin = 0; begin < complete;) {
    const std::size_t end = text.find('\n', begin);
    ++number;
    try {
      const Json line = Json::parse(text.substr(begin, end - begin));
      const auto kind = line.at("kind").get<std::string>();
      if (kind == "order") seed_ = line.at("seed").get<std::uint64_t>();
      else if (kind == "bandwidth") bandwidths_.push_back(bandwidth_of(line));
      else records_.push_back(record_of(line));
    } catch (const Json::exception&) {
      throw Error(ErrorKind::input, fmt::format("{}:{}", path_, number), "this is no line of a laboratory's journal",
                  "remove the line, or give another --out");
    }
    begin = end + 1;
  }
  if (::ftruncate(file_.value, static_cast<off_t>(complete)) != 0 || ::lseek(file_.value, 0, SEEK_END) < 0)
    throw_write_error(path_, "writing", errno);
}

void Journal::write(const Json& line) {
  // A message of a crashed run may hold any bytes.
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file_.value, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) throw_write_error(path_, "writing", errno);
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  ::fdatasync(file_.value);
}

void Journal::append(Record record) {
  write(to_json(record));
  records_.push_back(std::move(record));
}

void Journal::append(const Bandwidth& bandwidth) {
  write(bandwidth_json(bandwidth));
  bandwidths_.push_back(bandwidth);
}

void Journal::append_seed(std::uint64_t seed) {
  write({{"kind", "order"}, {"seed", seed}});
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
