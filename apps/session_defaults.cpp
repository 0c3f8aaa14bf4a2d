#include "apps/session_defaults.hpp"

#include "codelets/arch/lane_bytes.hpp"
#include "runtime/simulate/simulate.hpp"

namespace quarkstar::app {

runtime::SessionOptions session_defaults() {
  runtime::SessionOptions options;
  // What a simulation gives must not depend on where it runs.
  if constexpr (!runtime::simulate::active) options.lane_bytes = arch::lane_bytes();
  return options;
}

}  // namespace quarkstar::app
