#pragma once
// Ctrl-C and SIGTERM: a flag that long work looks at, so that it can end between steps and leave no half-written file.

namespace quarkstar::app {

/// Thrown by long work that noticed an interrupt; the command then ends with exit code 130.
struct Interrupted {};

/// From here on the first SIGINT or SIGTERM sets the flag; a second one ends the process as usual.
void catch_interrupts();
bool interrupted();
/// Whether any rank of the job has been interrupted: the same answer on all of them, so all must ask.
bool interrupted_anywhere();

/// Throws Interrupted if the flag is set.
void stop_if_interrupted();

}  // namespace quarkstar::app
