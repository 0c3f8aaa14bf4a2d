#include "apps/run/session_defaults.hpp"

#include "codelets/arch/lane_bytes.hpp"
#include "runtime/simulate/simulate.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar::app {

runtime::SessionOptions session_defaults() {
  runtime::SessionOptions options;
  // What a simulation gives must not depend on where it runs.
  if constexpr (runtime::simulate::active) return options;
  try {
    options.lane_bytes = arch::lane_bytes();
  } catch (const Error&) {
  }
  return options;
}

}  // namespace quarkstar::app
