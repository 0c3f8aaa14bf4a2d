#include "codelets/field/norms.hpp"

#include "codelets/field/blas.hpp"

namespace quarkstar {

std::vector<double> norms2(const Field& x) {
  const runtime::PartialSums sums(static_cast<int>(x.lattice()->local_blocks().size()), x.vectors());
  blas::submit<blas::Norm>({&x}, {}, {}, &sums);
  return runtime::values_of(sums, x.vectors());
}

}  // namespace quarkstar
