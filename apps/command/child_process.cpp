#include "apps/command/child_process.hpp"

#include "runtime/system/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

extern char** environ;

namespace quarkstar::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_text = std::size_t{1} << 20;

/// The reading end of a pipe and what has come out of it.
class Output {
 public:
  Output() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw Error(ErrorKind::environment, "pipe", std::strerror(errno), "close other programs");
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    ::close(ends_[0]);
    close_writer();
  }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void read() {
    char part[65536];
    for (ssize_t count; (count = ::read(ends_[0], part, sizeof part)) > 0;) {
      text_.append(part, static_cast<std::size_t>(count));
      if (text_.size() > 2 * longest_text) text_.erase(0, text_.size() - longest_text);
    }
  }
  std::string take() { return std::move(text_); }

 private:
  std::array<int, 2> ends_{-1, -1};
  std::string text_;
};

pid_t start(const std::vector<std::string>& arguments, const Output& out, const Output& err) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.writer(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.writer(), STDERR_FILENO);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  const int code = ::posix_spawn(&child, arguments.front().c_str(), &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code != 0) throw Error(ErrorKind::environment, arguments.front(), std::strerror(code), "check that it is there and can be run");
  return child;
}

/// The last line with a word in it.
std::string last_line(const std::string& text) {
  std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace

std::string ChildResult::failure() const {
  if (ok()) return "";
  constexpr std::string_view mark = "quarkstar: error: ";
  std::string message = last_line(err);
  if (const std::size_t at = err.rfind(mark); at != std::string::npos)
    message = err.substr(at + mark.size(), err.find('\n', at) - at - mark.size());
  if (timed_out) return fmt::format("ended after {:.0f} s, the time limit", seconds);
  if (signal != 0) return fmt::format("killed by signal {} ({}){}{}", signal, ::strsignal(signal), message.empty() ? "" : ": ", message);
  return message.empty() ? fmt::format("exit code {} without a message", exit_code) : message;
}

ChildResult run_child(const std::vector<std::string>& arguments, double limit_seconds, const std::function<bool()>& should_stop,
                      double grace_seconds, const std::function<void(int group)>& started) {
  Output out, err;
  const Clock::time_point begin = Clock::now();
  const pid_t child = start(arguments, out, err);
  if (started) started(child);
  out.close_writer();
  err.close_writer();
  ChildResult result;
  const auto since = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  Clock::time_point kill_at = Clock::time_point::max();
  const auto end_it = [&] {
    ::kill(-child, SIGTERM);
    kill_at = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(grace_seconds));
  };
  // Polls the process, not the end of its output: a child of its own may hold that open.
  for (int status = 0;;) {
    const bool ended = ::waitpid(child, &status, WNOHANG) == child;
    out.read();
    err.read();
    if (ended) {
      result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      break;
    }
    if (Clock::now() > kill_at) {
      ::kill(-child, SIGKILL);
    } else if (kill_at == Clock::time_point::max()) {
      result.timed_out = since() > limit_seconds;
      if (result.timed_out || (should_stop && should_stop())) end_it();
    }
    std::array<pollfd, 2> ends{{{out.reader(), POLLIN, 0}, {err.reader(), POLLIN, 0}}};
    ::poll(ends.data(), ends.size(), 50);
    // A closed pipe is always ready.
    if (((ends[0].revents | ends[1].revents) & POLLIN) == 0 && ((ends[0].revents | ends[1].revents) & POLLHUP) != 0) ::usleep(5000);
  }
  ::kill(-child, SIGKILL);  // what it left behind
  result.seconds = since();
  result.out = out.take();
  result.err = err.take();
  return result;
}

}  // namespace quarkstar::app
