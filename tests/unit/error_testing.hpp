#pragma once
// What tests of refusals share.
#include "runtime/error.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace quarkstar::error_testing {

/// The message of the input error that the call throws, or "no error".
template <class Call>
std::string message_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.what();
  }
  return "no error";
}

}  // namespace quarkstar::error_testing
