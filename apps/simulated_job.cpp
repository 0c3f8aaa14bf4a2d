#include "apps/simulated_job.hpp"

#include "apps/commands.hpp"
#include "apps/machine_file.hpp"
#include "apps/parse.hpp"
#include "runtime/error.hpp"
#include "runtime/simulate/process.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace quarkstar::app {
namespace {

namespace fs = std::filesystem;

/// Beside the executable.
std::string library_of_ranks() {
  const fs::path path = fs::read_symlink("/proc/self/exe").parent_path() / "quarkstar-rank.so";
  if (!fs::exists(path))
    throw Error(ErrorKind::environment, path.string(), "is missing: it is what each simulated rank runs",
                "build it with ./bootstrap simulation");
  return path.string();
}

}  // namespace

bool asks_for_job(const std::vector<char*>& arguments) {
  const auto is = [&](std::size_t i, std::string_view text) { return i < arguments.size() && arguments[i] == text; };
  return is(1, "bench") && is(2, "submission");
}

int simulate_job(const std::string& file, const std::vector<char*>& arguments) {
  CLI::App app("What an iteration costs each rank of a large job", "quarkstar-sim bench submission");
  int ranks = 0, repetitions = 2;
  Coord part{4, 4, 4, 4};
  bool json = false;
  app.add_option("--ranks", ranks, "Ranks of the job, one a node")->required()->check(CLI::Range(2, 65536));
  app.add_option("--repetitions", repetitions, "Timed batches of 4 iterations")->check(CLI::Range(1, 1000));
  app.add_flag("--json", json, "Print JSON");
  add_coord_flag(app, "--lattice", part, "Sites of each rank", 2);
  try {
    std::vector<std::string> flags = join_coordinates({arguments.begin() + 3, arguments.end()});
    std::reverse(flags.begin(), flags.end());  // CLI11 takes them from the end
    app.parse(std::move(flags));
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::input, "quarkstar-sim bench submission", error.what(),
                "give --ranks N, and if you like --lattice X,Y,Z,T, --repetitions N, --json");
  }
  const runtime::simulate::Machine machine = read_machine(file);
  if (!(machine.network_gbs > 0))
    throw Error(ErrorKind::input, "--machine", fmt::format("'{}' has no network", file),
                "take one of several nodes, such as k40-power8-x4");
  return runtime::simulate::run_job(machine, ranks, library_of_ranks(),
                                    {file, text_of(part), fmt::format("{}", repetitions), json ? "json" : "text"});
}

}  // namespace quarkstar::app
