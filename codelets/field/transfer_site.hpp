#pragma once
// Vectors between arrays and fields, site by site: one body for CPUs and GPUs.
#include "codelets/arch/lane.hpp"
#include "codelets/field/convert_site.hpp"
#include "codelets/field/field.hpp"
#include "codelets/field/vector_arrays.hpp"
#include "codelets/lattice/block_shape.hpp"

namespace quarkstar::transfer {

/// One parity of one block, or both. No pointers to its lattice: equal bytes of arguments must mean equal work.
struct ArrayTask {
  VectorArrays arrays;
  BlockShape shape;
  VectorPlaces places;
  Coord origin, lattice;  ///< of the block; extents
  int parity;             ///< both_parities: of two fields, the even one first

  int fields() const { return parity == both_parities ? 2 : 1; }
  /// The part of it that is of one of the fields.
  ArrayTask of_field(int number) const {
    ArrayTask one = *this;
    if (parity == both_parities) one.parity = number;
    return one;
  }
  /// Bytes before the numbers of a site in each array. x: in the lattice.
  QUARKSTAR_HD std::size_t place(const Coord& x) const { return arrays.place(index_in(arrays.box, x, lattice), parity); }
};

/// The words of one vector at a site, one behind the other, of an array's numbers, rounded to nearest where they are narrower. In half
/// precision the unit and products with it are computed in double, so that what store_site() has written comes back as it was.
template <class F, int Components>
QUARKSTAR_HD void load_site(F* words, const VectorArrays& from, int v, std::size_t place) {
  std::complex<double> numbers[Components];
  from.read(numbers, v, place);
  if constexpr (is_half<F>) {
    double most = 0;
    const auto take = [&most](double number) {
      const double size = number < 0 ? -number : number;
      most = size <= most ? most : size;  // NaN too
    };
    for (int c = 0; c < Components; ++c) take(numbers[c].real()), take(numbers[c].imag());
    const site::Lane<float> unit{static_cast<float>(most / site::fixed_point_most)};
    const double inverse = unit.v >= 1.17549435e-38f ? 1 / static_cast<double>(unit.v) : 0;
    unit.store(reinterpret_cast<float*>(words));
    const auto biased = [&](double number) { return site::Lane<float>{static_cast<float>(number * inverse + site::fixed_point_bias)}; };
    for (int c = 0; c < Components; ++c)
      site::Lane<float>::store_pair(words + 1 + c, {biased(numbers[c].real()), biased(numbers[c].imag())});
  } else {
    site::Complex<site::Lane<Real<F>>> z[Components];
    for (int c = 0; c < Components; ++c) z[c] = {{static_cast<Real<F>>(numbers[c].real())}, {static_cast<Real<F>>(numbers[c].imag())}};
    site::write_site<F>(words, 1, z);
  }
}

/// The inverse.
template <class F, int Components>
QUARKSTAR_HD void store_site(const VectorArrays& to, int v, std::size_t place, const F* words) {
  const site::SiteReader<F, site::Lane<Real<F>>> reader(words, 1);
  std::complex<double> numbers[Components];
  for (int c = 0; c < Components; ++c) {
    const auto z = reader.raw(c);
    double unit = 1;
    if constexpr (is_half<F>) unit = reader.unit.v;
    numbers[c] = {unit * z.re.v, unit * z.im.v};
  }
  to.write(numbers, v, place);
}

}  // namespace quarkstar::transfer
