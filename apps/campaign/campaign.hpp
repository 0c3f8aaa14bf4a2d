#pragma once
// What a campaign is asked to do: the TOML file of `quarkstar run`.
#include "apps/run/config.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::app::campaign {

/// A file of links. Its name, without folders, stands for it in the results.
struct Configuration {
  std::string name, path;
};

/// A table [quark.NAME] or [hadron.NAME]: a row of every source on every configuration.
struct Table {
  std::string_view kind;  ///< "quark" or "hadron"
  std::string name;
  std::string where;                         ///< "pions.toml:9: quark.light"
  RunConfig config;                          ///< with all sources; checked, but for the gauge configuration, which it lacks
  std::vector<std::string_view> families{};  ///< of its correlators

  /// Those that are wanted.
  std::vector<contract::Choice> choices() const { return contract::choose(families, config.correlators.names); }
};

/// A propagator of every source.
struct Quark : Table {};

/// Correlators of the propagators of two quarks. config: the first one's, with the hadron's own correlators and sinks.
struct Hadron : Table {
  std::array<std::size_t, 2> quarks;  ///< their numbers in the list

  bool has(std::size_t quark) const { return quarks[0] == quark || quarks[1] == quark; }
  /// Of the list, in whose order they are solved for.
  std::size_t first_quark() const { return std::min(quarks[0], quarks[1]); }
  std::size_t last_quark() const { return std::max(quarks[0], quarks[1]); }
};

/// A row of the campaign: one source of one quark or hadron on one configuration.
struct Row {
  std::string configuration, quark, source;  ///< quark: or hadron, of which none has the name of a quark
  auto operator<=>(const Row&) const = default;
};

struct Campaign {
  std::string file;
  std::vector<Configuration> configurations;  ///< in the order of the file, those of a pattern by name, where 2 comes before 10
  std::string out;
  std::vector<Source> sources;
  std::string sources_where;
  std::vector<Quark> quarks;
  std::vector<Hadron> hadrons;
  bool propagators = false;   ///< are written
  int bin = 1;                ///< neighbouring configurations that the errors take together
  int grace = 10;             ///< seconds that a solve may take after a signal before it is given up
  std::optional<int> helper;  ///< cores of a second process (helper.hpp), 0: there is none; none: chosen
  std::string helper_where;   ///< where that was given

  /// Quarks, then hadrons.
  std::vector<const Table*> tables() const;
  std::size_t number_of(const Quark& quark) const { return static_cast<std::size_t>(&quark - quarks.data()); }

  std::string file_of(const Configuration& configuration) const { return out + "/configurations/" + configuration.name + ".h5"; }
  std::string propagator_of(const Row& row) const;
  std::string journal() const { return out + "/journal.jsonl"; }
};

/// The settings of a quark on one configuration, with its gauge configuration, its file of eigenvectors, and folders of null vectors: its
/// own, and those that a set-up may begin with, of an earlier quark on it or of the configuration before it in the list.
RunConfig config_on(const Campaign& campaign, const Quark& quark, const Configuration& configuration);
/// Folders of null vectors that nobody needs once all rows of a configuration are done: those of the one before it.
std::vector<std::string> null_vectors_behind(const Campaign& campaign, const Configuration& configuration);

/// Keys of solve settings that hold for the whole campaign: of the links, of devices and of the policy. They are given above the quarks, or
/// as flags.
bool is_of_whole_campaign(std::string_view key);

/// Keys of quarks that change how they are solved and no bit of what comes out. Of solvers that mix vectors nrhs is none of them.
bool changes_no_bit(std::string_view key, const RunConfig& quark);

/// Where a setting was given, the last time if it was more than once; nullptr where it was not.
const std::string* place_of(const Table& table, std::string_view key);

/// Reads the file, finds the configurations, and completes and checks every quark. overriding: `out`, `helper` and settings of the whole
/// campaign that override the file's. Throws Error(input) naming file, line, key, value and remedy. All ranks call; the root looks for the
/// configurations.
Campaign read_campaign(const std::string& path, const std::vector<Assignment>& overriding);

/// Throws Error(input). where: "pions.toml:9: quark.light.kappa".
[[noreturn]] void refuse(const std::string& where, const std::string& what, const std::string& remedy);

/// What solves, plans and checks say of settings, with their place in the file and keys in place of flags.
void at_place_of(const Table& table, const std::function<void()>& check);

/// A message of the layers below, which names flags of `quarkstar solve`, with keys of the file in place of them.
std::string with_keys(std::string_view message);

/// Whether a family of these has a correlator or a group of this name, or is called so.
bool has_correlator(const std::vector<std::string_view>& families, std::string_view name);

}  // namespace quarkstar::app::campaign
