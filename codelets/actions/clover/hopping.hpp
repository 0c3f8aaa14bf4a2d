#pragma once
// Wilson's hopping term with the (twisted) clover term in its epilogue.
#include "codelets/actions/wilson/hopping.hpp"

#include <memory>

namespace quarkstar::clover {

/// out_v = [S_v] diagonal_v x_v + [S_v] scale_v H in_v with S_v = (P + i t_v gamma_5) or (P + i t_v gamma_5) Q, t:
/// EpilogueOptions::numbers, P and Q: its fields, form: SiteTermForm (stencil/site_term.hpp). Shapes and errors as wilson::Hopping's; 504
/// flop more per site and vector, with Q twice as many; bytes: 72 reals per site for P, as for Q, once for all vectors. Source:
/// Sheikholeslami and Wohlert (1985); docs/conventions.md, section 2.
std::unique_ptr<wilson::Hopping> hopping(const LinkField& even, const LinkField& odd, int vectors);

}  // namespace quarkstar::clover
