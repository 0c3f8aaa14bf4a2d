#pragma once
// Vectors between arrays and fields, site by site: one body for CPUs and GPUs.
#include "codelets/arch/lane.hpp"
#include "codelets/field/convert_site.hpp"
#include "codelets/field/vector_arrays.hpp"
#include "codelets/lattice/block_shape.hpp"

namespace quarkstar::transfer {

/// One parity of one block. No pointers to its lattice: equal bytes of arguments must mean equal work.
struct ArrayTask {
  VectorArrays arrays;
  BlockShape shape;
  VectorPlaces places;
  Coord origin, lattice;  ///< of the block; extents
  int parity;

  /// Bytes before the numbers of a site in each array. x: in the lattice.
  QUARKSTAR_HD std::size_t place(const Coord& x) const { return arrays.place(index_in(arrays.box, x, lattice), parity); }
};

/// The words of one vector at a site, one behind the other, of an array's numbers, rounded to nearest where they are narrower.
template <class F, int Components>
QUARKSTAR_HD void load_site(F* words, const VectorArrays& from, int v, std::size_t place) {
  std::complex<double> numbers[Components];
  from.read(numbers, v, place);
  site::Complex<site::Lane<Real<F>>> z[Components];
  for (int c = 0; c < Components; ++c) z[c] = {{static_cast<Real<F>>(numbers[c].real())}, {static_cast<Real<F>>(numbers[c].imag())}};
  site::write_site<F>(words, 1, z);
}

/// The inverse.
template <class F, int Components>
QUARKSTAR_HD void store_site(const VectorArrays& to, int v, std::size_t place, const F* words) {
  const site::SiteReader<F, site::Lane<Real<F>>> reader(words, 1);
  std::complex<double> numbers[Components];
  for (int c = 0; c < Components; ++c) {
    const auto z = reader.component(c);
    numbers[c] = {static_cast<double>(z.re.v), static_cast<double>(z.im.v)};
  }
  to.write(numbers, v, place);
}

}  // namespace quarkstar::transfer
