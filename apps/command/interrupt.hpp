#pragma once
// Ctrl-C, SIGTERM, SIGUSR1 and SIGUSR2: flags that long work looks at, so that it can end or save itself between steps and leave no
// half-written file.
#include "apps/command/progress.hpp"

#include <memory>
#include <string>

namespace quarkstar::app {

/// From here on the first SIGINT or SIGTERM sets the flag, and rank 0 says so; a second one ends the process as usual. SIGUSR2 sets it too:
/// launchers hand it on, and give ranks all the time they need, where SIGTERM has `mpirun` kill them after seconds. SIGUSR1 asks for a
/// restart file. May be called again.
void catch_interrupts();
bool interrupted();

/// A run of this command is ended and saved by these signals, and its progress is shown.
class CommandWatch : public RunWatch {
 public:
  CommandWatch() { catch_interrupts(); }
  bool interrupted() override { return app::interrupted(); }
  bool save_requested() override;
  std::unique_ptr<RunProgress> progress(const std::string& title, int steps) override {
    return std::make_unique<ProgressBar>(title, steps);
  }
};

}  // namespace quarkstar::app
