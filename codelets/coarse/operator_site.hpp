#pragma once
// The coarse operator on one site: what kernels are given and what they do, on a pack of components (CPU) or one of them (GPU).
#include "codelets/coarse/transfer_site.hpp"
#include "codelets/lattice/neighbour_entry.hpp"

namespace quarkstar::coarse {

/// Of a coarse site: the diagonal block, then one for each direction (2 mu is +mu, 2 mu + 1 is -mu).
inline constexpr int blocks_per_site = 9;

/// Outer sites of one parity: a list, or first, first + 1, ... (TableRange).
struct SiteList {
  std::uint32_t offset, count;
  std::int32_t first;
};

/// F: double or float.
template <class F>
struct OperatorArguments {
  F* out;
  const F *in, *matrices;       ///< matrices: [coarse site][group of rows][block][column][re, im][row of the group]
  const std::uint32_t* tables;  ///< of the block's geometry
  const F* faces[8];            ///< [parity of its sites][site of the face][group][vector][re, im][component of the group]
  const std::int32_t* left_out;
  SiteList lists[2];
  std::uint32_t neighbours[2], boundary_faces[2];
  std::int32_t face_sites[8];
  int outer_sites, groups, vectors;
};

/// The vectors from which one site's result comes: its own, then its neighbours'.
template <class F>
struct Sources {
  const F* from[blocks_per_site];
};

/// Of the i-th site of both lists: its place among all sites.
template <class F>
QUARKSTAR_HD std::size_t find_sources(const OperatorArguments<F>& a, std::uint32_t i, Sources<F>& sources) {
  const int parity = i < a.lists[0].count ? 0 : 1;
  const SiteList& list = a.lists[parity];
  const std::uint32_t place = parity == 0 ? i : i - a.lists[0].count;
  const std::uint32_t outer = list.first >= 0 ? static_cast<std::uint32_t>(list.first) + place : a.tables[list.offset + place];
  const auto words = static_cast<std::size_t>(a.groups * a.vectors * 2 * lanes_of_components);
  const auto sites = static_cast<std::size_t>(a.outer_sites), other = static_cast<std::size_t>(1 - parity);
  const std::size_t site = static_cast<std::size_t>(parity) * sites + outer;
  sources.from[0] = a.in + site * words;
  for (std::uint32_t d = 0; d < 8; ++d) {
    const std::uint32_t entry = a.tables[a.neighbours[parity] + outer * 8 + d];
    if ((entry & neighbour_entry::face) != 0 && a.faces[d] != nullptr)
      sources.from[1 + d] =
          a.faces[d] + (other * static_cast<std::size_t>(a.face_sites[d]) + a.tables[a.boundary_faces[parity] + place * 8 + d]) * words;
    else sources.from[1 + d] = a.in + (other * sites + (entry >> neighbour_entry::shift)) * words;
  }
  return site;
}

/// out_v = sum_b sum_column block_b[rows, column] from_b,v[column] for Count vectors from `first` on and the rows of a group from `lane`
/// on.
template <int Count, class V, class F>
QUARKSTAR_HD void multiply_rows(const OperatorArguments<F>& a, std::size_t site, const Sources<F>& sources, int group, int lane,
                                int first) {
  constexpr int words = 2 * lanes_of_components;
  const int columns = a.groups * lanes_of_components;
  const F* matrix = a.matrices + (site * static_cast<std::size_t>(a.groups) + static_cast<std::size_t>(group)) *
                                     static_cast<std::size_t>(blocks_per_site * columns * words);
  site::Complex<V> sum[Count];
  for (auto& s : sum) s = {V::broadcast(0), V::broadcast(0)};
  for (int b = 0; b < blocks_per_site; ++b)
    for (int column_group = 0; column_group < a.groups; ++column_group) {
      const F* in = sources.from[b] + static_cast<std::size_t>((column_group * a.vectors + first) * words);
      for (int column = 0; column < lanes_of_components; ++column) {
        const site::Complex<V> m{V::load(matrix + lane), V::load(matrix + lanes_of_components + lane)};
        matrix += words;
        for (int t = 0; t < Count; ++t)
          sum[t] = site::multiply_add(m, {V::broadcast(in[t * words + column]), V::broadcast(in[t * words + lanes_of_components + column])},
                                      sum[t]);
      }
    }
  F* out = a.out +
           ((site * static_cast<std::size_t>(a.groups) + static_cast<std::size_t>(group)) * static_cast<std::size_t>(a.vectors) +
            static_cast<std::size_t>(first)) *
               words +
           lane;
  for (int t = 0; t < Count; ++t) {
    sum[t].re.store(out + t * words);
    sum[t].im.store(out + t * words + lanes_of_components);
  }
}

/// Columns [first_column, first_column + N) of one block of each coarse site of some colours, from N coarse vectors.
template <class F>
struct ColumnArguments {
  F* matrices;
  const F* images;               ///< N coarse vectors
  const std::uint32_t* colours;  ///< [coarse site]
  Colours mask;
  int block, first_column, count;
};
/// One component of one column at one site.
template <class F>
QUARKSTAR_HD void set_element(const ColumnArguments<F>& a, std::size_t site, int row, int j) {
  if (!a.mask.have(a.colours[site])) return;
  const int components = 2 * a.count, groups = components / lanes_of_components;
  const F* from = a.images + coarse_word(site, row, j, components, a.count);
  F* to = a.matrices +
          ((site * static_cast<std::size_t>(groups) + static_cast<std::size_t>(row / lanes_of_components)) * blocks_per_site +
           static_cast<std::size_t>(a.block)) *
              static_cast<std::size_t>(components * 2 * lanes_of_components) +
          static_cast<std::size_t>((a.first_column + j) * 2 * lanes_of_components + row % lanes_of_components);
  to[0] = from[0];
  to[lanes_of_components] = from[lanes_of_components];
}

/// The vectors of the sites that a block gives to a neighbour: one word of them.
template <class F>
struct PackArguments {
  F* face;
  const F* in;
  const std::uint32_t* tables;
  SiteList lists[2];  ///< by parity
  std::int32_t face_sites;
  int outer_sites, words;  ///< words of all vectors of a site
};
template <class F>
QUARKSTAR_HD void pack_word(const PackArguments<F>& a, std::uint32_t i, int word) {
  const int parity = i < a.lists[0].count ? 0 : 1;
  const std::uint32_t place = parity == 0 ? i : i - a.lists[0].count;
  const std::uint32_t outer = a.tables[a.lists[parity].offset + place];
  const auto words = static_cast<std::size_t>(a.words);
  a.face[(static_cast<std::size_t>(parity) * static_cast<std::size_t>(a.face_sites) + place) * words + static_cast<std::size_t>(word)] =
      a.in[(static_cast<std::size_t>(parity) * static_cast<std::size_t>(a.outer_sites) + outer) * words + static_cast<std::size_t>(word)];
}

}  // namespace quarkstar::coarse
