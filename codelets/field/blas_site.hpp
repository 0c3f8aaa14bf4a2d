#pragma once
// A vector operation on one site, for CPU and GPU drivers alike.
#include "codelets/field/operations.hpp"
#include "codelets/field/storage.hpp"

#include <cstddef>

namespace quarkstar::blas {

/// How the components of a site are read and written whose words lie [word][lane]. `site`: the word of its first lane; lane: the first of
/// V, `lanes` lanes lie side by side.
struct WordsInRows {
  static constexpr int at_a_time = 1;  ///< components that are read and written together
  template <class F, class V>
  static QUARKSTAR_HD void load(site::Complex<V> (&z)[1], const F* site, int component, std::size_t lane, int lanes) {
    if constexpr (is_half<F>) {
      z[0] = V::load_pair(site + lane + (1 + component) * lanes);
    } else {
      const F* re = site + lane + std::size_t{2} * static_cast<std::size_t>(component * lanes);
      z[0] = {V::load(re), V::load(re + lanes)};
    }
  }
  template <class F, class V>
  static QUARKSTAR_HD void store(F* site, int component, std::size_t lane, int lanes, const site::Complex<V> (&z)[1]) {
    F* re = site + lane + std::size_t{2} * static_cast<std::size_t>(component * lanes);
    z[0].re.store(re);
    z[0].im.store(re + lanes);
  }
  /// All components at once.
  template <class F, class V, int N>
  static QUARKSTAR_HD void write(F* site, std::size_t lane, int lanes, const site::Complex<V> (&z)[N]) {
    site::write_site<F>(site + lane, lanes, z);
  }
};

/// Applies Operation to all Components of one site. fields[i]: its first word for the first lane; lane: the first of V, `lanes` lanes lie
/// side by side. Formats with a unit per site are read and written as whole sites; the others component by component.
template <class Operation, int Components, class Words = WordsInRows, class F, class V, int Coefficients, int Fields>
QUARKSTAR_HD void apply_to_site(F* const (&fields)[Fields], std::size_t lane, int lanes, const site::Complex<V> (&c)[Coefficients],
                                V* sum) {
  constexpr int used = field_count<Operation>, at_a_time = Words::at_a_time;
  static_assert(Components % at_a_time == 0);
  if constexpr (is_half<F>) {
    site::Complex<V> result[used][Components];
    V unit[used];
    site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
      if constexpr (Operation::uses[i] != Use::out) unit[i] = V::load(reinterpret_cast<const float*>(fields[i] + lane));
    });
    site::unroll<Components / at_a_time>([&](auto part) QUARKSTAR_INLINE_LAMBDA {
      site::Complex<V> raw[used][at_a_time];
      site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        if constexpr (Operation::uses[i] != Use::out) Words::load(raw[i], fields[i], part * at_a_time, lane, lanes);
      });
      site::unroll<at_a_time>([&](auto k) QUARKSTAR_INLINE_LAMBDA {
        site::Complex<V> f[used];
        site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
          if constexpr (Operation::uses[i] != Use::out) f[i] = {raw[i][k].re * unit[i], raw[i][k].im * unit[i]};
        });
        Operation::apply(f, c, sum);
        site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA { result[i][part * at_a_time + k] = f[i]; });
      });
    });
    site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
      if constexpr (Operation::uses[i] != Use::in) Words::write(fields[i], lane, lanes, result[i]);
    });
  } else {
#ifdef __CUDA_ARCH__
#pragma unroll(4 / at_a_time)
#endif
    for (int component = 0; component < Components; component += at_a_time) {
      site::Complex<V> read[used][at_a_time];
      site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        if constexpr (Operation::uses[i] != Use::out) Words::load(read[i], fields[i], component, lane, lanes);
      });
      site::unroll<at_a_time>([&](auto k) QUARKSTAR_INLINE_LAMBDA {
        site::Complex<V> f[used];
        site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
          if constexpr (Operation::uses[i] != Use::out) f[i] = read[i][k];
        });
        Operation::apply(f, c, sum);
        site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
          if constexpr (Operation::uses[i] != Use::in) read[i][k] = f[i];
        });
      });
      site::unroll<used>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        if constexpr (Operation::uses[i] != Use::in) Words::store(fields[i], component, lane, lanes, read[i]);
      });
    }
  }
}

}  // namespace quarkstar::blas
