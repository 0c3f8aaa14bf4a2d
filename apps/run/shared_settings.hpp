#pragma once
// Every rank of a job reads its own flags and run file: what they must agree in, and whether they do.
#include "apps/run/config.hpp"

#include <string>

namespace quarkstar::app {

/// The settings that make up one solve on many ranks, a line `--KEY VALUE` each, values as in reports. Not among them: what a rank may have
/// of its own, as its devices, workers, memory, power and watchdog.
std::string shared_settings(const RunConfig& config);

/// mine, roots: shared_settings() of this rank and of rank 0, or such lines of another command. Throws Error(input) that
/// names the first setting in which they differ, and both values.
void require_same_settings(const std::string& mine, const std::string& roots);

/// The same on all ranks of the job. Throws SharedError. Collective.
void require_same_settings_everywhere(const std::string& mine);

}  // namespace quarkstar::app
