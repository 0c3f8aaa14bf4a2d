#pragma once
// What tests of refusals share.
#include "runtime/system/error.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace quarkstar::error_testing {

/// The message of the error of that kind that the call throws, or "no error".
template <class Call>
std::string message_of(Call&& call, ErrorKind kind = ErrorKind::input) {
  try {
    std::forward<Call>(call)();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "no error";
}

}  // namespace quarkstar::error_testing
