#pragma once
// How long a hopping operator takes by the rules.
#include "codelets/stencil/tuning.hpp"

namespace quarkstar::stencil {

/// Microseconds of one application by the rules for tile and launch, measured as measure_tile() does.
double application_microseconds(const TuningProblem& problem);

}  // namespace quarkstar::stencil
