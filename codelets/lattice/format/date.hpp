#pragma once
// Dates as header fields of lattice files spell them.
#include <string>

namespace quarkstar::format {

/// Now in universal time, "Thu Feb 12 13:40:21 1998": 24 characters, the same in every locale.
std::string utc_date();

}  // namespace quarkstar::format
