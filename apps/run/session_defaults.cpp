#include "apps/run/session_defaults.hpp"

#include "codelets/arch/lane_bytes.hpp"
#include "runtime/backend.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar::app {

runtime::SessionOptions session_defaults() {
  runtime::SessionOptions options;
  // Results of another machine's model must not depend on where it runs.
  if constexpr (!runtime::backend::computes) return options;
  try {
    options.lane_bytes = arch::lane_bytes();
  } catch (const Error&) {
  }
  return options;
}

}  // namespace quarkstar::app
