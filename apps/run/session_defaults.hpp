#pragma once
#include "runtime/graph/session.hpp"

namespace quarkstar::app {

/// What a command's session is unless its flags say otherwise: SessionOptions, with layouts for this processor's kernels. Where
/// $QUARKSTAR_ARCH is wrong the options are SessionOptions' own: commands that start no kernel do without it, and whatever starts one
/// reports it.
runtime::SessionOptions session_defaults();

}  // namespace quarkstar::app
