#pragma once
// Dates as header fields of lattice files spell them.
#include <string>

namespace quarkstar::format {

/// Now, or $SOURCE_DATE_EPOCH (seconds since 1970; files of equal content are then equal), in universal time: "Thu Feb 12 13:40:21 1998",
/// 24 characters, the same in every locale. Throws Error(input) where the variable is no number.
std::string utc_date();

}  // namespace quarkstar::format
