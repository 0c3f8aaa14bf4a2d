#pragma once
// The vectors of one site between two number formats, on host and GPU.
#include "codelets/arch/lane.hpp"
#include "codelets/field/storage.hpp"

namespace quarkstar {

/// Where the vectors of a block are, in either layout of Field.
struct VectorPlaces {
  int vectors, lanes, vectors_in_lanes;
  QUARKSTAR_HD int width() const { return lanes * vectors_in_lanes; }
  /// Offset of a vector's first word; the others follow at steps of width(). words: of a vector in its format.
  QUARKSTAR_HD std::size_t offset(int words, int outer, int vector, int lane) const {
    const int group = vector / vectors_in_lanes, in_group = vector % vectors_in_lanes, groups = vectors / vectors_in_lanes;
    return (static_cast<std::size_t>(outer) * static_cast<std::size_t>(groups) + static_cast<std::size_t>(group)) *
               static_cast<std::size_t>(words * width()) +
           static_cast<std::size_t>(lane + in_group);
  }
};

/// to <- from for one vector, rounded to nearest where `to` is narrower.
template <int Components, class To, class From>
QUARKSTAR_HD void convert_vector(To* to, int to_lanes, const From* from, int from_lanes) {
  const site::SiteReader<From, site::Lane<Real<From>>> reader(from, from_lanes);
  site::Complex<site::Lane<Real<To>>> z[Components];
  site::unroll<Components>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
    const auto value = reader.component(c);
    z[c] = {{static_cast<Real<To>>(value.re.v)}, {static_cast<Real<To>>(value.im.v)}};
  });
  site::write_site<To>(to, to_lanes, z);
}

}  // namespace quarkstar
