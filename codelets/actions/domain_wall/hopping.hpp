#pragma once
// Wilson's hopping term of all slices, with products with matrices in the fifth dimension behind the hops.
#include "codelets/actions/wilson/hopping.hpp"

#include <memory>

namespace quarkstar::domain_wall {

/// wilson::Hopping for all slices of n right-hand sides as vectors s n + v, and, where stencil::MixingOptions are given, with out_s = sum
/// over s' T_ss' h_s' + S_ss' x_s' for each right-hand side, h what the hopping term alone would give (Products, Slices::behind_hops()).
std::unique_ptr<wilson::Hopping> hopping(const LinkField& even, const LinkField& odd, int vectors);

}  // namespace quarkstar::domain_wall
