#pragma once
// What workers make once and keep from task to task on a GPU: memory, streams, events. It goes with the session, not with the process,
// which may be another program's, with sessions that follow each other.
#include <functional>

namespace quarkstar::runtime {

/// Frees something of the calling worker's when the session ends, after its thread has, on a thread whose current device is free to be
/// chosen. Of a thread that is no worker, which outlives the session, it stays.
void at_end_of_session(std::function<void()> free);

/// Called by the session once its workers' threads have ended; the last that was made goes first.
void free_what_workers_kept();

}  // namespace quarkstar::runtime
