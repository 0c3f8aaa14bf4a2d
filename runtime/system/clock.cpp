#include "runtime/system/clock.hpp"

#include <starpu.h>

namespace quarkstar::runtime {

double now_us() { return starpu_timing_now(); }

}  // namespace quarkstar::runtime
