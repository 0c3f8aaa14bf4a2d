#pragma once
// Messages between the nodes of a simulated machine.
#include "runtime/handle.hpp"

namespace quarkstar::runtime::simulate {

/// A face travels as a message as soon as it has been packed: submits a task for its reader's worker that takes no time and only asks for it.
void submit_message(const Handle& face, int reader);

}  // namespace quarkstar::runtime::simulate
