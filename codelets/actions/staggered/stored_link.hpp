#pragma once
// A staggered link from what a configuration's links are made into to the numbers that a block stores, on CPUs and GPUs.
#include "codelets/arch/lane.hpp"
#include "codelets/field/number_format.hpp"
#include "codelets/lattice/portable.hpp"
#include "codelets/su3/long_link.hpp"
#include "codelets/su3/matrix.hpp"

#include <cstddef>

namespace quarkstar::staggered {

/// What multiplies the neighbour that a link leads to, forward: the link itself, or the one that it comes from: minus its adjoint.
QUARKSTAR_HD site::Link<double> multiplier(const double* reals, bool forward) {
  const site::Link<double> u = site::read_link(reals);
  if (forward) return u;
  return site::link_of<double>([&u](int row, int column) { return site::Complex<double>{-u[column][row].re, u[column][row].im}; });
}

/// What is stored for a link (codelets/su3/long_link.hpp): `row_numbers` of the rows of c V, then numbers of size 1 at most.
struct StoredLink {
  double numbers[18] = {};
  int row_numbers = 18;
};

namespace stored_link {
// Not std::arg and std::abs, whose last digits depend on the processor.
QUARKSTAR_HD double argument_over_pi(const site::Complex<double>& z) { return portable::argument_over_pi(z.im, z.re); }

/// Numbers of a long link of 9 reals: m / |c| = e^{i pi t} S.
QUARKSTAR_HD StoredLink of_nine(const site::Link<double>& m, double size) {
  using site::Complex;
  // Not determinant(): the sign of a zero imaginary part decides between t = 1 and -1, and links in memory and files have had this one.
  const auto subdeterminant = [&m](int i, int j) { return multiply(m[1][i], m[2][j]) - multiply(m[1][j], m[2][i]); };
  const Complex<double> det =
      multiply(m[0][0], subdeterminant(1, 2)) - multiply(m[0][1], subdeterminant(0, 2)) + multiply(m[0][2], subdeterminant(0, 1));
  const double cube = size * size * size, t = argument_over_pi({det.re / cube, det.im / cube}) / 3, over_size = 1 / size;
  const auto [sine, cosine] = portable::sine_cosine_of_turns(-t / 2);
  const Complex<double> rotate{over_size * cosine, over_size * sine};
  const Complex<double> a2 = multiply(rotate, m[1][1]), a3 = multiply(rotate, m[1][2]), b1 = multiply(rotate, m[0][0]);
  return {{a2.re, a2.im, a3.re, a3.im, b1.re, b1.im, argument_over_pi(multiply(rotate, m[1][0])),
           argument_over_pi(multiply({-rotate.re, -rotate.im}, m[2][0])), t},
          0};
}
}  // namespace stored_link

/// m as `reals` reals (long_formats). size: |c| of long links.
QUARKSTAR_HD StoredLink stored_numbers(const site::Link<double>& m, int reals, double size) {
  if (reals == 9) return stored_link::of_nine(m, size);
  StoredLink stored;
  site::write_link(stored.numbers, m);
  if (reals == 18) return stored;
  stored.row_numbers = 12;
  site::Complex<double> along{};
  for (int c = 0; c < 3; ++c) {
    const int p = (c + 1) % 3, q = (c + 2) % 3;
    along = multiply_add(multiply(m[0][p], m[1][q]) - multiply(m[0][q], m[1][p]), m[2][c], along);
  }
  const double length = portable::modulus(along.re, along.im);
  const site::Complex<double> phase{along.re / length, along.im / length};
  stored.numbers[12] = reals == 14 ? phase.re : stored_link::argument_over_pi(phase);
  stored.numbers[13] = phase.im;
  return stored;
}

/// What a block stores for a link (codelets/field/link_places.hpp): what it multiplies with, so that every hop is alike.
struct StoredForm {
  static constexpr bool on_cpus_alone = false;
  int reals;
  double size;  ///< |c| of long links, the largest component of fat links

  template <class F>
  QUARKSTAR_HD void write(F* words, const double* link, int /*mu*/, bool forward) const {
    write_words(words, stored_numbers(multiplier(link, forward), reals, size));
  }
  template <class F>
  QUARKSTAR_HD void copy(F* words, const double* stored) const {
    write_words(words, stored_numbers(site::read_link(stored), reals, size));
  }

 private:
  template <class F>
  QUARKSTAR_HD void write_words(F* words, const StoredLink& link) const {
    if constexpr (is_half<F>) {
      using V = site::Lane<float>;
      const auto biased = [&](int i) {
        const double number = i < reals ? link.numbers[i] / (i < link.row_numbers ? size : 1) : 0;
        return fma(V{static_cast<float>(number)}, V{site::fixed_point_most}, V{site::fixed_point_bias});
      };
      for (int i = 0; i < NumberFormat<F>::link_words(reals); ++i) V::store_pair(words + i, {biased(2 * i), biased(2 * i + 1)});
    } else {
      for (int i = 0; i < reals; ++i) words[i] = static_cast<F>(link.numbers[i]);
    }
  }
};

}  // namespace quarkstar::staggered
