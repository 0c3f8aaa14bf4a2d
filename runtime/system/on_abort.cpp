#include "runtime/system/on_abort.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <utility>

namespace quarkstar::runtime {
namespace {

std::atomic<void (*)()> to_call = nullptr;
struct sigaction before {};

void handle(int number, siginfo_t* info, void*) {
  thread_local bool at_work = false;
  const bool is_of_this_thread = info->si_code == SI_TKILL && info->si_pid == ::getpid();
  if (void (*what)() = to_call; is_of_this_thread && what != nullptr && !std::exchange(at_work, true)) what();
  ::sigaction(number, &before, nullptr);
  ::raise(number);  // comes when this function has returned
}

}  // namespace

OnAbort::OnAbort(void (*what)()) {
  to_call = what;
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGABRT, &action, &before);
}

OnAbort::~OnAbort() {
  ::sigaction(SIGABRT, &before, nullptr);
  to_call = nullptr;
}

}  // namespace quarkstar::runtime
