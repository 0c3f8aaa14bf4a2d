#pragma once
// Wilson's hopping term with the twisted-mass term in its epilogue.
#include "codelets/actions/wilson/hopping.hpp"

#include <memory>

namespace quarkstar::twisted_mass {

/// out_v = [S_v] diagonal_v x_v + [S_v] scale_v H in_v with S_v = 1 + i t_v gamma_5, t: EpilogueOptions::numbers, form: SiteTermForm
/// (stencil/site_term.hpp). Shapes, bytes and errors as wilson::Hopping's; 48 flop more per site and vector. Source: Frezzotti et al.,
/// hep-lat/0101001.
std::unique_ptr<wilson::Hopping> hopping(const LinkField& even, const LinkField& odd, int vectors);

}  // namespace quarkstar::twisted_mass
