#pragma once
// The Wilson hopping term on vectors: the same operations as wilson_site.hpp's, so the same bits, in an order that 16 registers are enough
// for, with short code and prefetches in order. In registers: one spin of a half spinor and its product with the link, 12 numbers. In
// memory: the result, and rows of the link that must be computed first. A compiler that is left to hold these in registers moves them to
// the stack and back: with 16 registers twice as often (docs/results/2026-11-23-avx2-wilson.md), with 32 nearly as often as this order
// loads and stores them, among prefetches and loads in an order of its own, in which the processor waits for fewer lines at a time.
#include "codelets/arch/near_words.hpp"
#include "codelets/spin/spin.hpp"
#include "codelets/su3/link.hpp"

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// Whether this is the order for W lanes of a block in packs of VL. Lanes of a line in two registers go by wilson_site.hpp: they are read
/// in halves of lines, which this order makes worse. So does half precision with 32 registers: it computes more for each line.
template <class F, int W, int VL>
inline constexpr bool by_spins = VL > 1 && W == VL && (vector_registers < 32 || !is_half<F>);

/// A pack of the result: [spin][colour][re, im].
template <class V>
using ResultWords = NearWords<typename V::Number, V::lanes, 24>;

/// The elements of a link, each read where it is used. Rows that are stored as they are used come from the field, the others from scratch
/// memory, into which the constructor writes them.
template <class F, int Reals, int W, class V>
class LinkInMemory {
  using T = Real<F>;
  static constexpr int rows_in_field = is_half<F> || Reals == 8 ? 0 : Reals / 6;
  static constexpr int scratch_words = 6 * (3 - rows_in_field);

 public:
  using Scratch = T[scratch_words > 0 ? scratch_words* V::lanes : 1];

  /// Of a link all of which can stay where it is.
  explicit inline __attribute__((always_inline)) LinkInMemory(const F* link) : field_(link), scratch_(nullptr) {
    static_assert(scratch_words == 0);
  }
  inline __attribute__((always_inline)) LinkInMemory(const F* link, Scratch& scratch) : field_(link), scratch_(scratch) {
    if constexpr (scratch_words > 0) {
      site::Link<V> u;
      site::load_link<F, Reals, site::PlainLoads>(u, link, W);
      site::unroll<scratch_words / 2>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        const site::Complex<V>& z = u[rows_in_field + i / 3][i % 3];
        z.re.store(scratch_.template word<2 * i>());
        z.im.store(scratch_.template word<2 * i + 1>());
      });
    }
  }
  /// In registers: as an operand in memory it would be read by each of the two operations that it takes part in.
  template <int Row, int Column>
  inline __attribute__((always_inline)) site::Complex<V> element() const {
    constexpr int i = 6 * Row + 2 * Column;
    if constexpr (Row < rows_in_field) return in_registers(field_.template word<i>(), field_.template word<i + 1>());
    else return in_registers(scratch_.template word<i - 6 * rows_in_field>(), scratch_.template word<i - 6 * rows_in_field + 1>());
  }

 private:
  static inline __attribute__((always_inline)) site::Complex<V> in_registers(const T* re, const T* im) {
    return {held(V::load(re)), held(V::load(im))};
  }
  /// By value: of a number that is held by reference GCC 12 also stores a copy in the frame.
  static inline __attribute__((always_inline)) V held(V x) {
    hold_in_register(x.v);
    return x;
  }

  NearWords<const F, W, 6 * rows_in_field> field_;
  NearWords<T, V::lanes, scratch_words> scratch_;
};

/// product = U h (Dagger false) or U^+ h (Dagger true), column by column of what acts: site::row_times() for all three rows.
template <bool Dagger, class V, class LinkOfV>
inline __attribute__((always_inline)) void columns_times(site::ColourVector<V>& product, const LinkOfV& u, const site::ColourVector<V>& h) {
  site::unroll<3>([&](auto column) QUARKSTAR_INLINE_LAMBDA {
    site::unroll<3>([&](auto row) QUARKSTAR_INLINE_LAMBDA {
      constexpr int j = column, i = row;
      const site::Complex<V> element = u.template element < Dagger ? j : i, Dagger ? i : j > ();
      site::Complex<V>& z = product[i];
      if constexpr (j == 0) z = Dagger ? site::conjugate_multiply(element, h[j]) : site::multiply(element, h[j]);
      else z = Dagger ? site::conjugate_multiply_add(element, h[j], z) : site::multiply_add(element, h[j], z);
      hold_in_register(z.re.v);
      hold_in_register(z.im.v);
    });
  });
}

/// One spin of the result takes i^Power product; First: it is assigned.
template <int Spin, int Power, bool First, class V>
inline __attribute__((always_inline)) void add_to_spin(const ResultWords<V>& result, const site::ColourVector<V>& product) {
  site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
    auto *const re = result.template word<6 * Spin + 2 * c>(), *const im = result.template word<6 * Spin + 2 * c + 1>();
    site::Complex<V> sum;
    if constexpr (First) sum = site::times_i<Power>(product[c]);
    else sum = site::add_times_i<Power>(site::Complex<V>{V::load(re), V::load(im)}, product[c]);
    sum.re.store(re);
    sum.im.store(im);
  });
}

/// wilson::add_direction() into memory, with a link in memory. Neighbour supplies, for a direction D,  stored_spinor<D>():
/// where it begins;  half_spinor<D, projector, spin>(h, words of the spinor).
template <int D, int Sign, class F, int W, class V, class LinkOfV, class Neighbour>
inline __attribute__((always_inline)) void add_direction_by_spins(const ResultWords<V>& result, const LinkOfV& u,
                                                                  const Neighbour& neighbour) {
  constexpr int mu = D / 2;
  constexpr bool backward = D % 2 == 1;
  constexpr int projector = backward ? Sign : -Sign;
  const NearWords<const F, W, spinor_words<F>> spinor(neighbour.template stored_spinor<D>());
  site::unroll<2>([&](auto spin) QUARKSTAR_INLINE_LAMBDA {
    site::ColourVector<V> h, product;
    neighbour.template half_spinor<D, projector, spin>(h, spinor);
    columns_times<backward>(product, u, h);
    constexpr int lower = site::gamma_entry(mu, 2).column == spin ? 2 : 3;
    constexpr int power = site::power_of_i(mu, projector, lower);
    add_to_spin<spin, 0, D == 0, V>(result, product);
    add_to_spin<lower, power, D == 0, V>(result, product);
  });
}

/// One of four passes that are wilson::hopping_term() with 32 registers: the hops along x and y (Axes 0) or z and t (1) of one spin of the
/// half spinors, which go to the same two spins of the result, 12 numbers in registers. So a result is stored twice, not with each hop.
/// link(d): the link of a direction, in memory; Neighbour as for add_direction_by_spins().
template <int Axes, int Spin, int Sign, class F, int W, class V, class LinkOf, class Neighbour>
inline __attribute__((always_inline)) void hopping_pass(const ResultWords<V>& result, const LinkOf& link, const Neighbour& neighbour) {
  constexpr int lower = site::gamma_entry(2 * Axes, 2).column == Spin ? 2 : 3;
  site::ColourVector<V> sums[2];
  const auto for_sums = [&](auto&& body) QUARKSTAR_INLINE_LAMBDA {
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      body(sums[0][c], result.template word<6 * Spin + 2 * c>(), result.template word<6 * Spin + 2 * c + 1>());
      body(sums[1][c], result.template word<6 * lower + 2 * c>(), result.template word<6 * lower + 2 * c + 1>());
    });
  };
  if constexpr (Axes > 0)
    for_sums([](site::Complex<V>& sum, const auto* re, const auto* im) QUARKSTAR_INLINE_LAMBDA { sum = {V::load(re), V::load(im)}; });
  site::unroll<4>([&](auto hop) QUARKSTAR_INLINE_LAMBDA {
    constexpr int D = 4 * Axes + hop, projector = D % 2 == 1 ? Sign : -Sign, power = site::power_of_i(D / 2, projector, lower);
    site::ColourVector<V> h, product;
    neighbour.template half_spinor<D, projector, Spin>(h, NearWords<const F, W, spinor_words<F>>(neighbour.template stored_spinor<D>()));
    columns_times<D % 2 == 1>(product, link(D), h);
    site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
      sums[0][c] = D == 0 ? product[c] : site::add_times_i<0>(sums[0][c], product[c]);
      sums[1][c] = D == 0 ? site::times_i<power>(product[c]) : site::add_times_i<power>(sums[1][c], product[c]);
      site::unroll<2>([&](auto i) QUARKSTAR_INLINE_LAMBDA {
        hold_in_register(sums[i][c].re.v);
        hold_in_register(sums[i][c].im.v);
      });
    });
  });
  for_sums([](const site::Complex<V>& sum, auto* re, auto* im) QUARKSTAR_INLINE_LAMBDA {
    sum.re.store(re);
    sum.im.store(im);
  });
}

/// wilson::hopping_term(), component by component. Neighbour also supplies prefetch<D>() and stored_link<D>().
template <int Sign, class F, int Reals, int W, class V, class Neighbour>
inline __attribute__((always_inline)) void hopping_term_by_spins(const ResultWords<V>& result, const Neighbour& neighbour) {
  site::unroll<8>([&](auto d) QUARKSTAR_INLINE_LAMBDA {
    neighbour.template prefetch<d>();
    alignas(64) typename LinkInMemory<F, Reals, W, V>::Scratch scratch;
    LinkInMemory<F, Reals, W, V> u(neighbour.template stored_link<d>(), scratch);
    add_direction_by_spins<d, Sign, F, W, V>(result, u, neighbour);
  });
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
