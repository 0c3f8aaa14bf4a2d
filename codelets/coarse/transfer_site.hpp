#pragma once
// Between the vectors of a fine block and those of its aggregates: what kernels are given, and what they do for one aggregate, on a pack of
// lanes (CPU) or one lane (GPU). Lanes belong to different aggregates, which are alike, so all sums run in the order of an aggregate's
// sites. The fine vectors are spinors, or coarse vectors of the next level, whose sites have one lane.
#include "codelets/arch/unroll.hpp"
#include "codelets/field/word_place.hpp"
#include "codelets/su3/complex.hpp"

#include <cstddef>
#include <cstdint>

namespace quarkstar::coarse {

inline constexpr int most_null_vectors = 64, most_null_fields = 2;  ///< N, in so many fields
/// Null vectors that one field holds: up to 32 all of them, else half.
constexpr int null_vectors_at_once(int null_vectors) {
  return null_vectors <= most_null_vectors / most_null_fields ? null_vectors : null_vectors / most_null_fields;
}
/// Vectors that share what is read of the null vectors.
inline constexpr int vectors_at_a_time = 4;

/// The sites of an aggregate in its last layer of a direction, by their number in the aggregate; stride 0: all of them.
struct Layer {
  std::int32_t stride = 0, extent = 1;
  QUARKSTAR_HD bool has(int site) const { return stride == 0 || site / stride % extent == extent - 1; }
};

/// F: double or float.
template <class F>
struct TransferArguments {
  F* null_vectors[most_null_fields][2];  ///< `at_once` fine vectors per site, of even and odd sites
  F* fine[2];                            ///< n fine vectors per site; nullptr: these sites are zero, or are not wanted
  F* coarse[2];                          ///< of even and odd coarse sites: [outer site][group of 8 components][vector][re, im][component]
  const std::uint32_t* sites;            ///< [group of aggregates, one a lane][site of the aggregate, x fastest] 2 outer site + parity
  const std::uint32_t* places;           ///< [group][lane] coarse site: 2 outer site + parity
  const std::int32_t* left_out;          ///< nullptr, or for each vector non-zero where it must stay as it is
  int aggregate_sites, lanes, count, at_once, vectors;  ///< lanes of sites; N; null vectors of a field; n
  int components;                                       ///< of fine vectors: one chirality's, then the other's
  Layer layer;                                          ///< restrict: the sites that count
  int chirality;                                        ///< columns
  int triangular;                                       ///< restrict: component j of vector i is known to be zero where j > first + i
  int first;                                            ///< where fine vectors are those of a field of null vectors: number of the first

  QUARKSTAR_HD bool is_zero(int j, int vector) const { return triangular != 0 && j > first + vector; }
  /// Of null vector j: its field on the sites of a parity, and its number there.
  QUARKSTAR_HD F* null_field(int j, std::uint32_t parity) const { return null_vectors[j < at_once ? 0 : 1][parity]; }
  QUARKSTAR_HD int in_field(int j) const { return j < at_once ? j : j - at_once; }
};

inline constexpr int lanes_of_components = 8;

/// Offset of component `row` of a coarse vector at an outer site of its parity; the imaginary part is lanes_of_components behind.
QUARKSTAR_HD std::size_t coarse_word(std::size_t site, int row, int vector, int components, int vectors) {
  const auto groups = static_cast<std::size_t>(components / lanes_of_components);
  return ((site * groups + static_cast<std::size_t>(row / lanes_of_components)) * static_cast<std::size_t>(vectors) +
          static_cast<std::size_t>(vector)) *
             (2 * lanes_of_components) +
         static_cast<std::size_t>(row % lanes_of_components);
}
/// The word of component `row` of coarse vector v at the place of an aggregate.
template <class F>
QUARKSTAR_HD F* coarse_at(const TransferArguments<F>& a, std::uint32_t place, int row, int v) {
  return a.coarse[place & 1] + coarse_word(place >> 1, row, v, 2 * a.count, a.vectors);
}

/// Kinds of fine vectors, and how the words of a lane lie: spinors in rows of lanes, in chunks of so many words
/// (codelets/field/word_place.hpp), or coarse vectors.
inline constexpr int coarse_kind = 0, in_rows = 1;

/// Word `part` (re, im) of component c of fine vector v of n at a site, in one lane.
template <int Kind, class F, class Word>
QUARKSTAR_HD Word* fine_word(const TransferArguments<F>& a, Word* field, std::uint32_t site, int v, int n, int c, int part, int lane) {
  const std::size_t outer = site >> 1;
  if constexpr (Kind == coarse_kind) {
    return field + coarse_word(outer, c, v, a.components, n) + part * lanes_of_components;
  } else {
    return field + (outer * static_cast<std::size_t>(n) + static_cast<std::size_t>(v)) * static_cast<std::size_t>(24 * a.lanes) +
           site::word_place(2 * c + part, lane, a.lanes, Kind);
  }
}
template <int Kind, class F>
QUARKSTAR_HD F* null_word(const TransferArguments<F>& a, std::uint32_t site, int j, int c, int part, int lane) {
  return fine_word<Kind>(a, a.null_field(j, site & 1), site, a.in_field(j), a.at_once, c, part, lane);
}
template <int Kind, class V, class F>
QUARKSTAR_HD site::Complex<V> load_component(const TransferArguments<F>& a, const F* field, std::uint32_t site, int v, int n, int c,
                                             int lane) {
  return {V::load(fine_word<Kind>(a, field, site, v, n, c, 0, lane)), V::load(fine_word<Kind>(a, field, site, v, n, c, 1, lane))};
}

/// fine_v(x) = sum_j null_j(x) coarse_v[row of j], for Count vectors from `first` on, at one outer site and one component; of(row, t): the
/// coarse component of vector first + t.
template <int Kind, int Count, class V, class F, class Of>
QUARKSTAR_HD void prolong_component(const TransferArguments<F>& a, std::uint32_t site, int c, int lane, int first, Of&& of) {
  const int parity = static_cast<int>(site & 1), row = c < a.components / 2 ? 0 : a.count;
  site::Complex<V> sum[Count];
  for (auto& s : sum) s = {V::broadcast(0), V::broadcast(0)};
  for (int first_null = 0; first_null < a.count; first_null += a.at_once)
    for (int j = 0; j < a.at_once; ++j) {
      const auto b = load_component<Kind, V>(a, a.null_field(first_null, site & 1), site, j, a.at_once, c, lane);
      for (int t = 0; t < Count; ++t) sum[t] = site::multiply_add(of(row + first_null + j, t), b, sum[t]);
    }
  for (int t = 0; t < Count; ++t) {
    sum[t].re.store(fine_word<Kind>(a, a.fine[parity], site, first + t, a.vectors, c, 0, lane));
    sum[t].im.store(fine_word<Kind>(a, a.fine[parity], site, first + t, a.vectors, c, 1, lane));
  }
}

/// sum_t += <null_j(x), fine_{first + t}(x)> over one chirality's components at one outer site.
template <int Kind, int Count, class V, class F>
QUARKSTAR_HD void restrict_site(const TransferArguments<F>& a, std::uint32_t site, int row, int lane, int first,
                                site::Complex<V> (&sum)[Count]) {
  const int parity = static_cast<int>(site & 1), chirality = row < a.count ? 0 : 1, j = row - chirality * a.count;
  const int half = a.components / 2;
  for (int c = chirality * half; c < (chirality + 1) * half; ++c) {
    const auto b = load_component<Kind, V>(a, a.null_field(j, site & 1), site, a.in_field(j), a.at_once, c, lane);
    for (int t = 0; t < Count; ++t) {
      const auto x = load_component<Kind, V>(a, a.fine[parity], site, first + t, a.vectors, c, lane);
      sum[t] = site::conjugate_multiply_add(b, x, sum[t]);
    }
  }
}

/// One chirality of the null vectors of a field as fine vectors. Of one site and lane.
template <int Kind, class F>
QUARKSTAR_HD void copy_columns(const TransferArguments<F>& a, std::uint32_t site, int lane) {
  const std::uint32_t parity = site & 1;
  for (int j = 0; j < a.at_once; ++j)
    for (int c = 0; c < a.components; ++c)
      for (int part = 0; part < 2; ++part)
        *fine_word<Kind>(a, a.fine[parity], site, j, a.at_once, c, part, lane) =
            c / (a.components / 2) == a.chirality ? *null_word<Kind>(a, site, a.first + j, c, part, lane) : F{0};
}

/// What a kernel does with groups of aggregates.
enum class TransferStep { prolong, restrict, orthonormalise, columns };

}  // namespace quarkstar::coarse
