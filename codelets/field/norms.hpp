#pragma once
#include "codelets/field/field.hpp"

#include <vector>

namespace quarkstar {

/// |x_v|^2 of each vector, exact sums. Collective; waits for the tasks before it.
std::vector<double> norms2(const Field& x);
/// Over both parities.
std::vector<double> norms2(const FullField& x);

}  // namespace quarkstar
