#include "runtime/graph/pause.hpp"

#include "runtime/mpi/messages.hpp"

#include <starpu.h>

namespace quarkstar::runtime {

void pause(Session& session) {
  session.wait_all();
  starpu_pause();
}

void resume(Session& session) {
  if (mpi::Messages* const messages = session.messages(); messages != nullptr) messages->wake();
  starpu_resume();
}

}  // namespace quarkstar::runtime
