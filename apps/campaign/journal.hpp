#pragma once
// What of a campaign is done, and with which settings.
#include "apps/campaign/background_writer.hpp"
#include "apps/campaign/campaign.hpp"
#include "apps/run/json_lines.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app::campaign {

/// Of all ranks alike: the root reads and writes the file. All calls but the const ones are collective. What is noted counts at once; it is
/// written in the background, in its order, unless HDF5 was built for one thread.
class Journal {
 public:
  /// Whether this program will write. Then no other may.
  enum class Mode { look, write };
  /// Throws what JsonLines does.
  Journal(const std::string& path, Mode mode);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Throws Error(input) naming a quark's or a hadron's setting that is not the one with which its rows were computed, and both values; of
  /// a quark also with which rows of hadrons were, be they in the campaign or not. Also for a name that was a hadron's and is a quark's, or
  /// the other way round.
  void require_same_settings(const Campaign& campaign) const;
  /// Rows whose results, or propagators where the campaign writes them, are not in their files, or cannot be read, are not done. Notes it:
  /// when some of them are done again, the old lines about the others must not count. The root looks, and warns.
  void forget_lost(const Campaign& campaign);
  /// Notes the lattice, the program's version and the settings of quarks and hadrons, where they are new. Warns where the version is
  /// another one.
  void begin(const Campaign& campaign, const Coord& lattice);
  std::optional<Coord> lattice() const { return lattice_; }

  /// by_helper: the helper has computed it, so that its time tells nothing of the next row's.
  void note_done(const Row& row, double seconds, bool by_helper = false);
  /// A row that is done was solved again, for hadrons: what has failed before is no failure any more. Notes nothing where nothing has.
  void note_solved(const Row& row);
  /// failed: a row, one without source where all of the quark has failed, or the configuration alone.
  void note_failed(const Row& failed, const std::string& reason);
  /// A device has failed, and the campaign goes on without it: for the reader of the file.
  void note_lost(const std::string& device, const std::string& reason);

  /// The root writes something, before whatever is noted after this.
  void write(std::function<void()> write);
  /// Until all is on disk. Throws what writing has thrown, every time. Not for the destructor alone, which keeps errors to itself.
  void flush();

  bool is_done(const Row& row) const { return done_.contains(row); }
  /// What is done of a configuration, quarks and sources that the campaign no longer has among it.
  std::vector<Row> rows_of(const std::string& configuration) const;
  bool has_rows_of(const std::string& quark) const;
  bool has_all_rows_of(const Journal& other) const;
  /// Mean of the latest rows of a quark; none where there are none.
  std::optional<double> seconds_of(const std::string& quark) const;
  /// Reasons of note_failed(), until the row is solved, or the configuration could be read.
  const std::map<Row, std::string>& failures() const { return failures_; }

 private:
  using Json = JsonLines::Json;
  /// What a table's rows were computed with.
  struct Known {
    std::string kind;  ///< "quark" or "hadron"
    Json settings;
  };
  void take(const Json& line);
  /// take(), in the file too where this program writes it.
  void append(const Json& line);
  /// Of a row whose solve has come to its end.
  void forget_failures(const Row& row);
  /// Whether rows rest on the settings of that name: its own, or those of hadrons that were made of it.
  bool binds(const std::string& name) const;

  std::string path_;
  std::unique_ptr<JsonLines> lines_;  ///< on the root, where it writes
  bool in_background_;
  std::unique_ptr<BackgroundWriter> writer_;  ///< with it, in the background; ends before it
  std::optional<Coord> lattice_;
  std::string version_;                    ///< version_line() of the program that was the last to compute rows
  std::map<std::string, Known> settings_;  ///< by quark or hadron
  std::map<Row, double> done_;
  std::map<std::string, std::vector<double>> seconds_;  ///< by quark, in the order of rows
  std::map<Row, std::string> failures_;
};

}  // namespace quarkstar::app::campaign
