#pragma once
// Descriptions of machines for simulations: TOML files, those of apps/simulation/machines/ and apps/studies/machines/ by their name.
#include "runtime/simulate/machine.hpp"

#include <string>
#include <vector>

namespace quarkstar::app {

/// Reads a machine. file: a path, or the name of a shipped machine. Every number must be there, and every table must say where its numbers
/// come from (`source`). Throws Error(input) that names file, line, key and remedy.
runtime::simulate::Machine read_machine(const std::string& file);

/// The file that read_machine() reads. Throws Error(input) naming the shipped machines where there is none.
std::string machine_path(const std::string& file);

/// Names of the shipped machines, sorted.
std::vector<std::string> shipped_machines();

}  // namespace quarkstar::app
