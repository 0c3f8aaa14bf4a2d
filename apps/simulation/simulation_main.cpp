// The command `quarkstar-sim`: takes --machine, and runs `quarkstar` on that machine, which need not exist.
#include "apps/simulation/machine_file.hpp"
#include "apps/simulation/simulated_job.hpp"
#include "apps/simulation/simulated_ranks.hpp"
#include "runtime/simulate/process.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The main() of `quarkstar` (apps/command/main.cpp), as StarPU's headers rename it.
extern "C" int starpu_main(int argc, char** argv);

namespace {

using quarkstar::Error;
using quarkstar::ErrorKind;

/// Whether the answer is the same on every machine.
bool asks_for_text(const std::vector<char*>& arguments) {
  constexpr std::string_view texts[] = {"--help", "--help-all", "-h", "--version"};
  const auto is_one = [&](const char* argument) { return std::find(std::begin(texts), std::end(texts), argument) != std::end(texts); };
  return std::any_of(arguments.begin() + 1, arguments.end(), is_one);
}

/// Takes "--machine X" or "--machine=X" out of the arguments.
std::string take_machine(std::vector<char*>& arguments) {
  constexpr std::string_view flag = "--machine";
  for (auto at = arguments.begin() + 1; at < arguments.end(); ++at) {
    const std::string_view text = *at;
    const bool joined = text.starts_with("--machine=");
    if (text != flag && !joined) continue;
    if (!joined && at + 1 == arguments.end()) break;
    const std::string value = joined ? std::string(text.substr(flag.size() + 1)) : std::string(at[1]);
    arguments.erase(at, at + (joined ? 1 : 2));
    return value;
  }
  throw Error(ErrorKind::input, "--machine", "no machine to simulate was given",
              fmt::format("give the path of a machine file, or one of {}", fmt::join(quarkstar::app::shipped_machines(), ", ")));
}

/// Nothing is computed, so only what measures times has a meaning.
void require_timing_command(const std::vector<char*>& arguments) {
  const auto text = [&arguments](std::size_t i) { return std::string_view(i < arguments.size() ? arguments[i] : ""); };
  const bool timed = text(1) == "bench" && (text(2) == "solver" || text(2) == "dslash" || text(2) == "replay" || text(2).starts_with("-"));
  if (!timed && text(1) != "machine" && !text(1).starts_with("-"))
    throw Error(ErrorKind::input, fmt::format("quarkstar-sim {}", fmt::join(arguments.begin() + 1, arguments.end(), " ")),
                "a simulation computes times and no numbers",
                "use `bench solver`, `bench dslash`, `bench replay`, `bench scaling`, `bench submission` or `machine`");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<char*> arguments(argv, argv + argc);
    if (asks_for_text(arguments)) {
      // Not below, where SimGrid would take these flags for its own.
      const bool scaling = quarkstar::app::asks_for_scaling(arguments);
      if (!scaling && !quarkstar::app::asks_for_job(arguments)) return starpu_main(argc, argv);
      fmt::print("{}", scaling ? quarkstar::app::help_on_scaling() : quarkstar::app::help_on_job());
      return 0;
    }
    const std::string machine = take_machine(arguments);
    if (quarkstar::app::asks_for_job(arguments)) return quarkstar::app::simulate_job(machine, arguments);
    if (quarkstar::app::asks_for_scaling(arguments)) return quarkstar::app::simulate_scaling(machine, arguments);
    require_timing_command(arguments);
    if (const int ranks = quarkstar::app::take_ranks(arguments); ranks > 0)
      return quarkstar::app::simulate_ranks(machine, ranks, std::move(arguments));
    return quarkstar::runtime::simulate::run(quarkstar::app::read_machine(machine), static_cast<int>(arguments.size()), arguments.data());
  } catch (const Error& error) {
    fmt::print(stderr, "quarkstar: error: {}\n", error.what());
    return error.exit_code();
  }
}
