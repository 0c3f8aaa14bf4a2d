#pragma once
// What of a campaign is done, and with which settings.
#include "apps/campaign/campaign.hpp"
#include "apps/run/json_lines.hpp"

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace quarkstar::app::campaign {

/// A row of the campaign: one source of one quark on one configuration.
struct Row {
  std::string configuration, quark, source;
  auto operator<=>(const Row&) const = default;
};

/// Of all ranks alike: the root reads and writes the file. All calls but the const ones are collective.
class Journal {
 public:
  /// Whether this program will write. Then no other may.
  enum class Mode { look, write };
  /// Throws what JsonLines does.
  Journal(const std::string& path, Mode mode);

  /// Throws Error(input) naming a quark's setting that is not the one with which its rows were computed, and both values.
  void require_same_settings(const Campaign& campaign) const;
  /// Rows whose results somebody has removed are not done. The root looks.
  void forget_without_files(const Campaign& campaign);
  /// Notes the lattice, and the settings of quarks that are new.
  void begin(const Campaign& campaign, const Coord& lattice);
  std::optional<Coord> lattice() const { return lattice_; }

  void note_done(const Row& row, double seconds);
  /// quark: empty where the configuration itself has failed.
  void note_failed(const std::string& configuration, const std::string& quark, const std::string& reason);

  bool is_done(const Row& row) const { return done_.contains(row); }
  /// Mean of the latest rows of a quark; none where there are none.
  std::optional<double> seconds_of(const std::string& quark) const;
  /// Reasons by configuration and quark, until the row is done, or the configuration could be read.
  const std::map<std::pair<std::string, std::string>, std::string>& failures() const { return failures_; }

 private:
  using Json = JsonLines::Json;
  void take(const Json& line);
  void append(const Json& line);

  std::string path_;
  std::unique_ptr<JsonLines> lines_;  ///< on the root, where it writes
  std::optional<Coord> lattice_;
  std::map<std::string, Json> settings_;  ///< by quark
  std::map<Row, double> done_;
  std::map<std::string, std::vector<double>> seconds_;  ///< by quark, in the order of rows
  std::map<std::pair<std::string, std::string>, std::string> failures_;
};

}  // namespace quarkstar::app::campaign
