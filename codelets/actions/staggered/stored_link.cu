#include "codelets/actions/staggered/stored_link.hpp"
#include "codelets/field/link_places.cuh"

namespace quarkstar::cuda {
QUARKSTAR_LINK_FORM(Half, staggered::StoredForm)
QUARKSTAR_LINK_FORM(float, staggered::StoredForm)
QUARKSTAR_LINK_FORM(double, staggered::StoredForm)
}  // namespace quarkstar::cuda
