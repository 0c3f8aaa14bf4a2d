#pragma once
// A session between two pieces of work.
#include "runtime/graph/session.hpp"

namespace quarkstar::runtime {

/// Workers sleep from here on, instead of looking for tasks, until resume(). Waits for all that was submitted.
void pause(Session& session);
void resume(Session& session);

}  // namespace quarkstar::runtime
