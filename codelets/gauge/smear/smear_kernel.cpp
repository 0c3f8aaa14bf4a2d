// CPU driver of the smearing site bodies: a register holds neighbouring sites of a row.
#include "codelets/arch/arch.hpp"
#include "codelets/gauge/smear/smear_kernels.hpp"
#include "codelets/gauge/smear/smear_site.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

using gauge::LinkStrides;
using smear::SmearArguments;

/// Sites x, x + 1, ..., x + VL - 1 of a row.
template <int VL>
void sites(const SmearArguments& a, const Coord& x, int mu) {
  using V = Pack<double, VL>;
  const LinkStrides from = a.in_shape.strides(), to = a.out_shape.strides();
  const gauge::StridedLinks<V> links(a.in, from);
  const std::ptrdiff_t p = a.in_shape.offset(x);
  site::Link<V> result;
  if (a.naik) smear::naik_link(result, links, p, mu, a.naik_weight);
  else smear::smeared_link(result, links, p, mu, a.weights);
  double* out = a.out + a.out_shape.offset(x) + mu * to.link;
  site::unroll<9>([&](auto e) QUARKSTAR_INLINE_LAMBDA {
    result[e / 3][e % 3].re.store(out + 2 * e * to.real);
    result[e / 3][e % 3].im.store(out + (2 * e + 1) * to.real);
  });
}

/// The rest of a row from x on: as many sites at once as a register holds, then four, then one at a time.
template <int VL>
void rest_of_row(const SmearArguments& a, Coord x, int mu) {
  for (; x[0] + VL <= a.in_shape.extents[0]; x[0] += VL) sites<VL>(a, x, mu);
  if constexpr (VL > 1) rest_of_row<(VL > 4 ? 4 : 1)>(a, x, mu);
}

void rows(const SmearArguments& a, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row)
    for (int mu = 0; mu < 4; ++mu) rest_of_row<native_lanes<double>>(a, a.in_shape.row_start(row), mu);
}

}  // namespace

smear::SmearKernel smear_kernel() { return rows; }

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
