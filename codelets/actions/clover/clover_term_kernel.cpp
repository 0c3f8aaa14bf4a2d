// CPU driver of the clover term: a register holds neighbouring sites of a row.
#include "codelets/actions/clover/clover_kernels.hpp"
#include "codelets/actions/clover/clover_site.hpp"
#include "codelets/arch/arch.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

using clover::TermArguments;

/// The rest of a row from x on: as many sites at once as a register holds, then four, then one at a time.
template <int VL>
void rest_of_row(const TermArguments& a, Coord x) {
  using V = Pack<double, VL>;
  const gauge::LinkStrides from = a.in_shape.strides(), to = a.out_shape.strides();
  const gauge::StridedLinks<V> links(a.in, from);
  for (; x[0] + VL <= a.in_shape.extents[0]; x[0] += VL) {
    double* out = a.out + a.out_shape.offset(x);
    clover::clover_term(links, a.in_shape.offset(x), a.weights, [&](int real, const V& value) { value.store(out + real * to.real); });
  }
  if constexpr (VL > 1) rest_of_row<(VL > 4 ? 4 : 1)>(a, x);
}

void rows(const TermArguments& a, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) rest_of_row<native_lanes<double>>(a, a.in_shape.row_start(row));
}

}  // namespace

clover::TermKernel clover_term_kernel() { return rows; }

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
