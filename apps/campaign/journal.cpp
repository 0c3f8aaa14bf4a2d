#include "apps/campaign/journal.hpp"

#include "apps/campaign/hadrons.hpp"
#include "apps/campaign/results_file.hpp"
#include "apps/run/hdf5_file.hpp"
#include "apps/run/parse.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <functional>
#include <numeric>
#include <system_error>
#include <utility>

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
    if (!of_run && !changes_no_bit(key, quark.config)) settings[std::string(key)] = Json::parse(value.dump());
  }
  return settings;
}

/// Of a hadron, beside those of its quarks.
Json settings_of(const Campaign& campaign, const Hadron& hadron) {
  Json settings = Json::object();
  for (const std::size_t quark : hadron.quarks) settings["quarks"].push_back(campaign.quarks[quark].name);
  for (const auto& [key, value] : parameters_of(hadron.config))
    if (is_of_hadrons(key)) settings[std::string(key)] = Json::parse(value.dump());
  return settings;
}

/// What all tables' results depend on.
std::vector<std::pair<const Table*, Json>> all_settings(const Campaign& campaign) {
  std::vector<std::pair<const Table*, Json>> all;
  for (const Quark& quark : campaign.quarks) all.emplace_back(&quark, settings_of(quark));
  for (const Hadron& hadron : campaign.hadrons) all.emplace_back(&hadron, settings_of(campaign, hadron));
  return all;
}

/// What tables of that action have where nobody gives it; null where it is no setting of a solve.
Json default_of(const Table& table, const std::string& key) {
  const Setting* setting = find_setting(key);
  if (setting == nullptr) return {};
  RunConfig plain;
  plain.action = table.config.action;
  complete(plain);
  return Json::parse(setting->get(plain).dump());
}

void for_lines(const std::string& text, const std::function<void(const Json&)>& use) {
  for (const std::string& line : split(text, '\n'))
    if (!line.empty()) use(Json::parse(line));
}

/// Whether there is such a file. Throws Error(environment) where there is and cannot be read, which may pass: its rows are not lost.
bool is_there(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  char byte = 0;
  const bool readable = descriptor >= 0 && ::read(descriptor, &byte, 1) >= 0;
  const int code = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (readable) return true;
  if (code == ENOENT) return false;
  throw Error(ErrorKind::environment, file, fmt::format("cannot read the results: {}", std::generic_category().message(code)),
              "make the file readable, and start again");
}

/// Those of the rows of one configuration that are not in its file, or lack the propagator that the campaign writes. Warns of them, and
/// with `keep` gives a damaged file another name, so that nothing is written over it.
std::vector<Row> lost_of(std::vector<Row> rows, const Campaign& campaign, const std::string& file, bool keep) {
  ConfigurationResults results;
  if (is_there(file)) {
    try {
      results = read_results(file);
    } catch (const std::exception& damage) {
      const std::string kept = file + ".damaged";
      std::error_code failed;
      if (keep) std::filesystem::rename(file, kept, failed);
      spdlog::warn("{}; its rows are computed anew{}", damage.what(), keep && !failed ? fmt::format(", and it is kept as {}", kept) : "");
      return rows;
    }
  }
  std::erase_if(rows, [&](const Row& row) {
    if (results.find(row.quark, row.source) == nullptr) return false;
    const bool in_campaign =
        std::any_of(campaign.quarks.begin(), campaign.quarks.end(), [&](const Quark& quark) { return quark.name == row.quark; }) &&
        std::any_of(campaign.sources.begin(), campaign.sources.end(), [&](const Source& s) { return quarkstar::text_of(s) == row.source; });
    return !campaign.propagators || !in_campaign || std::filesystem::exists(campaign.propagator_of(row));
  });
  if (!rows.empty()) spdlog::warn("{}: lost rows, which are computed anew: {}", file, rows.size());
  return rows;
}

std::string shown(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

}  // namespace

Journal::Journal(const std::string& path, Mode mode)
    : path_(path), in_background_(!runtime::mpi::Job::current().any(!hdf5_is_thread_safe())) {
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
  if (lines_ && in_background_) writer_ = std::make_unique<BackgroundWriter>();
  text = job.broadcast(text);
  if (!job.is_root()) for_lines(text, [this](const Json& line) { take(line); });
}

void Journal::take(const Json& line) {
  const auto text = [&](const char* key) { return line.at(key).get<std::string>(); };
  const std::string kind = text("kind");
  if (kind == "campaign") {
    lattice_ = line.at("lattice").get<Coord>();
    version_ = line.value("version", "");
  } else if (kind == "quark" || kind == "hadron") {
    // A name may change its kind once it has no rows: times of the other kind's tell nothing.
    const auto before = settings_.find(text("name"));
    if (before != settings_.end() && before->second.kind != kind) seconds_.erase(before->first);
    settings_.insert_or_assign(text("name"), Known{kind, line.at("settings")});
  } else if (kind == "done") {
    const Row row{text("configuration"), text("quark"), text("source")};
    done_.insert_or_assign(row, line.at("seconds").get<double>());
    if (!line.contains("by")) seconds_[row.quark].push_back(done_.at(row));
    forget_failures(row);
  } else if (kind == "solved") {
    forget_failures({text("configuration"), text("quark"), text("source")});
  } else if (kind == "removed") {
    for (const Json& row : line.at("rows"))
      done_.erase({text("configuration"), row.at(0).get<std::string>(), row.at(1).get<std::string>()});
  } else if (kind != "lost") {
    failures_.erase({text("configuration"), "", ""});  // what could be read is not damaged
    failures_.insert_or_assign({text("configuration"), text("quark"), line.value("source", "")}, text("reason"));
  }
}

void Journal::append(const Json& line) {
  write([this, line] {
    if (lines_) lines_->append(line);
  });
  take(line);
}

void Journal::write(std::function<void()> write) {
  if (writer_) writer_->add(std::move(write));
  else if (!in_background_) runtime::mpi::Job::current().on_root(write);
}

void Journal::flush() {
  runtime::mpi::Job::current().on_root([this] {
    if (writer_) writer_->wait();
  });
}

void Journal::forget_failures(const Row& row) {
  failures_.erase({row.configuration, "", ""});
  failures_.erase({row.configuration, row.quark, ""});
  failures_.erase(row);
}

bool Journal::binds(const std::string& name) const {
  if (has_rows_of(name)) return true;
  return std::any_of(settings_.begin(), settings_.end(), [&](const auto& known) {
    if (known.second.kind != "hadron") return false;
    const Json quarks = known.second.settings.value("quarks", Json::array());
    return std::find(quarks.begin(), quarks.end(), Json(name)) != quarks.end() && has_rows_of(known.first);
  });
}

void Journal::require_same_settings(const Campaign& campaign) const {
  for (const auto& [table, now] : all_settings(campaign)) {
    const auto before = settings_.find(table->name);
    // Rows of hadrons hold the quarks that they were made of, even where the quarks' own rows are lost.
    if (before == settings_.end() || !binds(table->name)) continue;
    const auto& [kind, settings] = before->second;
    if (kind != table->kind)
      throw Error(ErrorKind::input, table->where, fmt::format("{} was a {} when rows of it were computed ({})", table->name, kind, path_),
                  fmt::format("give the {} another name, or the campaign another folder `out`", table->kind));
    for (const auto& [key, value] : now.items()) {
      // A setting that the program did not have then was what it is where nobody gives it.
      const Json then = settings.contains(key) ? settings.at(key) : default_of(*table, key);
      if (then == value) continue;
      const std::string* place = place_of(*table, key);
      throw Error(ErrorKind::input, place != nullptr ? *place : table->where,
                  fmt::format("{} is {} here, and was {} when rows of {} {} were computed ({})", key, shown(value), shown(then),
                              table->kind, table->name, path_),
                  fmt::format("give the {} another name, or the campaign another folder `out`", table->kind));
    }
  }
}

void Journal::forget_lost(const Campaign& campaign) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::string lines;
  job.on_root([&] {
    for (const Configuration& configuration : campaign.configurations) {
      const std::vector<Row> rows = rows_of(configuration.name);
      if (rows.empty()) continue;
      const std::vector<Row> lost = lost_of(rows, campaign, campaign.file_of(configuration), lines_ != nullptr);
      if (lost.empty()) continue;
      Json names = Json::array();
      for (const Row& row : lost) names.push_back(Json::array({row.quark, row.source}));
      const Json line{{"kind", "removed"}, {"configuration", configuration.name}, {"rows", names}};
      lines += line.dump() + "\n";
    }
  });
  for_lines(job.broadcast(lines), [this](const Json& line) { append(line); });
}

void Journal::begin(const Campaign& campaign, const Coord& lattice) {
  if (const std::string version = version_line(); !lattice_ || version_ != version) {
    if (!done_.empty() && runtime::mpi::Job::current().is_root())
      spdlog::warn("{}: rows were computed by {}; further ones, by {}, may have other last bits", path_,
                   version_.empty() ? "an earlier version" : version_, version);
    append({{"kind", "campaign"}, {"lattice", lattice}, {"version", version}});
  }
  for (const auto& [table, settings] : all_settings(campaign))
    if (const auto known = settings_.find(table->name);
        known == settings_.end() || known->second.kind != table->kind || known->second.settings != settings)
      append({{"kind", table->kind}, {"name", table->name}, {"settings", settings}});
}

void Journal::note_done(const Row& row, double seconds, bool by_helper) {
  Json line{{"kind", "done"}, {"configuration", row.configuration}, {"quark", row.quark}, {"source", row.source}, {"seconds", seconds}};
  if (by_helper) line["by"] = "helper";
  append(line);
}

void Journal::note_solved(const Row& row) {
  if (failures_.contains(row) || failures_.contains({row.configuration, row.quark, ""}))
    append({{"kind", "solved"}, {"configuration", row.configuration}, {"quark", row.quark}, {"source", row.source}});
}

void Journal::note_failed(const Row& failed, const std::string& reason) {
  append({{"kind", "failed"},
          {"configuration", failed.configuration},
          {"quark", failed.quark},
          {"source", failed.source},
          {"reason", reason}});
}

void Journal::note_lost(const std::string& device, const std::string& reason) {
  append({{"kind", "lost"}, {"device", device}, {"reason", reason}});
}

std::vector<Row> Journal::rows_of(const std::string& configuration) const {
  std::vector<Row> rows;
  for (auto row = done_.lower_bound({configuration, "", ""}); row != done_.end() && row->first.configuration == configuration; ++row)
    rows.push_back(row->first);
  return rows;
}

bool Journal::has_rows_of(const std::string& quark) const {
  return std::any_of(done_.begin(), done_.end(), [&](const auto& row) { return row.first.quark == quark; });
}

bool Journal::has_all_rows_of(const Journal& other) const {
  return std::all_of(other.done_.begin(), other.done_.end(), [&](const auto& row) { return is_done(row.first); });
}

std::optional<double> Journal::seconds_of(const std::string& quark) const {
  const auto rows = seconds_.find(quark);
  if (rows == seconds_.end()) return std::nullopt;
  const auto count = std::min(latest, rows->second.size());
  const auto begin = rows->second.end() - static_cast<std::ptrdiff_t>(count);
  return std::accumulate(begin, rows->second.end(), 0.0) / static_cast<double>(count);
}

}  // namespace quarkstar::app::campaign
