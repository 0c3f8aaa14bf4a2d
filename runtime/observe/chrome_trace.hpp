#pragma once
#include <string>

#include "runtime/session.hpp"

namespace quarkstar::runtime {

/// Writes the session's events in Chrome's trace format (one row a worker, microseconds), which chrome://tracing, Perfetto
/// and others open. Skipped tasks are left out. Throws Error(environment) when the file cannot be written.
void write_chrome_trace(const Session& session, const Events& events, const std::string& path);

}  // namespace quarkstar::runtime
