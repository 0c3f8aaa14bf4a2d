#include "runtime/system/begin_anew.hpp"

#include <fcntl.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace quarkstar::runtime {
namespace {

/// Of this process, each ended by a zero byte.
std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Files of drivers hold what they have on their devices.
void close_files_on_exec() {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd", error))
    if (const int number = std::atoi(file.path().filename().c_str()); number > STDERR_FILENO) ::fcntl(number, F_SETFD, FD_CLOEXEC);
}

}  // namespace

BeginAnew::BeginAnew() : arguments_(command_line()) {
  for (char** variable = environ; *variable != nullptr; ++variable) environment_.emplace_back(*variable);
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores_.push_back(core);
}

void BeginAnew::with(const std::vector<std::string>& further) const {
  std::vector<std::string> arguments = arguments_;
  arguments.insert(arguments.end(), further.begin(), further.end());
  std::fflush(stdout);
  std::fflush(stderr);
  close_files_on_exec();
  // A program inherits what its thread had: cores of a worker, and signals that it leaves to others.
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores_) CPU_SET(core, &set);
  if (!cores_.empty()) ::sched_setaffinity(0, sizeof(set), &set);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::execve("/proc/self/exe", pointers_to(arguments).data(), pointers_to(environment_).data());
  spdlog::warn("the program cannot be begun anew: {}", std::strerror(errno));
}

}  // namespace quarkstar::runtime
