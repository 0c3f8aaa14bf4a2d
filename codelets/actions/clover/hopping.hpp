#pragma once
// Wilson's hopping term with the clover or twisted-mass term in its epilogue.
#include "codelets/actions/wilson/hopping.hpp"

#include <memory>

namespace quarkstar::clover {

/// out_v = [S_v] diagonal_v x_v + [S_v] scale_v H in_v with S_v = P + i t_v gamma_5 or (P + i t_v gamma_5) Q, t: EpilogueOptions::numbers,
/// P and Q: its fields, 1 where there are none, form: stencil::SiteTermForm. Shapes and errors as wilson::Hopping's; 504 flop more per site
/// and vector, with Q twice as many, without P 48; bytes: 72 reals per site for P, as for Q, once for all vectors. has_matrices: what costs
/// tell. Source: Sheikholeslami and Wohlert (1985); Frezzotti et al., hep-lat/0101001; docs/conventions.md, section 2.
std::unique_ptr<wilson::Hopping> hopping(const LinkField& even, const LinkField& odd, int vectors, bool has_matrices);

}  // namespace quarkstar::clover
