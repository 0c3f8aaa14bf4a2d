#pragma once
// CPU kernels of an epilogue: what it finds at a site, and the epilogue alone, without hops.
#include "codelets/arch/native_width.hpp"
#include "codelets/field/storage.hpp"
#include "codelets/stencil/arguments.hpp"
#include "codelets/stencil/epilogue.hpp"

#include <cstddef>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// One vector at a register of lanes of an outer site, as an epilogue sees it.
template <class F, class V>
struct SiteOfBlock {
  const F* x_field;
  std::size_t outer, at;  ///< at: of the first lane in vector fields
  std::size_t vector;
  int lanes, lane0;

  inline __attribute__((always_inline)) V coefficient(const Real<F> (&values)[most_vectors]) const { return V::broadcast(values[vector]); }
  template <class Body>
  inline __attribute__((always_inline)) void with_x(Body&& body) const {
    body(site::SiteReader<F, V>(x_field + at, lanes));
  }
  template <int Reals, int Records, int Number, class Body>
  inline __attribute__((always_inline)) void with_record(const F* field, int i, Body&& body) const {
    const std::size_t record = outer * Records + static_cast<std::size_t>(i);
    body(site::SiteReader<F, V>(field + record * static_cast<std::size_t>(NumberFormat<F>::site_words(Reals) * lanes) + lane0, lanes));
  }
};

/// out_v = the epilogue of no hops, over outer sites [begin, end). N: components.
template <int N, class Epilogue, class F, int VL, class Arguments>
void without_hops_range(const Arguments& arguments, int lanes, std::int64_t begin, std::int64_t end, const std::int32_t* left_out) {
  using V = Pack<Real<F>, VL>;
  constexpr std::size_t words = NumberFormat<F>::site_words(2 * N);
  const Arguments a = arguments;
  for (auto outer = static_cast<std::size_t>(begin); outer < static_cast<std::size_t>(end); ++outer)
    for (std::size_t v = 0; v < static_cast<std::size_t>(a.vectors); ++v) {
      if (left_out != nullptr && left_out[v] != 0) continue;
      for (int lane0 = 0; lane0 < lanes; lane0 += VL) {
        site::Complex<V> z[N];
        for (site::Complex<V>& component : z) component = {V::broadcast(0), V::broadcast(0)};
        const std::size_t at =
            (outer * static_cast<std::size_t>(a.vectors) + v) * words * static_cast<std::size_t>(lanes) + static_cast<std::size_t>(lane0);
        Epilogue::apply(z, a, SiteOfBlock<F, V>{a.x, outer, at, v, lanes, lane0});
        site::write_site<F>(a.out + at, lanes, z);
      }
    }
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
