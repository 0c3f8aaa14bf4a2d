#include "apps/campaign/journal.hpp"

#include "apps/run/parse.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace quarkstar::app::campaign {
namespace {

using Json = JsonLines::Json;

constexpr const char* kind_of_journal = "campaign";
constexpr std::size_t latest = 16;  ///< rows whose times tell of the next

/// What the results of a quark depend on.
Json settings_of(const Quark& quark) {
  Json settings = Json::object();
  for (const auto& [key, value] : parameters_of(quark.config)) {
    const bool of_links = key == "lattice" || key == "reunitarize";
    const bool of_run = key == "source" || key == "out" || (is_of_whole_campaign(key) && !of_links);
    if (!of_run && !changes_no_bit(key)) settings[std::string(key)] = Json::parse(value.dump());
  }
  return settings;
}

std::string shown(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

}  // namespace

Journal::Journal(const std::string& path, Mode mode) : path_(path) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::string text;
  job.on_root([&] {
    const auto keep = [&](const Json& line) {
      take(line);
      text += line.dump() + "\n";
    };
    if (mode == Mode::write) lines_ = std::make_unique<JsonLines>(path, kind_of_journal, keep);
    else JsonLines::read(path, kind_of_journal, keep);
  });
  text = job.broadcast(text);
  if (job.is_root()) return;
  for (const std::string& line : split(text, '\n'))
    if (!line.empty()) take(Json::parse(line));
}

void Journal::take(const Json& line) {
  const auto text = [&](const char* key) { return line.at(key).get<std::string>(); };
  const std::string kind = text("kind");
  if (kind == "campaign") {
    lattice_ = line.at("lattice").get<Coord>();
  } else if (kind == "quark") {
    settings_.insert_or_assign(text("name"), line.at("settings"));
  } else if (kind == "done") {
    const Row row{text("configuration"), text("quark"), text("source")};
    done_.insert_or_assign(row, line.at("seconds").get<double>());
    seconds_[row.quark].push_back(done_.at(row));
    failures_.erase({row.configuration, ""});
    failures_.erase({row.configuration, row.quark});
  } else {
    failures_.erase({text("configuration"), ""});  // what could be read is not damaged
    failures_.insert_or_assign({text("configuration"), text("quark")}, text("reason"));
  }
}

void Journal::append(const Json& line) {
  runtime::mpi::Job::current().on_root([&] { lines_->append(line); });
  take(line);
}

void Journal::require_same_settings(const Campaign& campaign) const {
  for (const Quark& quark : campaign.quarks) {
    const auto before = settings_.find(quark.name);
    if (before == settings_.end()) continue;
    const Json now = settings_of(quark);
    for (const auto& [key, value] : now.items()) {
      const Json then = before->second.value(key, Json());
      if (then == value) continue;
      const auto& given = quark.config.given;
      const auto place = std::find_if(given.rbegin(), given.rend(), [&key = key](const auto& setting) { return setting.first == key; });
      throw Error(ErrorKind::input, place != given.rend() ? place->second : quark.where,
                  fmt::format("{} is {} here, and was {} when rows of quark {} were computed ({})", key, shown(value), shown(then),
                              quark.name, path_),
                  "give the quark another name, or the campaign another folder `out`");
    }
  }
}

void Journal::forget_without_files(const Campaign& campaign) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::string gone;  // a letter for each configuration
  job.on_root([&] {
    for (const Configuration& configuration : campaign.configurations)
      gone += std::filesystem::exists(campaign.file_of(configuration)) ? '-' : 'x';
  });
  gone = job.broadcast(gone);
  for (std::size_t c = 0; c < gone.size(); ++c)
    if (gone[c] == 'x') std::erase_if(done_, [&](const auto& row) { return row.first.configuration == campaign.configurations[c].name; });
}

void Journal::begin(const Campaign& campaign, const Coord& lattice) {
  if (!lattice_) append({{"kind", "campaign"}, {"lattice", lattice}});
  for (const Quark& quark : campaign.quarks)
    if (!settings_.contains(quark.name)) append({{"kind", "quark"}, {"name", quark.name}, {"settings", settings_of(quark)}});
}

void Journal::note_done(const Row& row, double seconds) {
  append({{"kind", "done"}, {"configuration", row.configuration}, {"quark", row.quark}, {"source", row.source}, {"seconds", seconds}});
}

void Journal::note_failed(const std::string& configuration, const std::string& quark, const std::string& reason) {
  append({{"kind", "failed"}, {"configuration", configuration}, {"quark", quark}, {"reason", reason}});
}

std::optional<double> Journal::seconds_of(const std::string& quark) const {
  const auto rows = seconds_.find(quark);
  if (rows == seconds_.end()) return std::nullopt;
  const auto count = std::min(latest, rows->second.size());
  const auto begin = rows->second.end() - static_cast<std::ptrdiff_t>(count);
  return std::accumulate(begin, rows->second.end(), 0.0) / static_cast<double>(count);
}

}  // namespace quarkstar::app::campaign
