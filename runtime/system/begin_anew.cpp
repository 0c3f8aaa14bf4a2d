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

cpu_set_t* mask_in(std::vector<unsigned long>& words) { return reinterpret_cast<cpu_set_t*>(words.data()); }

/// Files of drivers hold what they have on their devices.
void close_files_on_exec() {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd", error))
    if (const int number = std::atoi(file.path().filename().c_str()); number > STDERR_FILENO) ::fcntl(number, F_SETFD, FD_CLOEXEC);
}

}  // namespace

BeginAnew::BeginAnew() : arguments_(command_line()) {
  for (char** variable = environ; *variable != nullptr; ++variable) environment_.emplace_back(*variable);
  // The kernel refuses masks that are shorter than its own, and tells nobody how long that is; cpu_set_t has 1024 bits.
  constexpr std::size_t usual = sizeof(cpu_set_t) / sizeof(unsigned long), most = 1024 * usual;
  int refused = EINVAL;
  for (std::size_t words = usual; refused == EINVAL && words <= most; words *= 2) {
    cores_.assign(words, 0);
    refused = ::sched_getaffinity(0, words * sizeof(unsigned long), mask_in(cores_)) == 0 ? 0 : errno;
  }
  if (refused != 0) cores_.clear();
}

void BeginAnew::with(const std::vector<std::string>& further, const std::vector<std::string>& variables) const {
  std::vector<std::string> arguments = arguments_, environment = environment_;
  arguments.insert(arguments.end(), further.begin(), further.end());
  for (const std::string& variable : variables) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(environment, [&name](const std::string& other) { return other.starts_with(name); });
    environment.push_back(variable);
  }
  std::fflush(stdout);
  std::fflush(stderr);
  close_files_on_exec();
  // A program inherits what its thread had: cores of a worker, and signals that it leaves to others.
  std::vector<unsigned long> cores = cores_;
  if (!cores.empty()) ::sched_setaffinity(0, cores.size() * sizeof(unsigned long), mask_in(cores));
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::execve("/proc/self/exe", pointers_to(arguments).data(), pointers_to(environment).data());
  spdlog::warn("the program cannot be begun anew: {}", std::strerror(errno));
}

}  // namespace quarkstar::runtime
