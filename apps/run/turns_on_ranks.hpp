#pragma once
// Programs in flight together, where there may be other ranks.
#include <functional>

namespace quarkstar::app {

/// Turns::run(). Collective: where several are in flight, other ranks' programs cannot know that one of this rank's has failed, and would
/// make their collective calls with those of another program. So an exception that is this rank's alone, neither SharedError nor
/// Interrupted, ends the whole job, with this rank's name and message.
void run_on_ranks(int count, int in_flight, const std::function<void(int)>& program);

}  // namespace quarkstar::app
