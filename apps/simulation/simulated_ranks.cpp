#include "apps/simulation/simulated_ranks.hpp"

#include "apps/command/child_process.hpp"
#include "apps/command/commands.hpp"
#include "apps/command/own_executable.hpp"
#include "apps/run/parse.hpp"
#include "apps/simulation/machine_file.hpp"
#include "runtime/simulate/process.hpp"
#include "runtime/simulate/rank_times.hpp"
#include "runtime/system/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_ranks = 65536;
constexpr const char* scaling_command = "quarkstar-sim bench scaling";

bool is_word(const std::vector<char*>& arguments, std::size_t i, std::string_view text) {
  return i < arguments.size() && arguments[i] == text;
}

struct ScalingOptions {
  std::vector<int> ranks{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  std::vector<Coord> lattices;
  std::optional<Coord> part;
  bool json = false;
};

void add_scaling_flags(CLI::App& app, ScalingOptions& options) {
  app.description(
      "Solvers on 1 to 1024 GPUs of the nodes of --machine: microseconds per iteration, efficiency, and what limits it. What is not listed "
      "here is a flag of `bench solver`");
  app.add_option("--ranks", options.ranks, "Numbers of GPUs, ascending")->check(CLI::Range(1, most_ranks));
  app.add_option_function<std::vector<std::string>>(
         "--lattice",
         [&options](const std::vector<std::string>& values) {
           for (const std::string& value : values) options.lattices.push_back(coord_of_flag("--lattice", value, 2));
         },
         "Lattices that all GPUs share (default 48,48,48,96 96,96,96,192, where --per-gpu is not given)")
      ->type_name("X,Y,Z,T");
  app.add_option_function<std::string>(
         "--per-gpu", [&options](const std::string& value) { options.part = coord_of_flag("--per-gpu", value, 2); },
         "As many sites for each GPU as these extents have (default 32,32,32,32, where --lattice is not given)")
      ->type_name("X,Y,Z,T");
  app.add_flag("--json", options.json, "Print JSON");
  app.allow_extras();
}

/// A column of the table: what an iteration of some ranks takes for it.
struct Part {
  const char* key;
  const char* name;  ///< as what limits
};
constexpr std::array<Part, 5> parts{{{"kernels", "kernels"},
                                     {"faces_inside", "faces in the node"},
                                     {"faces_between", "faces between nodes"},
                                     {"sums", "sums"},
                                     {"submission", "submission"}}};

struct ScalingRow {
  int gpus = 1, nodes = 1;
  Coord grid{1, 1, 1, 1}, part{};
  double us = 0, efficiency = 1;
  std::array<double, parts.size()> of_parts{};
  std::string limit{}, failure{};
};

ScalingRow ask(const std::string& machine, int ranks, const Coord& lattice, const std::vector<std::string>& flags) {
  std::vector<std::string> words{own_executable,        "bench",     "solver",         "--machine",     machine, "--ranks",
                                 std::to_string(ranks), "--lattice", text_of(lattice), "--repetitions", "1",     "--json"};
  words.insert(words.end(), flags.begin(), flags.end());
  constexpr double limit_seconds = 600;
  const ChildResult child = run_child(words, limit_seconds);
  ScalingRow row{.gpus = ranks, .part = lattice};
  if (!child.ok()) {
    row.failure = child.failure();
    return row;
  }
  const Json rows = Json::parse(child.out).at("solver");
  if (rows.size() != 1)
    throw Error(ErrorKind::input, scaling_command, fmt::format("{} cases", rows.size()),
                "give one --precision, one of --links, one --solver, one --nrhs");
  const Json& answer = rows.front();
  row.us = answer.at("us_per_iteration").get<double>();
  row.of_parts[0] = row.us;
  if (!answer.contains("ranks")) return row;
  const Json& on_ranks = answer.at("ranks");
  row.nodes = on_ranks.at("nodes").get<int>();
  row.grid = on_ranks.at("grid").get<Coord>();
  row.part = on_ranks.at("part").get<Coord>();
  for (std::size_t p = 0; p < parts.size(); ++p) row.of_parts[p] = on_ranks.at("us_per_iteration").at(parts[p].key).get<double>();
  return row;
}

/// Against the first that ran. What limits is the largest part of what an iteration takes beyond the first one's time, or of its part.
void judge(std::vector<ScalingRow>& rows, bool weak) {
  const auto first = std::find_if(rows.begin(), rows.end(), [](const ScalingRow& row) { return row.failure.empty(); });
  for (auto row = first; row < rows.end(); ++row) {
    if (!row->failure.empty()) continue;
    const double ideal = weak ? first->us : first->us * first->gpus / row->gpus;
    row->efficiency = ideal / row->us;
    if (row == first) continue;
    std::array<double, parts.size()> lost = row->of_parts;
    lost[0] -= ideal;
    row->limit = parts[static_cast<std::size_t>(std::max_element(lost.begin(), lost.end()) - lost.begin())].name;
  }
}

Json json_of_row(const ScalingRow& row) {
  if (!row.failure.empty()) return {{"gpus", row.gpus}, {"failure", row.failure}};
  Json of_parts;
  for (std::size_t p = 0; p < parts.size(); ++p) of_parts[parts[p].key] = row.of_parts[p];
  return {{"gpus", row.gpus},           {"nodes", row.nodes},
          {"grid", row.grid},           {"part", row.part},
          {"us_per_iteration", row.us}, {"efficiency", row.efficiency},
          {"us_of", of_parts},          {"limited_by", row.limit.empty() ? Json() : Json(row.limit)}};
}

void print_rows(const std::string& title, const std::vector<ScalingRow>& rows) {
  fmt::print("\n{}\n{:>6} {:>6} {:>12} {:>16} {:>9} {:>6} | {:>9} {:>7} {:>7} {:>7} {:>7} | limited by\n", title, "GPUs", "nodes", "cut",
             "sites a GPU", "us/iter", "eff.", "kernels", "inside", "between", "sums", "submit");
  for (const ScalingRow& row : rows) {
    if (!row.failure.empty()) {
      fmt::print("{:>6} {}\n", row.gpus, row.failure);
      continue;
    }
    fmt::print("{:>6} {:>6} {:>12} {:>16} {:>9.1f} {:>5.0f}% | {:>9.1f} {:>7.1f} {:>7.1f} {:>7.1f} {:>7.1f} | {}\n", row.gpus, row.nodes,
               fmt::format("{}", fmt::join(row.grid, "x")), fmt::format("{}", fmt::join(row.part, "x")), row.us, 100 * row.efficiency,
               row.of_parts[0], row.of_parts[1], row.of_parts[2], row.of_parts[3], row.of_parts[4], row.limit.empty() ? "-" : row.limit);
  }
  std::fflush(stdout);  // the next lattice takes a while
}

}  // namespace

int take_ranks(std::vector<char*>& arguments) {
  constexpr std::string_view flag = "--ranks";
  if (!is_word(arguments, 1, "bench") || !is_word(arguments, 2, "solver")) return 0;
  for (auto at = arguments.begin() + 3; at < arguments.end(); ++at) {
    const std::string_view text = *at;
    const bool joined = text.starts_with("--ranks=");
    if (text != flag && !joined) continue;
    const std::string value = joined ? std::string(text.substr(flag.size() + 1)) : at + 1 < arguments.end() ? at[1] : "";
    arguments.erase(at, std::min(at + (joined ? 1 : 2), arguments.end()));
    int ranks = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ranks);
    if (error != std::errc() || end != value.data() + value.size() || ranks < 1 || ranks > most_ranks)
      throw Error(ErrorKind::input, "--ranks", fmt::format("'{}' is no number of ranks", value), fmt::format("give 1 to {}", most_ranks));
    return ranks;
  }
  return 0;
}

int simulate_ranks(const std::string& file, int ranks, std::vector<char*> arguments) {
  const runtime::simulate::Machine machine = read_machine(file);
  if (machine.gpu_kinds.size() != 1)
    throw Error(ErrorKind::input, "--ranks", fmt::format("'{}' has {}", file, machine.gpus == 0 ? "no GPUs" : "unlike GPUs"),
                "take h200-nodes, or one like it");
  const bool in_one_node = ranks <= machine.gpus;
  if (ranks > 1 && !(in_one_node ? machine.peers : machine.proxy))
    throw Error(
        ErrorKind::input, "--ranks",
        fmt::format("the machine file '{}' has no [{}], by which {} GPUs exchange faces", file, in_one_node ? "peers" : "proxy", ranks),
        "take h200-nodes, or one like it");
  if (ranks > 1) runtime::simulate::stand_for_ranks(machine, ranks);
  std::string devices = "--devices=cuda";  // a policy or devices that are asked for come later, and count
  arguments.insert(arguments.begin() + 3, devices.data());
  return runtime::simulate::run(runtime::simulate::one_gpu_of(machine), static_cast<int>(arguments.size()), arguments.data());
}

bool asks_for_scaling(const std::vector<char*>& arguments) { return is_word(arguments, 1, "bench") && is_word(arguments, 2, "scaling"); }

std::string help_on_scaling() {
  ScalingOptions options;
  CLI::App app("", scaling_command);
  add_scaling_flags(app, options);
  return app.help();
}

Coord weak_lattice(const Coord& part, int ranks, int gpus) {
  Coord lattice = part;
  constexpr std::array<std::size_t, 4> turns{2, 1, 0, 3};
  std::size_t turn = 0;
  int in_node = 1;
  for (int left = ranks, factor = 2; left > 1;) {
    if (left % factor != 0) {
      ++factor;
      continue;
    }
    left /= factor;
    const bool fits = gpus % (in_node * factor) == 0;
    if (fits) in_node *= factor;
    lattice[fits ? 3 : turns[turn++ % turns.size()]] *= factor;
  }
  return lattice;
}

int simulate_scaling(const std::string& file, const std::vector<char*>& arguments) {
  ScalingOptions options;
  CLI::App app("", scaling_command);
  add_scaling_flags(app, options);
  try {
    std::vector<std::string> flags = join_coordinates({arguments.begin() + 3, arguments.end()});
    std::reverse(flags.begin(), flags.end());  // CLI11 takes them from the end
    app.parse(std::move(flags));
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::input, scaling_command, error.what(), "see quarkstar-sim bench scaling --help");
  }
  if (!std::is_sorted(options.ranks.begin(), options.ranks.end()))
    throw Error(ErrorKind::input, "--ranks", "numbers of GPUs are not ascending", "begin with the one that others are compared with");
  if (options.lattices.empty() && !options.part) {
    options.part = Coord{32, 32, 32, 32};
    options.lattices = {{48, 48, 48, 96}, {96, 96, 96, 192}};
  }
  const std::string path = machine_path(file);
  const runtime::simulate::Machine machine = read_machine(path);
  struct Series {
    bool weak;
    Coord sites;
  };
  std::vector<Series> all;
  if (options.part) all.push_back({true, *options.part});
  for (const Coord& lattice : options.lattices) all.push_back({false, lattice});
  Json result = Json::array();
  for (const auto& [weak, sites] : all) {
    std::vector<ScalingRow> rows;
    for (const int ranks : options.ranks)
      rows.push_back(ask(path, ranks, weak ? weak_lattice(sites, ranks, machine.gpus) : sites, app.remaining()));
    judge(rows, weak);
    if (std::all_of(rows.begin(), rows.end(), [](const ScalingRow& row) { return !row.failure.empty(); }))
      throw Error(ErrorKind::input, scaling_command, rows.front().failure, "see quarkstar-sim bench solver --help");
    Json of_rows = Json::array();
    for (const ScalingRow& row : rows) of_rows.push_back(json_of_row(row));
    result.push_back({{weak ? "per_gpu" : "lattice", sites}, {"rows", of_rows}});
    if (!options.json)
      print_rows(fmt::format(
                     "{}: {}", machine.name,
                     weak ? fmt::format("{} for each GPU", fmt::join(sites, "x")) : fmt::format("{} shared by all", fmt::join(sites, "x"))),
                 rows);
  }
  if (options.json) fmt::print("{}\n", Json{{"machine", machine.name}, {"scaling", result}}.dump(2));
  return 0;
}

}  // namespace quarkstar::app
