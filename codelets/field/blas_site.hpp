#pragma once
// A vector operation on one site, for CPU and GPU drivers alike.
#include "codelets/field/operations.hpp"
#include "codelets/field/storage.hpp"

namespace quarkstar::blas {

/// Applies Operation to all Components of one site. fields[i] + at: the first word of the site for the first lane of V, `lanes` lanes
/// stored side by side. Formats with a unit per site are read and written as whole sites; the others component by component.
template <class Operation, int Components, class F, class V, int Coefficients, int Fields>
QUARKSTAR_HD void apply_to_site(F* const (&fields)[Fields], std::size_t at, int lanes, const site::Complex<V> (&c)[Coefficients], V* sum) {
  constexpr int used = field_count<Operation>;
  if constexpr (is_half<F>) {
    site::Complex<V> result[used][Components];
    V unit[used];
    site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
      if constexpr (Operation::uses[i] != Use::out) unit[i] = V::load(reinterpret_cast<const float*>(fields[i] + at));
    });
    site::unroll<Components>([&](auto component) QUARKSTAR_INLINE_LAMBDA {
      site::Complex<V> f[used];
      site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        if constexpr (Operation::uses[i] != Use::out) {
          const site::Complex<V> raw = V::load_pair(fields[i] + at + (1 + component) * lanes);
          f[i] = {raw.re * unit[i], raw.im * unit[i]};
        }
      });
      Operation::apply(f, c, sum);
      site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA { result[i][component] = f[i]; });
    });
    site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
      if constexpr (Operation::uses[i] != Use::in) site::write_site<F>(fields[i] + at, lanes, result[i]);
    });
  } else {
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
    for (int component = 0; component < Components; ++component) {
      const std::size_t re = at + std::size_t{2} * static_cast<std::size_t>(component * lanes), im = re + static_cast<std::size_t>(lanes);
      site::Complex<V> f[used];
      site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        if constexpr (Operation::uses[i] != Use::out) f[i] = {V::load(fields[i] + re), V::load(fields[i] + im)};
      });
      Operation::apply(f, c, sum);
      site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        if constexpr (Operation::uses[i] != Use::in) {
          f[i].re.store(fields[i] + re);
          f[i].im.store(fields[i] + im);
        }
      });
    }
  }
}

}  // namespace quarkstar::blas
