#include "codelets/field/norms.hpp"

#include "codelets/field/blas.hpp"
#include "codelets/lattice/placement.hpp"

namespace quarkstar {

std::vector<double> norms2(const Field& x) {
  const runtime::PartialSums sums = partial_sums_on(*x.lattice(), x.vectors());
  blas::submit<blas::Norm>({&x}, {}, {}, &sums);
  return runtime::values_of(sums, x.vectors());
}

}  // namespace quarkstar
