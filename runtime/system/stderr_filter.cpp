#include "runtime/system/stderr_filter.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace quarkstar::runtime {
namespace {

void write_all(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(to, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace

StderrFilter::StderrFilter(std::string noise) : noise_(std::move(noise)) {
  int ends[2];
  std::fflush(stderr);
  original_ = dup(STDERR_FILENO);
  if (original_ < 0) return;
  if (pipe(ends) != 0) {
    close(std::exchange(original_, -1));
    return;
  }
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  reader_ = std::thread([this, from = ends[0]] { pass_on(from); });
}

StderrFilter::~StderrFilter() {
  if (original_ < 0) return;
  std::fflush(stderr);
  dup2(original_, STDERR_FILENO);  // closes the last writing end, so that the reader comes to its end
  reader_.join();
  close(original_);
}

void StderrFilter::pass_on(int from) const {
  std::string line;
  char buffer[4096];
  for (ssize_t count; (count = read(from, buffer, sizeof buffer)) > 0;)
    for (ssize_t i = 0; i < count; ++i) {
      line += buffer[i];
      if (buffer[i] != '\n') continue;
      if (line.find(noise_) == std::string::npos) write_all(original_, line);
      line.clear();
    }
  write_all(original_, line);
  close(from);
}

}  // namespace quarkstar::runtime
