#pragma once
// The subcommands of `quarkstar`. A new one is one file NAME_command.cpp, one declaration here and one line in
// main.cpp.
#include "apps/run/config.hpp"
#include "runtime/cut/coord.hpp"
#include "runtime/graph/session.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app {

/// Adds a subcommand with its flags and, as its callback, what it does. Callbacks report failure by throwing.
using AddCommand = void (*)(CLI::App&);

void add_bench(CLI::App& app);
void add_demo(CLI::App& app);
void add_eigen(CLI::App& app);
void add_gauge(CLI::App& app);
void add_lab(CLI::App& app);
void add_machine(CLI::App& app);
void add_model(CLI::App& app);
void add_run(CLI::App& app);
void add_solve(CLI::App& app);
void add_verify(CLI::App& app);

/// Settings that flags gave, in the order of the command line.
using Assignments = std::shared_ptr<std::vector<Assignment>>;
/// The flag --KEY of a setting of solves.
void add_setting_flag(CLI::App& command, const Setting& field, const Assignments& given);

/// The value of a flag that takes four numbers, each at least `least`. Throws Error(input) naming flag and value.
Coord coord_of_flag(const std::string& flag, const std::string& value, int least);

/// Such a flag; `coord` must outlive the parsing.
template <class Destination>
CLI::Option* add_coord_flag(CLI::App& command, const std::string& flag, Destination& coord, const std::string& help, int least) {
  return command
      .add_option_function<std::string>(
          flag, [flag, least, &coord](const std::string& value) { coord = coord_of_flag(flag, value, least); }, help)
      ->type_name("X,Y,Z,T");
}

/// --ranks of commands that read or make links.
void add_ranks_flag(CLI::App& command, std::optional<Coord>& ranks);

/// A check of a number's lower limit.
CLI::Validator at_least(double least);

/// --policy, --watts, --devices, --cpu-share, --gpu-memory, --gpus, --workers, --threads, --worker-mode, --throttle for commands that start
/// a session; `options` must outlive the parsing.
void add_session_flags(CLI::App& command, runtime::SessionOptions& options);

}  // namespace quarkstar::app
