#pragma once
// The colour vectors of one site between two number formats, on host and GPU.
#include "codelets/actions/staggered/dslash_arguments.hpp"
#include "codelets/arch/lane.hpp"
#include "codelets/field/storage.hpp"

namespace quarkstar::staggered {

/// Offset of a vector's first word in a block.
template <class F>
QUARKSTAR_HD std::size_t vector_offset(int outer, int vector, int lane, int vectors, int lanes) {
  return (static_cast<std::size_t>(outer) * static_cast<std::size_t>(vectors) + static_cast<std::size_t>(vector)) *
             static_cast<std::size_t>(vector_words<F> * lanes) +
         static_cast<std::size_t>(lane);
}

/// Where the vectors of a block are, in either layout of ColourField.
struct VectorPlaces {
  int vectors, lanes, vectors_in_lanes;
  int width() const { return lanes * vectors_in_lanes; }
  /// Offset of a vector's first word; the others follow at steps of width().
  template <class F>
  std::size_t offset(int outer, int vector, int lane) const {
    return vector_offset<F>(outer, vector / vectors_in_lanes, lane + vector % vectors_in_lanes, vectors / vectors_in_lanes, width());
  }
};

/// to <- from, rounded to nearest where `to` is narrower.
template <class To, class From>
QUARKSTAR_HD void convert_vector(To* to, int to_lanes, const From* from, int from_lanes) {
  const site::SiteReader<From, site::Lane<Real<From>>> reader(from, from_lanes);
  site::Complex<site::Lane<Real<To>>> z[3];
  site::unroll<3>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
    const auto value = reader.component(c);
    z[c] = {{static_cast<Real<To>>(value.re.v)}, {static_cast<Real<To>>(value.im.v)}};
  });
  site::write_site<To>(to, to_lanes, z);
}

}  // namespace quarkstar::staggered
