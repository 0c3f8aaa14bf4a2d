#include "runtime/tune/tune_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace quarkstar::runtime {
namespace {

using nlohmann::json;

int line_at(const std::string& text, std::size_t offset) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size())), '\n'));
}

/// The line in which a key stands; that of the text's begin where it is written with other escapes.
int line_of_key(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(json(key).dump());
  return at == std::string::npos ? 1 : line_at(text, at);
}

TuneEntry entry_of(const json& value) {
  TuneEntry entry{value.at("choice").get<std::vector<int>>(), value.at("microseconds").get<double>()};
  if (!std::isfinite(entry.microseconds) || !(entry.microseconds > 0)) throw std::runtime_error("its time is not a positive number");
  return entry;
}

/// What the library says, without its own numbers of errors.
std::string plain(const json::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

TuneFile::TuneFile() { content_ = {{"format", format}, {"entries", json::object()}}; }

TuneFile::TuneFile(const std::string& text) {
  try {
    content_ = json::parse(text);
  } catch (const json::parse_error& error) {
    throw TuneFileDamage(line_at(text, error.byte > 0 ? error.byte - 1 : 0), plain(error));
  }
  try {
    const auto found = content_.at("format").get<double>();
    if (found > format) throw TuneFileNewer{found};
    if (found != format) throw std::runtime_error(fmt::format("format {} is unknown", found));
    if (!content_.at("entries").is_object()) throw std::runtime_error("'entries' is not an object");
  } catch (const json::exception& error) {
    throw TuneFileDamage(line_of_key(text, "format"), plain(error));
  } catch (const std::runtime_error& error) {
    throw TuneFileDamage(line_of_key(text, "format"), error.what());
  }
  for (const auto& [key, value] : content_.at("entries").items()) {
    const auto fail = [&](const std::string& what) {
      throw TuneFileDamage(line_of_key(text, key), fmt::format("entry '{}': {}", key, what));
    };
    try {
      entry_of(value);
    } catch (const json::exception& error) {
      fail(plain(error));
    } catch (const std::runtime_error& error) {
      fail(error.what());
    }
  }
}

std::map<std::string, TuneEntry> TuneFile::entries() const {
  std::map<std::string, TuneEntry> all;
  for (const auto& [key, value] : content_.at("entries").items()) all[key] = entry_of(value);
  return all;
}

void TuneFile::put(const std::string& key, const TuneEntry& entry) {
  content_["entries"][key] = {{"choice", entry.choice}, {"microseconds", entry.microseconds}};
}

TuneFile::Merged TuneFile::merge(const TuneFile& other) {
  Merged merged;
  json& mine = content_["entries"];
  for (const auto& [key, value] : other.content_.at("entries").items()) {
    const auto known = mine.find(key);
    const bool fresh = known == mine.end();
    const bool faster = !fresh && entry_of(value).microseconds < entry_of(*known).microseconds;
    ++(fresh ? merged.added : faster ? merged.faster : merged.kept);
    if (fresh || faster) mine[key] = value;
  }
  for (const auto& [key, value] : other.content_.items())
    if (!content_.contains(key)) content_[key] = value;
  return merged;
}

}  // namespace quarkstar::runtime
