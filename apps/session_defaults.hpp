#pragma once
#include "runtime/session.hpp"

namespace quarkstar::app {

/// What a command's session is unless its flags say otherwise: SessionOptions, with layouts for this processor's kernels.
/// Throws Error(input) as arch::current() does.
runtime::SessionOptions session_defaults();

}  // namespace quarkstar::app
