#include "codelets/field/link_places.cuh"
#include "codelets/field/row_form.hpp"

namespace quarkstar::cuda {
QUARKSTAR_LINK_FORM(Half, transfer::RowForm)
QUARKSTAR_LINK_FORM(float, transfer::RowForm)
QUARKSTAR_LINK_FORM(double, transfer::RowForm)
}  // namespace quarkstar::cuda
