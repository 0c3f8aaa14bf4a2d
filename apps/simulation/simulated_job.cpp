#include "apps/simulation/simulated_job.hpp"

#include "apps/command/commands.hpp"
#include "apps/command/own_executable.hpp"
#include "apps/run/parse.hpp"
#include "apps/simulation/machine_file.hpp"
#include "runtime/simulate/process.hpp"
#include "runtime/system/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace quarkstar::app {
namespace {

std::string library_of_ranks() {
  const std::string path = neighbour_of_executable("quarkstar-rank.so");
  if (!std::filesystem::exists(path))
    throw Error(ErrorKind::environment, path, "is missing: it is what each simulated rank runs", "build it with ./bootstrap simulation");
  return path;
}

struct JobOptions {
  int ranks = 0, repetitions = 2;
  Coord part{4, 4, 4, 4};
  bool json = false;
};

void add_flags(CLI::App& app, JobOptions& options) {
  app.description("What an iteration costs each rank of a large job, on the nodes of --machine");
  app.add_option("--ranks", options.ranks, "Ranks of the job, one a node")->required()->check(CLI::Range(2, 65536));
  app.add_option("--repetitions", options.repetitions, "Timed batches of 4 iterations")->check(CLI::Range(1, 1000));
  app.add_flag("--json", options.json, "Print JSON");
  add_coord_flag(app, "--lattice", options.part, "Sites of each rank", 2);
}

constexpr const char* command = "quarkstar-sim bench submission";

}  // namespace

bool asks_for_job(const std::vector<char*>& arguments) {
  const auto is = [&](std::size_t i, std::string_view text) { return i < arguments.size() && arguments[i] == text; };
  return is(1, "bench") && is(2, "submission");
}

std::string help_on_job() {
  JobOptions options;
  CLI::App app("", command);
  add_flags(app, options);
  return app.help();
}

int simulate_job(const std::string& file, const std::vector<char*>& arguments) {
  JobOptions options;
  CLI::App app("", command);
  add_flags(app, options);
  try {
    std::vector<std::string> flags = join_coordinates({arguments.begin() + 3, arguments.end()});
    std::reverse(flags.begin(), flags.end());  // CLI11 takes them from the end
    app.parse(std::move(flags));
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::input, command, error.what(), "give --ranks N, and if you like --lattice X,Y,Z,T, --repetitions N, --json");
  }
  const std::string path = machine_path(file);
  const runtime::simulate::Machine machine = read_machine(path);
  if (!(machine.network_gbs > 0))
    throw Error(ErrorKind::input, "--machine", fmt::format("'{}' has no network", file),
                "take one of several nodes, such as k40-power8-x4");
  return runtime::simulate::run_job(machine, options.ranks, library_of_ranks(),
                                    {path, text_of(options.part), fmt::format("{}", options.repetitions), options.json ? "json" : "text"});
}

}  // namespace quarkstar::app
