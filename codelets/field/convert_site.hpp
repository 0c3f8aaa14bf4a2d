#pragma once
// The vectors of one site between two number formats, on host and GPU.
#include "codelets/arch/lane.hpp"
#include "codelets/field/storage.hpp"

namespace quarkstar {

/// Where the vectors of a block are, in either layout of Field.
struct VectorPlaces {
  int vectors, lanes, vectors_in_lanes;
  int chunked = 0;           ///< or 1: no gap behind it
  int right_hand_sides = 1;  ///< vectors are slices of these, and left out with them; vectors in lanes then are those of one
  QUARKSTAR_HD bool slices_in_lanes() const { return vectors_in_lanes > 1 && right_hand_sides != vectors; }
  QUARKSTAR_HD int right_hand_side(int vector) const { return right_hand_sides == vectors ? vector : vector % right_hand_sides; }
  QUARKSTAR_HD int width() const { return lanes * vectors_in_lanes; }
  QUARKSTAR_HD int groups() const { return vectors / vectors_in_lanes; }
  /// Offset of the words of all lanes beside a vector's. words: of a vector in its format.
  QUARKSTAR_HD std::size_t group(int words, int outer, int vector) const {
    const int number = slices_in_lanes() ? vector % right_hand_sides : vector / vectors_in_lanes;
    return (static_cast<std::size_t>(outer) * static_cast<std::size_t>(groups()) + static_cast<std::size_t>(number)) *
           static_cast<std::size_t>(words * width());
  }
  /// The vector's lane there.
  QUARKSTAR_HD int lane_of(int vector, int lane) const {
    return lane + (slices_in_lanes() ? vector / right_hand_sides : vector % vectors_in_lanes);
  }
  /// Of width() threads beside each other, one for each place in a group: the lane of thread i, and its vector in each group.
  QUARKSTAR_HD int lane_of_thread(int i) const { return vectors_in_lanes > 1 ? 0 : i; }
  QUARKSTAR_HD int vector_of_thread(int i, int group) const {
    return slices_in_lanes() ? i * right_hand_sides + group : vectors_in_lanes > 1 ? group * vectors_in_lanes + i : group;
  }
  /// Where nothing is chunked, offset of a vector's first word; the others follow at steps of width().
  QUARKSTAR_HD std::size_t offset(int words, int outer, int vector, int lane) const {
    return group(words, outer, vector) + static_cast<std::size_t>(lane_of(vector, lane));
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
