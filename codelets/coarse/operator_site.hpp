#pragma once
// The coarse operator on one site: what kernels are given and what they do, on a pack of components (CPU) or one of them (GPU).
#include "codelets/coarse/binary16.hpp"
#include "codelets/coarse/transfer_site.hpp"
#include "codelets/lattice/neighbour_entry.hpp"

namespace quarkstar::coarse {

/// Of a coarse site: the site's own block A, one for each direction (2 mu is +mu, 2 mu + 1 is -mu), and A^-1.
inline constexpr int blocks_per_site = 10, inverse_block = 9;
inline constexpr int most_components = 2 * most_null_vectors;

/// Outer sites of one parity: a list, or first, first + 1, ... (TableRange).
struct SiteList {
  std::uint32_t offset, count;
  std::int32_t first;
  QUARKSTAR_HD std::uint32_t outer(const std::uint32_t* tables, std::uint32_t i) const {
    return first >= 0 ? static_cast<std::uint32_t>(first) + i : tables[offset + i];
  }
};

/// M: what matrices are stored as, double, float or Binary16. Of sites of one parity; fields: [outer site][group of 8 components][vector]
/// [re, im][component of the group].
template <class M>
struct OperatorArguments {
  using F = Computed<M>;
  F* out;
  const F *self, *others, *base;  ///< vectors on the same sites, and on those of the other parity; nullptr: none; base likewise
  const M* matrices;              ///< [coarse site, even ones first][block][column][group of rows][re, im][row of the group]
  const std::uint32_t* tables;    ///< of the block's geometry
  const F* faces[8];              ///< [site of the face][group][vector][re, im][component of the group], of the other parity
  const std::int32_t* left_out;
  SiteList list;
  std::uint32_t neighbours, boundary_faces;
  int parity, outer_sites, groups, vectors;
  int self_block, add;         ///< the block by which self is multiplied; whether base + sum is wanted
  int first_block, end_block;  ///< of the sum: 0 is self's, 1 + d that of others in direction d
};

/// The vectors from which one site's result comes: its own, then its neighbours'.
template <class F>
struct Sources {
  const F* from[9];
};

/// The vectors that block b of the i-th site of the list is multiplied by; outer: its number among those of its parity.
template <class M>
QUARKSTAR_HD const Computed<M>* find_source(const OperatorArguments<M>& a, std::uint32_t i, std::size_t outer, int b) {
  const auto words = static_cast<std::size_t>(a.groups * a.vectors * 2 * lanes_of_components);
  if (b == 0) return a.self == nullptr ? nullptr : a.self + outer * words;
  if (a.others == nullptr) return nullptr;
  const auto d = static_cast<std::uint32_t>(b - 1);
  const std::uint32_t entry = a.tables[a.neighbours + outer * 8 + d];
  if ((entry & neighbour_entry::face) != 0 && a.faces[d] != nullptr) return a.faces[d] + a.tables[a.boundary_faces + i * 8 + d] * words;
  return a.others + (entry >> neighbour_entry::shift) * words;
}

/// Of the i-th site of the list: its number among those of its parity.
template <class M>
QUARKSTAR_HD std::size_t find_sources(const OperatorArguments<M>& a, std::uint32_t i, Sources<Computed<M>>& sources) {
  const std::uint32_t outer = a.list.outer(a.tables, i);
  for (int b = 0; b < 9; ++b) sources.from[b] = find_source(a, i, outer, b);
  return outer;
}

/// A pack of V's numbers as they are stored.
template <class V, class F>
QUARKSTAR_HD V load_stored(const F* p) {
  return V::load(p);
}
template <class V>
QUARKSTAR_HD V load_stored(const Binary16* p) {
  constexpr int width = static_cast<int>(sizeof(V) / sizeof(float));
  float wide[width];
  for (int i = 0; i < width; ++i) wide[i] = widened(p[i]);
  return V::load(wide);
}

/// sum_t += matrix[rows, columns] in_t[columns] for the columns of a group, Count vectors and as many rows as V has; matrix: of the first
/// row and column, the next column column_words behind it; in: the first vector's components of the group.
template <int Count, class V, class M, class F>
QUARKSTAR_HD void multiply_columns(const M* matrix, std::size_t column_words, const F* in, site::Complex<V> (&sum)[Count]) {
  constexpr int words = 2 * lanes_of_components;
  for (int column = 0; column < lanes_of_components; ++column) {
    const site::Complex<V> m{load_stored<V>(matrix), load_stored<V>(matrix + lanes_of_components)};
    matrix += column_words;
    for (int t = 0; t < Count; ++t)
      sum[t] =
          site::multiply_add(m, {V::broadcast(in[t * words + column]), V::broadcast(in[t * words + lanes_of_components + column])}, sum[t]);
  }
}

/// sum_v = block_self self_v + sum_d block_d others_v(X + d), or those of its blocks that are wanted, for Count vectors from `first` on;
/// out_v = sum_v, or base_v -+ sum_v. The matrices are read in their order, and sums of all rows wait in memory.
template <int Count, class V, class M, class F>
QUARKSTAR_HD void multiply_site(const OperatorArguments<M>& a, std::size_t outer, const Sources<F>& sources, int first) {
  constexpr int words = 2 * lanes_of_components, width = static_cast<int>(sizeof(V) / sizeof(F)), packs = lanes_of_components / width;
  const auto column_words = static_cast<std::size_t>(a.groups * words), group_words = lanes_of_components * column_words,
             block_words = static_cast<std::size_t>(a.groups) * group_words;
  const std::size_t site = static_cast<std::size_t>(a.parity) * static_cast<std::size_t>(a.outer_sites) + outer;
  const M* matrices = a.matrices + site * blocks_per_site * block_words;
  site::Complex<V> sums[most_components / width][Count];
  const int row_packs = a.groups * packs;
  const auto row_word = [](int pack) QUARKSTAR_INLINE_LAMBDA { return pack / packs * words + pack % packs * width; };
  for (int pack = 0; pack < row_packs; ++pack)
    for (auto& sum : sums[pack]) sum = {V::broadcast(0), V::broadcast(0)};
  for (int b = a.first_block; b < a.end_block; ++b) {
    const M* matrix = matrices + static_cast<std::size_t>(b == 0 ? a.self_block : b) * block_words;
    const F* in = sources.from[b] + first * words;
    for (int column_group = 0; column_group < a.groups; ++column_group) {
      for (int pack = 0; pack < row_packs; ++pack) {
        site::Complex<V> sum[Count];
        for (int t = 0; t < Count; ++t) sum[t] = sums[pack][t];
        multiply_columns<Count, V>(matrix + row_word(pack), column_words, in, sum);
        for (int t = 0; t < Count; ++t) sums[pack][t] = sum[t];
      }
      matrix += group_words;
      in += a.vectors * words;
    }
  }
  for (int pack = 0; pack < row_packs; ++pack) {
    const std::size_t group = outer * static_cast<std::size_t>(a.groups) + static_cast<std::size_t>(pack / packs);
    const std::size_t place = (group * static_cast<std::size_t>(a.vectors) + static_cast<std::size_t>(first)) * words +
                              static_cast<std::size_t>(pack % packs * width);
    for (int t = 0; t < Count; ++t) {
      const std::size_t word = place + static_cast<std::size_t>(t * words);
      site::Complex<V> result = sums[pack][t];
      if (a.base != nullptr) {
        const site::Complex<V> base{V::load(a.base + word), V::load(a.base + word + lanes_of_components)};
        result = a.add != 0 ? base + result : base - result;
      }
      result.re.store(a.out + word);
      result.im.store(a.out + word + lanes_of_components);
    }
  }
}

/// Of a dense matrix on the sites of one parity: vectors as above, of every block of the lattice.
inline constexpr int most_dense_pieces = 128;
template <class F>
struct DenseArguments {
  F* out;
  const F* matrix;  ///< [outer site][group of rows][site of a column][column][re, im][row of the group]
  const F* pieces[most_dense_pieces];
  const std::uint32_t* columns;  ///< [site of a column] piece << 16 | outer site
  const std::int32_t* left_out;
  int sites, column_sites, groups, vectors;  ///< sites: of out

  QUARKSTAR_HD std::size_t block_words() const { return static_cast<std::size_t>(groups * lanes_of_components * 2 * lanes_of_components); }
  QUARKSTAR_HD const F* rows(std::size_t outer, int group) const {
    return matrix + (outer * static_cast<std::size_t>(groups) + static_cast<std::size_t>(group)) * static_cast<std::size_t>(column_sites) *
                        block_words();
  }
  QUARKSTAR_HD const F* column_vector(int site) const {
    const std::uint32_t place = columns[site];
    return pieces[place >> 16] + (place & 0xffffu) * static_cast<std::size_t>(groups * vectors * 2 * lanes_of_components);
  }
};

/// out_v = matrix in_v for Count vectors from `first` on and the rows of a group from `lane` on.
template <int Count, class V, class F>
QUARKSTAR_HD void multiply_dense_rows(const DenseArguments<F>& a, std::size_t outer, int group, int lane, int first) {
  constexpr int words = 2 * lanes_of_components;
  const F* matrix = a.rows(outer, group);
  site::Complex<V> sum[Count];
  for (auto& s : sum) s = {V::broadcast(0), V::broadcast(0)};
  for (int site = 0; site < a.column_sites; ++site) {
    const F* in = a.column_vector(site) + first * words;
    for (int column_group = 0; column_group < a.groups; ++column_group) {
      multiply_columns<Count, V>(matrix + lane, words, in, sum);
      matrix += lanes_of_components * words;
      in += a.vectors * words;
    }
  }
  F* out = a.out + coarse_word(outer, group * lanes_of_components + lane, first, a.groups * lanes_of_components, a.vectors);
  for (int t = 0; t < Count; ++t, out += words) {
    sum[t].re.store(out);
    sum[t].im.store(out + lanes_of_components);
  }
}

/// The blocks of one coarse site, to be changed.
template <class F>
struct SiteMatrices {
  F* matrices;  ///< of the site
  int components;
  /// The real part of an element; the imaginary part is lanes_of_components behind, the next row of its group is next to it.
  QUARKSTAR_HD F* at(int block, int row, int column) const {
    const auto words = static_cast<std::size_t>(2 * components);
    return matrices + static_cast<std::size_t>(block * components + column) * words +
           static_cast<std::size_t>(row / lanes_of_components * 2 * lanes_of_components + row % lanes_of_components);
  }
  /// One element of a block. What couples to a neighbour is subtracted from the site's own block, which has the sum of all before.
  QUARKSTAR_HD void set(int block, int row, int column, F re, F im) const {
    F* to = at(block, row, column);
    to[0] = re;
    to[lanes_of_components] = im;
    if (block == 0) return;
    F* own = at(0, row, column);
    own[0] -= re;
    own[lanes_of_components] -= im;
  }
};
template <class F>
QUARKSTAR_HD SiteMatrices<F> matrices_of(F* matrices, std::size_t site, int components) {
  return {matrices + site * static_cast<std::size_t>(blocks_per_site * components * components * 2), components};
}

/// Columns [first_column, first_column + count) of one block of each coarse site, from `count` coarse vectors.
template <class F>
struct ColumnArguments {
  F* matrices;
  const F* images[2];  ///< the vectors on even and on odd sites
  int outer_sites, block, first_column, count, components;
};
/// One component of one column at one site.
template <class F>
QUARKSTAR_HD void set_column_element(const ColumnArguments<F>& a, std::size_t site, int row, int j) {
  const auto sites = static_cast<std::size_t>(a.outer_sites);
  const F* from = a.images[site / sites] + coarse_word(site % sites, row, j, a.components, a.count);
  matrices_of(a.matrices, site, a.components).set(a.block, row, a.first_column + j, from[0], from[lanes_of_components]);
}

/// Rows [first_row, first_row + count) of the block of a hop backward of each site of one parity: by sigma_3-hermiticity sigma_3 B^+
/// sigma_3, B the neighbour's block of the hop forward, of which `columns.others` are the columns with these numbers. columns: of this
/// direction alone.
template <class F>
struct AdjointArguments {
  OperatorArguments<F> columns;
  F* matrices;
  int first_row;
};
/// From component `column` of the neighbour's j-th vector, at the i-th site of the list.
template <class F>
QUARKSTAR_HD void set_adjoint_element(const AdjointArguments<F>& a, std::uint32_t i, int column, int j) {
  const OperatorArguments<F>& of = a.columns;
  const int components = of.groups * lanes_of_components, block = of.first_block;
  const std::size_t outer = of.list.outer(of.tables, i), site = static_cast<std::size_t>(of.parity * of.outer_sites) + outer;
  const F* from = find_source(of, i, outer, block) + coarse_word(0, column, j, components, of.vectors);
  const bool same_chirality = (column < components / 2) == (a.first_row < components / 2);
  const F re = from[0], im = from[lanes_of_components];
  matrices_of(a.matrices, site, components).set(block, a.first_row + j, column, same_chirality ? re : -re, same_chirality ? -im : im);
}

/// A^-1 by Gauss-Jordan elimination in place with exchanges of rows (the pivot has the largest |re| + |im|), by Threads threads: this is
/// number `thread`, and sync() lets all come to one place. V: rows that a thread takes at once. The same bits for all of these. A matrix
/// that has no inverse becomes no number.
template <class V, int Threads, class F, class Sync>
QUARKSTAR_HD void invert_block(const SiteMatrices<F>& m, int thread, Sync&& sync) {
  constexpr int rows_at_a_time = static_cast<int>(sizeof(V) / sizeof(F)), imaginary = lanes_of_components;
  const int n = m.components;
  const auto size_of = [&](int row, int column) {
    const F *z = m.at(inverse_block, row, column), re = z[0] < 0 ? -z[0] : z[0], im = z[imaginary] < 0 ? -z[imaginary] : z[imaginary];
    return re + im;
  };
  const auto exchange = [](F* a, F* b) {
    for (const int part : {0, imaginary}) {
      const F kept = a[part];
      a[part] = b[part];
      b[part] = kept;
    }
  };
  for (int row = thread * rows_at_a_time; row < n; row += Threads * rows_at_a_time)
    for (int column = 0; column < n; ++column)
      for (const int part : {0, imaginary}) V::load(m.at(0, row, column) + part).store(m.at(inverse_block, row, column) + part);
  std::int8_t pivots[most_components];
  for (int k = 0; k < n; ++k) {
    sync();
    int pivot = k;
    F largest = size_of(k, k);
    for (int row = k + 1; row < n; ++row)
      if (const F size = size_of(row, k); size > largest) {
        largest = size;
        pivot = row;
      }
    pivots[k] = static_cast<std::int8_t>(pivot);
    sync();
    if (pivot != k)
      for (int column = thread; column < n; column += Threads) exchange(m.at(inverse_block, k, column), m.at(inverse_block, pivot, column));
    sync();
    const F* z = m.at(inverse_block, k, k);
    const F norm2 = z[0] * z[0] + z[imaginary] * z[imaginary];
    const site::Complex<F> inverse{z[0] / norm2, -(z[imaginary] / norm2)};
    sync();
    for (int column = thread; column < n; column += Threads) {
      F* x = m.at(inverse_block, k, column);
      const F re = column == k ? F{1} : x[0], im = column == k ? F{0} : x[imaginary];
      x[0] = re * inverse.re - im * inverse.im;
      x[imaginary] = re * inverse.im + im * inverse.re;
    }
    sync();
    for (int row = thread * rows_at_a_time; row < n; row += Threads * rows_at_a_time) {
      F minus[2][rows_at_a_time];
      F* own = m.at(inverse_block, row, k);
      const bool has_pivot = k >= row && k < row + rows_at_a_time;  // others read that row meanwhile
      if (rows_at_a_time == 1 && has_pivot) continue;
      for (int l = 0; l < rows_at_a_time; ++l)
        for (int part = 0; part < 2; ++part) minus[part][l] = -own[part * imaginary + l];
      const site::Complex<V> factor{V::load(minus[0]), V::load(minus[1])};
      for (int column = 0; column < n; ++column) {
        F* x = m.at(inverse_block, row, column);
        const F* of_pivot = m.at(inverse_block, k, column);
        const F kept[] = {x[has_pivot ? k - row : 0], x[imaginary + (has_pivot ? k - row : 0)]};
        const site::Complex<V> old =
            column == k ? site::Complex<V>{V::broadcast(0), V::broadcast(0)} : site::Complex<V>{V::load(x), V::load(x + imaginary)};
        const auto sum = site::multiply_add(factor, {V::broadcast(of_pivot[0]), V::broadcast(of_pivot[imaginary])}, old);
        sum.re.store(x);
        sum.im.store(x + imaginary);
        if (!has_pivot) continue;
        x[k - row] = kept[0];
        x[imaginary + k - row] = kept[1];
      }
    }
  }
  sync();
  for (int k = n - 1; k >= 0; --k)
    if (pivots[k] != k)
      for (int row = thread * rows_at_a_time; row < n; row += Threads * rows_at_a_time)
        for (int l = 0; l < rows_at_a_time; ++l) exchange(m.at(inverse_block, row + l, k), m.at(inverse_block, row + l, pivots[k]));
}

/// One column of the block of one direction: b = A^-1 b.
template <class V, class F>
QUARKSTAR_HD void multiply_by_inverse(const SiteMatrices<F>& m, int block, int column) {
  constexpr int rows_at_a_time = static_cast<int>(sizeof(V) / sizeof(F)), imaginary = lanes_of_components;
  F b[most_components][2];
  for (int k = 0; k < m.components; ++k) {
    b[k][0] = m.at(block, k, column)[0];
    b[k][1] = m.at(block, k, column)[imaginary];
  }
  for (int row = 0; row < m.components; row += rows_at_a_time) {
    site::Complex<V> sum{V::broadcast(0), V::broadcast(0)};
    for (int k = 0; k < m.components; ++k) {
      const F* inverse = m.at(inverse_block, row, k);
      sum = site::multiply_add({V::load(inverse), V::load(inverse + imaginary)}, {V::broadcast(b[k][0]), V::broadcast(b[k][1])}, sum);
    }
    sum.re.store(m.at(block, row, column));
    sum.im.store(m.at(block, row, column) + imaginary);
  }
}

/// The vectors of the sites of one parity that a block gives to a neighbour: one word of them.
template <class F>
struct PackArguments {
  F* face;
  const F* in;
  const std::uint32_t* tables;
  SiteList list;
  int words;  ///< of all vectors of a site
};
template <class F>
QUARKSTAR_HD void pack_word(const PackArguments<F>& a, std::uint32_t i, int word) {
  const auto words = static_cast<std::size_t>(a.words), w = static_cast<std::size_t>(word);
  a.face[i * words + w] = a.in[a.list.outer(a.tables, i) * words + w];
}

}  // namespace quarkstar::coarse
