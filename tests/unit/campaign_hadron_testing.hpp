#pragma once
// Campaigns with hadrons of two quarks, small ones.
#include "apps/campaign/run.hpp"
#include "apps/run/gauge_io.hpp"
#include "apps/run/json_lines.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/unit/app_testing.hpp"

#include <fmt/format.h>

#include <string>

namespace quarkstar::app::hadron_testing {

using testing::TemporaryFolder;
using testing::write_file;

inline constexpr std::uint64_t seed = 60221;
inline constexpr Coord extents{2, 2, 2, 4};

inline const std::string quarks = R"([quark.light]
action = "wilson"
kappa = 0.11
[quark.charm]
action = "naive"
mass = 0.9
[quark.strange]
action = "wilson"
kappa = 0.09
[quark.down]
action = "naive"
mass = 0.3
)",
                         hadrons = R"([hadron.kaon]
quarks = ["light", "strange"]
correlators = ["mesons"]
[hadron.xi]
quarks = ["strange", "light"]
correlators = ["octet", "decuplet"]
[hadron.d]
quarks = ["charm", "down"]
)";

/// A configuration or two, and a campaign's file.
struct Ensemble {
  TemporaryFolder folder;
  std::string file = folder.file("small.toml");
  HostGauge gauge = reference::near_unit_gauge(extents, seed, 0.3);

  explicit Ensemble(int configurations = 1) {
    for (int c = 0; c < configurations; ++c)
      save_gauge(folder.file(fmt::format("lat.{}", c)), c == 0 ? gauge : reference::near_unit_gauge(extents, seed + 1, 0.3), {});
  }
  campaign::Campaign write(const std::string& tables, const std::string& out = "out",
                           const std::string& sources = R"("point:1,0,1,3", "wall:1")", const std::string& above = "") const {
    write_file(file, fmt::format(R"(configurations = ["{}"]
out = "{}"
sources = [{}]
workers = 1
gpus = 0
no-tune = true
tol = 1e-12
{}
{})",
                                 folder.file("lat.*"), folder.file(out), sources, above, tables));
    return campaign::read_campaign(file, {});
  }
  std::string refusal(const std::string& tables, const std::string& above = "") const {
    try {
      write(tables, "out", R"("point:1,0,1,3")", above);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::string results_file(const std::string& out = "out", int configuration = 0) const {
    return folder.file(fmt::format("{}/configurations/lat.{}.h5", out, configuration));
  }
  /// How many lines of the journal say that a row of a quark or a hadron is done.
  int rows(const std::string& name, const std::string& out = "out") const {
    int count = 0;
    JsonLines::read(folder.file(out + "/journal.jsonl"), "campaign", [&](const JsonLines::Json& line) {
      if (line.at("kind") == "done" && line.at("quark") == name) ++count;
    });
    return count;
  }
};

inline void run(const campaign::Campaign& campaign) { run(campaign, {}, unwatched(), {}); }

/// A quark's table with another line.
inline std::string with_line(std::string tables, const std::string& quark, const std::string& line) {
  const std::string head = fmt::format("[quark.{}]\n", quark);
  return tables.insert(tables.find(head) + head.size(), line + "\n");
}

}  // namespace quarkstar::app::hadron_testing
