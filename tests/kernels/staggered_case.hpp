#pragma once
// A made-up block for the staggered Dslash, and the result that its definition gives.
#include "codelets/actions/staggered/dslash_arguments.hpp"
#include "codelets/su3/long_link.hpp"
#include "tests/kernels/neighbours.hpp"
#include "tests/reference/gauge.hpp"

#include <algorithm>
#include <cmath>

namespace quarkstar::kernels {

template <class F>
struct StaggeredCase {
  using T = Real<F>;
  static constexpr double fat_size = 2, long_scale = -0.05;
  int lanes, vectors, long_reals, sites;
  std::array<int, 4> stride;
  std::vector<std::uint32_t> list;
  std::vector<reference::Matrix<3>> exact_fat, exact_long;  ///< [site][direction][lane]
  std::vector<F> fat, far_links, out;
  MadeUpField<F, 3> in, x, y;           ///< [site and vector][lane]
  std::vector<Complex> exact_faces[8];  ///< [position][vector][3][face lane]
  std::vector<F> faces[8];              ///< [position][vector][word][face lane]
  Neighbours near, far;
  staggered::DslashArguments<F> arguments{};

  /// long_reals: 0 for none. special: with faces, exchanged lanes, a list of sites, another field and all sums.
  StaggeredCase(int block_lanes, int right_hand_sides, int reals, int outer_sites, bool special)
      : StaggeredCase(Numbers(2), block_lanes, right_hand_sides, reals, outer_sites, special) {}
  StaggeredCase(const StaggeredCase&) = delete;

  /// The result at one list position and lane.
  std::array<Complex, 3> expected(int position, int lane, int vector) const {
    const int here = static_cast<int>(list[static_cast<std::size_t>(position)]);
    reference::Vector<3> sum{};
    for (int d = 0; d < 8; ++d) {
      const auto link = static_cast<std::size_t>((here * 8 + d) * lanes + lane);
      add(sum, exact_fat[link], neighbour(near, position, here, lane, vector, d));
      if (long_reals != 0) add(sum, exact_long[link], neighbour(far, position, here, lane, vector, d));
    }
    std::array<Complex, 3> result{};
    for (std::size_t c = 0; c < 3; ++c) {
      result[c] = scale(vector) * sum[c];
      if (arguments.x != nullptr) result[c] += diagonal(vector) * x.at(here * vectors + vector, lane, lanes)[c];
    }
    return result;
  }

 private:
  static double scale(int vector) { return 0.5 + 0.25 * vector; }
  static double diagonal(int vector) { return 1.5 - 0.5 * vector; }
  static void add(reference::Vector<3>& sum, const reference::Matrix<3>& u, const reference::Vector<3>& chi) {
    const reference::Vector<3> moved = u * chi;
    for (std::size_t c = 0; c < 3; ++c) sum[c] += moved[c];
  }
  reference::Vector<3> neighbour(const Neighbours& table, int position, int here, int lane, int vector, int d) const {
    const int step = stride[static_cast<std::size_t>(d / 2)];
    const auto chi =
        in.at(table.site(here, d) * vectors + vector, table.has(here, d, neighbour_entry::exchange) ? lane ^ step : lane, lanes);
    reference::Vector<3> h;
    std::copy(chi.begin(), chi.end(), h.begin());
    if (!table.has(here, d, neighbour_entry::face) || !on_edge(lane, step, d)) return h;
    const int width = step == 0 ? lanes : lanes / 2;
    const int row = (static_cast<int>(table.faces_at[static_cast<std::size_t>(position * 8 + d)]) * vectors + vector) * 3;
    for (int c = 0; c < 3; ++c)
      h[static_cast<std::size_t>(c)] = exact_faces[d][static_cast<std::size_t>((row + c) * width + lane_of_face(lane, step))];
    return h;
  }

  /// Rows in units of `size` over 32767 in half precision, other numbers in units of 1 / 32767 (codelets/su3/long_link.hpp).
  static void write(F* to, const std::array<double, 18>& numbers, int reals, int row_numbers, double size, int stored_lanes) {
    if constexpr (is_half<F>) {
      using V = site::Lane<float>;
      const auto biased = [&](int i) {
        const double number = i < reals ? numbers[static_cast<std::size_t>(i)] / (i < row_numbers ? size : 1) : 0;
        return fma(V{static_cast<float>(number)}, V{site::fixed_point_most}, V{site::fixed_point_bias});
      };
      for (int i = 0; i < NumberFormat<F>::link_words(reals); ++i) V::store_pair(to + i * stored_lanes, {biased(2 * i), biased(2 * i + 1)});
    } else {
      for (int i = 0; i < reals; ++i) to[i * stored_lanes] = static_cast<F>(numbers[static_cast<std::size_t>(i)]);
    }
  }

  static std::array<double, 18> reals_of(const reference::Matrix<3>& m) {
    std::array<double, 18> numbers{};
    for (std::size_t e = 0; e < 9; ++e) {
      numbers[2 * e] = m.entries[e].real();
      numbers[2 * e + 1] = m.entries[e].imag();
    }
    return numbers;
  }

  static reference::Matrix<3> draw(Numbers& numbers) {
    reference::Matrix<3> drawn;
    for (Complex& entry : drawn.entries) entry = numbers.complex();
    return drawn;
  }

  static Complex turn(double phase) {
    const portable::SineCosine z = portable::sine_cosine_of_turns(phase < 0 ? 1 + phase / 2 : phase / 2);
    return {z.cosine, z.sine};
  }

  /// The link that nine numbers stand for (codelets/su3/long_link.hpp): |c| e^{i pi t} times the matrix of SU(3) with the rows b, a, -c.
  /// a is known; with any rows p and q that complete it to a matrix of SU(3), b = x p + y q and c = x* q - y* p have the first column that
  /// is wanted for one x and y.
  static reference::Matrix<3> link_of_nine(const std::array<double, 18>& stored) {
    const Complex a2{stored[0], stored[1]}, a3{stored[2], stored[3]}, b1{stored[4], stored[5]};
    const double n = std::norm(a2) + std::norm(a3);
    const Complex a1 = std::sqrt(1 - n) * turn(stored[6]), c1 = std::sqrt(n - std::norm(b1)) * turn(stored[7]);
    reference::Matrix<3> rows;
    rows.entries = {a1, a2, a3, 1, 0.5, 0, 0, 0, 0};
    rows = reference::reunitarize(rows);
    const Complex p1 = rows(1, 0), q1 = rows(2, 0);
    const Complex x = (std::conj(p1) * b1 + q1 * std::conj(c1)) / n, y = (std::conj(q1) * b1 - p1 * std::conj(c1)) / n;
    reference::Matrix<3> link;
    for (int j = 0; j < 3; ++j) {
      link(0, j) = x * rows(1, j) + y * rows(2, j);
      link(1, j) = rows(0, j);
      link(2, j) = std::conj(y) * rows(1, j) - std::conj(x) * rows(2, j);
    }
    return -long_scale * turn(stored[8]) * link;
  }

  /// A long link: V = e^{i pi t} S, S in SU(3), and det V |c| / c = e^{i pi (3 t + 1)} because c < 0.
  std::array<double, 18> draw_long(Numbers& numbers) {
    const double t = (numbers.real() - 1) / 3, own_phase = 3 * t + 1;
    const Complex factor = long_scale * turn(t);
    exact_long.push_back(factor * reference::reunitarize(draw(numbers)));
    std::array<double, 18> stored = reals_of(exact_long.back());
    if (long_reals == 9) {
      // Any eight numbers with |a2|^2 + |a3|^2 well above 0 and |b1|^2 below it.
      for (std::size_t i = 0; i < 9; ++i) stored[i] = numbers.real() * (i < 4 ? 0.4 : i < 6 ? 0.1 : 1);
      stored[0] = 0.3 + 0.1 * stored[0];
      exact_long.back() = link_of_nine(stored);
    }
    if (long_reals == 14) {
      stored[12] = turn(own_phase).real();
      stored[13] = turn(own_phase).imag();
    }
    if (long_reals == 13) stored[12] = own_phase;
    return stored;
  }

  StaggeredCase(Numbers numbers, int block_lanes, int right_hand_sides, int reals, int outer_sites, bool special)
      : lanes(block_lanes),
        vectors(right_hand_sides),
        long_reals(reals),
        sites(outer_sites),
        stride(made_up_strides(block_lanes)),
        in(numbers, sites * vectors, lanes),
        x(numbers, sites * vectors, lanes),
        y(numbers, sites * vectors, lanes),
        near(numbers, sites, stride, special ? neighbour_entry::exchange | neighbour_entry::face : 0),
        far(numbers, sites, stride, special ? neighbour_entry::exchange | neighbour_entry::face : 0) {
    const int fat_words = NumberFormat<F>::link_words(18), far_words = NumberFormat<F>::link_words(long_reals);
    fat.resize(static_cast<std::size_t>(sites * 8 * fat_words * lanes));
    far_links.resize(static_cast<std::size_t>(sites * 8 * far_words * lanes));
    for (int i = 0; i < sites * 8; ++i)
      for (int l = 0; l < lanes; ++l) {
        exact_fat.push_back(draw(numbers));
        write(fat.data() + i * fat_words * lanes + l, reals_of(exact_fat.back()), 18, 18, fat_size, lanes);
        if (long_reals == 0) continue;
        const int row_numbers = long_reals == 18 ? 18 : long_reals == 9 ? 0 : 12;
        write(far_links.data() + i * far_words * lanes + l, draw_long(numbers), long_reals, row_numbers, -long_scale, lanes);
      }
    for (int d = 0; d < 8; ++d) {
      const int width = stride[static_cast<std::size_t>(d / 2)] == 0 ? lanes : lanes / 2;
      const int words = staggered::vector_words<F> * width;
      faces[d].resize(static_cast<std::size_t>(face_sites * vectors * words));
      for (int i = 0; i < face_sites * vectors; ++i) {
        for (int n = 0; n < 3 * width; ++n) exact_faces[d].push_back(numbers.complex());
        const Complex* row = exact_faces[d].data() + i * 3 * width;
        for (int l = 0; l < width; ++l) {
          site::Complex<site::Lane<T>> z[3];
          for (int c = 0; c < 3; ++c) z[c] = {{static_cast<T>(row[c * width + l].real())}, {static_cast<T>(row[c * width + l].imag())}};
          site::write_site<F>(faces[d].data() + i * words + l, width, z);
        }
      }
    }
    for (int s = 0; s < sites; ++s) list.push_back(static_cast<std::uint32_t>(s));
    if (special) std::reverse(list.begin(), list.end());
    out.resize(in.stored.size());
    arguments.neighbours = near.entries.data();
    arguments.far = far.entries.data();
    arguments.sites = special ? list.data() : nullptr;
    arguments.faces_at = near.faces_at.data();
    arguments.far_at = far.faces_at.data();
    arguments.links = fat.data();
    arguments.far_links = long_reals != 0 ? far_links.data() : nullptr;
    arguments.in = in.stored.data();
    for (int d = 0; d < 8; ++d) arguments.faces[d] = reinterpret_cast<const T*>(faces[d].data());
    arguments.out = out.data();
    arguments.x = special ? x.stored.data() : nullptr;
    arguments.y = y.stored.data();
    const double fat_unit = is_half<F> ? fat_size * static_cast<double>(site::link_unit) : 1;
    const double long_unit = is_half<F> && long_reals != 0 ? -long_scale * static_cast<double>(site::link_unit) : 1;
    for (int v = 0; v < vectors; ++v) {
      arguments.diagonal[v] = static_cast<T>(diagonal(v));
      arguments.scale[v] = static_cast<T>(scale(v) * (long_reals != 0 ? long_unit : fat_unit));
    }
    arguments.long_factor = static_cast<T>(long_reals != 0 ? site::long_link_factor(long_reals, long_scale, is_half<F>) : 0);
    arguments.near_factor = static_cast<T>(fat_unit / long_unit);
    for (std::size_t mu = 0; mu < 4; ++mu) arguments.stride[mu] = stride[mu];
    arguments.vectors = vectors;
    arguments.sums = {special, special};
  }
};

}  // namespace quarkstar::kernels
