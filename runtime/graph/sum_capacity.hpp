#pragma once
// How many summands an exact sum holds.
#include <cstdint>

namespace quarkstar::runtime {

/// Summands of a BinnedSum (runtime/graph/binned_sum.hpp). A summand x = y 2^(32 w) with |y| < 2^31 has digits of at most 2^31 in size, and
/// a limb holds less than 2^63: so 2^32 - 1 of them, of any signs. Where summands reach 2^1023, in the highest window, half as many; the
/// sum of three such is beyond the range of a double anyway. value_of() puts the limbs together in 128 bits: (2^32 - 1) 2^31 (2^64 + 2^32 +
/// 1) is less than 2^127. Sums of ours have one summand for each site of the lattice at most, where vectors have a fifth dimension one for
/// each site of a parity and slice: 192^3 x 384 has 2.7e9 sites.
inline constexpr std::int64_t most_summands = (std::int64_t{1} << 32) - 1;

}  // namespace quarkstar::runtime
