#pragma once
// Ctrl-C, SIGTERM and SIGUSR1: flags that long work looks at, so that it can end or save itself between steps and leave no half-written file.
#include <string>

namespace quarkstar::app {

/// Thrown by long work that noticed an interrupt; the command then ends with exit code 130.
struct Interrupted {
  std::string saved;  ///< folder with restart files, or empty
};

/// From here on the first SIGINT or SIGTERM sets the flag; a second one ends the process as usual. SIGUSR1 asks for a restart file.
void catch_interrupts();
bool interrupted();
/// Whether any rank of the job has been interrupted: the same answer on all of them, so all must ask.
bool interrupted_anywhere();

/// How many times so far some rank was found to have had a SIGUSR1 since the question before. All ranks must ask.
int save_requests();

/// Throws Interrupted if the flag is set.
void stop_if_interrupted();

}  // namespace quarkstar::app
