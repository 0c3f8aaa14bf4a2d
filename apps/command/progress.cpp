#include "apps/command/progress.hpp"

#include "runtime/mpi/job.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace quarkstar::app {
namespace {

constexpr auto redraw_interval = std::chrono::milliseconds(100);
constexpr auto log_interval = std::chrono::seconds(10);
constexpr int bar_width = 30;

}  // namespace

ProgressBar::ProgressBar(std::string title, int steps)
    : title_(std::move(title)),
      steps_(steps),
      shown_(runtime::mpi::Job::current().is_root()),
      terminal_(shown_ && isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::update(int step, double fraction, const std::string& detail) {
  if (!shown_) return;
  const auto now = Clock::now();
  if (terminal_ && now - last_ >= redraw_interval) {
    last_ = now;
    draw(step + fraction, step, detail);
  } else if (!terminal_ && now - last_ >= log_interval) {
    last_ = now;
    spdlog::info("{} {}/{}: {}", title_, step + 1, steps_, detail);
  }
}

void ProgressBar::step_done(int step, const std::string& detail) {
  if (!shown_) return;
  last_ = Clock::now();
  if (terminal_) draw(step, step - 1, detail);
  else spdlog::info("{} {}/{} done: {}", title_, step, steps_, detail);
}

void ProgressBar::draw(double done, int step, const std::string& detail) {
  const int filled = std::clamp(static_cast<int>(bar_width * done / steps_), 0, bar_width);
  const std::string line = fmt::format("\r\033[K{} [{}{}] {}/{}  {}", title_, std::string(static_cast<std::size_t>(filled), '#'),
                                       std::string(static_cast<std::size_t>(bar_width - filled), '.'), step + 1, steps_, detail);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace quarkstar::app
