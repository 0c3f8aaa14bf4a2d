#pragma once

namespace quarkstar::runtime::simulate {

/// Lets the submitting thread pay for asking for a copy (runtime/graph/early_copy.hpp): as for a task with one handle.
void pay_for_early_copy();

}  // namespace quarkstar::runtime::simulate
