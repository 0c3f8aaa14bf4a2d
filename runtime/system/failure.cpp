#include "runtime/system/failure.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <new>
#include <system_error>

namespace quarkstar::runtime {

Failure failure_of(const std::exception& error, std::string_view memory_remedy) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) return {ours->what(), ours->exit_code(), ours->parameter()};
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return {fmt::format("out of memory; {}", memory_remedy), static_cast<int>(ErrorKind::environment)};
  if (dynamic_cast<const std::system_error*>(&error) != nullptr)
    return {fmt::format("the system refuses a thread or a file: {}; raise its limits (ulimit -a), or free some", error.what()),
            static_cast<int>(ErrorKind::environment)};
  return {fmt::format("{}; this is a defect: please report it with the command line", error.what()), static_cast<int>(ErrorKind::internal)};
}

}  // namespace quarkstar::runtime
