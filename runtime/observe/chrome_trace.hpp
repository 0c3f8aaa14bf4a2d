#pragma once
#include "runtime/graph/session.hpp"

#include <string>

namespace quarkstar::runtime {

/// Writes the session's events in Chrome's trace format (one row per worker, microseconds), which chrome://tracing, Perfetto
/// and others open. Skipped tasks are left out. A GPU whose kernels ran in two lanes has a second row, NAME exchange, with the packs that
/// write into other GPUs' memory and the boundaries that wait for them. A batch of which only the whole was timed is one event, `batch`,
/// with the number of its kernels. Throws Error(environment) when the file cannot be written.
void write_chrome_trace(const Session& session, const Events& events, const std::string& path);

}  // namespace quarkstar::runtime
