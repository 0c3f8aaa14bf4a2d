#include "runtime/graph/pause.hpp"

#include <starpu.h>

namespace quarkstar::runtime {

void pause(Session& session) {
  session.wait_all();
  starpu_pause();
}

void resume(Session&) { starpu_resume(); }

}  // namespace quarkstar::runtime
