#pragma once
// What is said of an exception that ends a command, and with which exit code.
#include <exception>
#include <string>
#include <string_view>

namespace quarkstar::runtime {

struct Failure {
  std::string message;
  int exit_code;
  std::string parameter = {};  ///< Error::parameter()
};

/// An Error speaks for itself; want of memory is the machine's; anything else is a defect of ours. memory_remedy: what to do about the
/// second.
Failure failure_of(const std::exception& error, std::string_view memory_remedy);

}  // namespace quarkstar::runtime
