#include "codelets/gauge/heatbath/tokens.hpp"

#include <algorithm>

namespace quarkstar::heatbath {

std::vector<int> tokens_read(const runtime::Decomposition& decomposition, int block, int parity, int mu) {
  std::vector<int> tokens;
  const int other = 1 - parity, ahead = decomposition.neighbour(block, 2 * mu);
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    const int behind = decomposition.neighbour(block, 2 * nu + 1);
    // U_mu(x+nu), U_mu(x-nu): a step stays in the block or ends next door.
    for (const int from : {block, decomposition.neighbour(block, 2 * nu), behind}) tokens.push_back(token_index(from, other, mu));
    // U_nu(x), U_nu(x+mu-nu): each of the two steps may stay or leave.
    for (const int from : {block, ahead, behind, decomposition.neighbour(ahead, 2 * nu + 1)})
      tokens.push_back(token_index(from, parity, nu));
    // U_nu(x+mu), U_nu(x-nu)
    for (const int from : {block, ahead, behind}) tokens.push_back(token_index(from, other, nu));
  }
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

}  // namespace quarkstar::heatbath
