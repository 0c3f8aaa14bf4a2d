#include "solvers/gamma5_operator.hpp"

#include "codelets/field/transfer.hpp"
#include "codelets/spin/gamma5.hpp"

namespace quarkstar {

Gamma5Operator::Gamma5Operator(EvenOdd& m)
    : m_(m), parts_(m.lattice(), m.components(), m.vectors()), image_(m.lattice(), m.components(), m.vectors()) {
  if (m.components() != spinor_components || m.lattice()->precision() != Precision::double_)
    throw ShapeError("Gamma5Operator", "vectors that are no spinors in double precision");
}

void Gamma5Operator::apply(const Field& out, const Field& in, const ApplySums& sums, bool, const runtime::Guard& guard) {
  if (sums.count() > 0 || guard.state != nullptr) throw ShapeError("Gamma5Operator::apply", "sums or a guard");
  for (const int parity : {0, 1}) transfer::convert(parts_.of(parity), in);
  submit_together([&] {
    for (const int parity : {0, 1}) m_.times_m(image_.of(parity), parts_, 1);
  });
  for (const int parity : {0, 1}) apply_gamma5(out, image_.of(parity));
}

}  // namespace quarkstar
