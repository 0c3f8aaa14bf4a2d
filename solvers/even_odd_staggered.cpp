#include "solvers/even_odd_staggered.hpp"

namespace quarkstar {

StaggeredNormal::StaggeredNormal(staggered::Dslash& dslash, int parity, const staggered::PerVector& mass)
    : dslash_(dslash), parity_(parity), four_mass2_(mass), image_(dslash.lattice(), 1 - parity, dslash.vectors()) {
  for (double& m : four_mass2_) m = 4 * m * m;
}

void StaggeredNormal::apply(const staggered::ColourField& out, const staggered::ColourField& in, bool dot,
                            const staggered::Control& control) {
  dslash_.apply(image_, in, {}, control);
  dslash_.apply(out, image_,
                {.x = &in, .diagonal = four_mass2_, .scale = staggered::same_for_all(-1), .y = dot ? &in : nullptr, .sums = {.dot = dot}},
                control);
}

}  // namespace quarkstar
