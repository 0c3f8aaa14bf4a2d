#include "apps/command/interrupt.hpp"

#include "runtime/mpi/launcher.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace quarkstar::app {
namespace {

volatile std::sig_atomic_t flag = 0, save_flag = 0;
bool tells = false;

void on_signal(int signal) {
  const int before = errno;
  flag = 1;
  // Who reads our messages may have been ended by the same Ctrl-C: that must not end what has still to be saved.
  std::signal(SIGPIPE, SIG_IGN);
  constexpr std::string_view text = "quarkstar: interrupted; ends when the step at work has ended. A second signal ends it at once\n";
  [[maybe_unused]] const bool said = tells && signal != SIGUSR2 && write(STDERR_FILENO, text.data(), text.size()) > 0;
  errno = before;
}
void on_save(int) { save_flag = 1; }

}  // namespace

void catch_interrupts() {
  if (interrupted()) return;  // the handlers are there, and the next signal is the second one
  tells = runtime::mpi::read_launch(std::getenv).rank == 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  // SA_RESETHAND gives the second signal its default effect, for work that does not look at the flag.
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &action, nullptr);
  action.sa_handler = on_save;
  sigaction(SIGUSR1, &action, nullptr);
}

bool interrupted() { return flag != 0; }

bool CommandWatch::save_requested() {
  const bool requested = save_flag != 0;
  if (requested) save_flag = 0;
  return requested;
}

}  // namespace quarkstar::app
