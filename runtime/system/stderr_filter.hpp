#pragma once
#include <string>
#include <thread>

namespace quarkstar::runtime {

/// While it lives, what the process writes to stderr passes through a thread that drops every line that contains `noise`. For libraries
/// that print what nobody can act upon and offer no switch. Does nothing where the system refuses a pipe.
class StderrFilter {
 public:
  explicit StderrFilter(std::string noise);
  ~StderrFilter();
  StderrFilter(const StderrFilter&) = delete;
  StderrFilter& operator=(const StderrFilter&) = delete;

 private:
  void pass_on(int from) const;

  std::string noise_;
  int original_ = -1;  ///< the real stderr
  std::thread reader_;
};

}  // namespace quarkstar::runtime
