#pragma once
// The subcommands of `quarkstar`. A new one is one file NAME_command.cpp, one declaration here and one line in
// commands.cpp.
#include "runtime/session.hpp"

#include <CLI/CLI.hpp>

#include <vector>

namespace quarkstar::app {

/// Adds a subcommand with its flags and, as its callback, what it does. Callbacks report failure by throwing.
using AddCommand = void (*)(CLI::App&);

void add_bench(CLI::App& app);
void add_demo(CLI::App& app);
void add_gauge(CLI::App& app);
void add_machine(CLI::App& app);
void add_solve(CLI::App& app);
void add_verify(CLI::App& app);

/// All of them, in the order of the help text.
const std::vector<AddCommand>& commands();

/// --workers, --threads, --worker-mode, --policy for commands that start a session; `options` must outlive the parsing.
void add_session_flags(CLI::App& command, runtime::SessionOptions& options);

}  // namespace quarkstar::app
