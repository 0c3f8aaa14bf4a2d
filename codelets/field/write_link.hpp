#pragma once
// A gauge link from double precision to the numbers that a block stores.
#include "codelets/arch/lane.hpp"
#include "codelets/su3/compact_link.hpp"

#include <array>
#include <cmath>

namespace quarkstar::transfer {

/// The 8 numbers of a link as they are stored (in half precision: integers).
template <class F>
std::array<Real<F>, 8> compact_numbers(const double* link) {
  const site::CompactLink c = site::compact_link(link);
  std::array<Real<F>, 8> numbers{};
  for (int i = 0; i < 8; ++i) {
    Real<F>& number = numbers[static_cast<std::size_t>(i)];
    const bool flag = i == site::sign_of_row0 || i == site::sign_of_row1, minus = c.minus[i == site::sign_of_row1];
    if constexpr (is_half<F>)
      number = flag ? site::fixed_point_with_last_bit(c.p[i], minus)
                    : static_cast<float>(std::nearbyint(c.p[i] * static_cast<double>(site::fixed_point_most)));
    else number = flag ? site::with_last_bit<F>(c.p[i], minus) : static_cast<F>(c.p[i]);
  }
  return numbers;
}

/// Stores whole rows of a link, 18 or 12 reals, for one lane.
template <class F>
QUARKSTAR_HD void write_rows(F* to, const double* link, int reals, int lanes) {
  if constexpr (is_half<F>) {
    using V = site::Lane<float>;
    const auto biased = [](double u) { return fma(V{static_cast<float>(u)}, V{site::fixed_point_most}, V{site::fixed_point_bias}); };
    for (int i = 0; i < reals / 2; ++i) V::store_pair(to + i * lanes, {biased(link[2 * i]), biased(link[2 * i + 1])});
  } else {
    for (int i = 0; i < reals; ++i) to[i * lanes] = static_cast<F>(link[i]);
  }
}

/// Stores `reals` reals of a link for one lane.
template <class F>
void write_link(F* to, const double* link, int reals, int lanes) {
  if (reals != 8) return write_rows(to, link, reals, lanes);
  const auto numbers = compact_numbers<F>(link);
  if constexpr (is_half<F>) {
    using V = site::Lane<float>;
    const V bias{site::fixed_point_bias};
    for (std::size_t i = 0; i < 4; ++i)
      V::store_pair(to + i * static_cast<std::size_t>(lanes), {V{numbers[2 * i]} + bias, V{numbers[2 * i + 1]} + bias});
  } else {
    for (int i = 0; i < reals; ++i) to[i * lanes] = numbers[static_cast<std::size_t>(i)];
  }
}

}  // namespace quarkstar::transfer
