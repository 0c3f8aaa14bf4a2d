#include "codelets/field/norms.hpp"

#include "codelets/field/blas.hpp"
#include "codelets/lattice/placement.hpp"

namespace quarkstar {

namespace {

runtime::PartialSums submitted(const Field& x) {
  runtime::PartialSums sums = partial_sums_on(*x.lattice(), x.vectors());
  blas::submit<blas::Norm>({&x}, {}, {}, &sums);
  return sums;
}

}  // namespace

std::vector<double> norms2(const Field& x) { return runtime::values_of(submitted(x), x.vectors()); }

std::vector<double> norms2(const FullField& x) {
  // Both before the first wait: what is brought from another memory for one of them comes while the other is being made.
  const runtime::PartialSums of_even = submitted(x.even), of_odd = submitted(x.odd);
  std::vector<double> total = runtime::values_of(of_even, x.even.vectors());
  const std::vector<double> odd = runtime::values_of(of_odd, x.odd.vectors());
  for (std::size_t v = 0; v < total.size(); ++v) total[v] += odd[v];
  return total;
}

}  // namespace quarkstar
