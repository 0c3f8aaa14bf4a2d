#include "solvers/normal_operator.hpp"

#include "codelets/field/transfer.hpp"
#include "codelets/lattice/placement.hpp"
#include "solvers/operator_on.hpp"

namespace quarkstar {

NormalOperator::NormalOperator(EvenOdd& m)
    : m_(m),
      parts_(m.lattice(), m.components(), m.vectors()),
      image_(m.lattice(), m.components(), m.vectors()),
      sums_(partial_sums_on(*m.lattice(), 3 * m.vectors())) {}

void NormalOperator::apply(const Field& out, const Field& in, const ApplySums& sums, bool, const runtime::Guard& guard) {
  for (const int parity : {0, 1}) transfer::convert(parts_.of(parity), in, guard);
  m_.adjoint_m(image_, parts_, guard);
  for (const int parity : {0, 1}) m_.times_m(parts_.of(parity), image_, 1, false, guard);
  for (const int parity : {0, 1}) transfer::convert(out, parts_.of(parity), guard);
  submit_sums(out, sums, guard, &sums_);
}

}  // namespace quarkstar
