#pragma once
// Which groups of links, (block, parity, direction), the update of one group reads.
#include "runtime/cut/decomposition.hpp"

#include <vector>

namespace quarkstar::heatbath {

/// Number of the token that stands for the links U_mu(x) with x in a block and of a parity.
constexpr int token_index(int block, int parity, int mu) { return (block * 2 + parity) * 4 + mu; }

/// Tokens of all links in the staples around U_mu(x), x in the block and of the parity: each one once, ascending, the
/// group itself never among them. At most 28, for a block with 8 neighbours.
std::vector<int> tokens_read(const runtime::Decomposition& decomposition, int block, int parity, int mu);

}  // namespace quarkstar::heatbath
