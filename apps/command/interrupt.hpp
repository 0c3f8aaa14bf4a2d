#pragma once
// Ctrl-C, SIGTERM, SIGUSR1 and SIGUSR2: flags that long work looks at, so that it can end or save itself between steps and leave no
// half-written file.
#include <string>

namespace quarkstar::app {

/// Thrown by long work that noticed an interrupt; the command then ends with exit code 130.
struct Interrupted {
  std::string saved;                       ///< folder with what is kept, or empty
  std::string what = "restart files are";  ///< that it holds
};

/// From here on the first SIGINT or SIGTERM sets the flag; a second one ends the process as usual. SIGUSR2 sets it too: launchers hand it
/// on, and give ranks all the time they need, where SIGTERM has `mpirun` kill them after seconds. SIGUSR1 asks for a restart file. May be
/// called again.
void catch_interrupts();
bool interrupted();
/// Whether any rank of the job has been interrupted: the same answer on all of them, so all must ask.
bool interrupted_anywhere();

/// How many times so far some rank was found to have had a SIGUSR1 since the question before. All ranks must ask.
int save_requests();
/// The same without a question: what has come since is left for the next one.
int save_requests_so_far();

/// Throws Interrupted{saved} on all ranks if any has been interrupted, so all must ask.
void stop_all_if_interrupted(const std::string& saved);

}  // namespace quarkstar::app
