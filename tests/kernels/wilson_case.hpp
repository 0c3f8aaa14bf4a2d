#pragma once
// A made-up block for the Wilson hopping term, and the result that its definition gives.
#include "codelets/actions/wilson/face_words.hpp"
#include "codelets/actions/wilson/hopping_arguments.hpp"
#include "codelets/field/write_link.hpp"
#include "tests/kernels/neighbours.hpp"
#include "tests/reference/gamma.hpp"
#include "tests/reference/gauge.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

namespace quarkstar::kernels {

/// Writes six components of a half spinor, `width` apart, into a face. In half precision they are rounded to integers times a unit, and the
/// face's unit is that times the unit of links, as senders make it.
template <class F>
void write_face(Complex* exact, Real<F>* words, int width) {
  if constexpr (is_half<F>) {
    const float unit = static_cast<float>(std::abs(exact[0].real()) + 1) / 65536;
    std::uint32_t stored[wilson::face_words<F>]{0, 0};
    for (int c = 0; c < 6; ++c) {
      const double re = std::floor(exact[c * width].real() / unit), im = std::floor(exact[c * width].imag() / unit);
      exact[c * width] = {re * unit, im * unit};
      const auto of_re = static_cast<std::uint32_t>(re + 65536), of_im = static_cast<std::uint32_t>(im + 65536);
      stored[1] |= of_re / 65536 << (16 + 2 * c) | of_im / 65536 << (17 + 2 * c);
      stored[2 + c] = of_re % 65536 | of_im % 65536 << 16;
    }
    words[0] = unit * site::link_unit;
    for (int w = 1; w < wilson::face_words<F>; ++w) std::memcpy(words + w * width, stored + w, 4);
  } else {
    for (int c = 0; c < 6; ++c) {
      words[2 * c * width] = static_cast<Real<F>>(exact[c * width].real());
      words[(2 * c + 1) * width] = static_cast<Real<F>>(exact[c * width].imag());
    }
  }
}

/// The numbers of a face, [place][12][face lane], that a reader computes with.
template <class F>
std::vector<Real<F>> numbers_of_face(const std::vector<Real<F>>& face, int width) {
  if constexpr (!is_half<F>) return face;
  constexpr auto words = static_cast<std::size_t>(wilson::face_words<F>);
  const auto row = static_cast<std::size_t>(width);
  std::vector<Real<F>> numbers;
  for (std::size_t place = 0; place < face.size(); place += words * row)
    for (std::size_t number = 0; number < 12; ++number)
      for (std::size_t l = 0; l < row; ++l) {
        std::uint32_t upper, pair;
        std::memcpy(&upper, &face[place + row + l], 4);
        std::memcpy(&pair, &face[place + (2 + number / 2) * row + l], 4);
        const std::uint32_t lower = number % 2 == 0 ? pair % 65536 : pair / 65536;
        const int integer = static_cast<int>(lower + 65536 * (upper >> (16 + number) & 1)) - 65536;
        numbers.push_back(static_cast<Real<F>>(integer) * face[place + l]);
      }
  return numbers;
}

template <class F>
struct WilsonCase {
  using T = Real<F>;
  int lanes, sites, vectors;
  std::array<int, 4> stride;
  std::vector<std::uint32_t> list;                ///< outer sites, in the order in which they are computed
  std::vector<reference::Matrix<3>> exact_links;  ///< [site][direction][lane]
  std::vector<F> links, out;
  MadeUpField<F, 12> in, x, y;
  std::vector<Complex> exact_faces[8];  ///< [position][vector][6][face lane]
  std::vector<T> faces[8];
  Neighbours neighbours;
  wilson::HoppingArguments<F> arguments{};

  /// special: with faces, boundary phases, exchanged lanes, a list of sites, another field and all sums; otherwise the plain loop.
  WilsonCase(int block_lanes, int reals, int outer_sites, bool special, int right_hand_sides = 1)
      : WilsonCase(Numbers(1), block_lanes, reals, outer_sites, special, right_hand_sides) {}
  WilsonCase(const WilsonCase&) = delete;

  /// The component (3 spin + colour) of the result of one vector at one list position and lane.
  std::array<Complex, 12> expected(int position, int lane, int sign, int vector = 0) const {
    const int here = static_cast<int>(list[static_cast<std::size_t>(position)]);
    std::array<Complex, 12> result{};
    for (int d = 0; d < 8; ++d) {
      const int step = stride[static_cast<std::size_t>(d / 2)], s = d % 2 == 0 ? -sign : sign;
      const bool edge = on_edge(lane, step, d);
      const reference::Matrix<4> gamma = reference::gamma(reference::Basis::degrand_rossi, d / 2);
      const auto psi = in.at(neighbours.site(here, d) * vectors + vector,
                             neighbours.has(here, d, neighbour_entry::exchange) ? lane ^ step : lane, lanes);
      reference::Matrix<3> u = exact_links[static_cast<std::size_t>((here * 8 + d) * lanes + lane)];
      if (d % 2 == 1) u = reference::adjoint(u);
      for (int row = 0; row < 4; ++row) {
        reference::Vector<3> projected{};
        for (int c = 0; c < 3; ++c) {
          const auto colour = static_cast<std::size_t>(c);
          if (edge && neighbours.has(here, d, neighbour_entry::face)) {
            // The upper two rows; the lower two are s gamma times them.
            const auto upper = [&](int spin) {
              const int width = step == 0 ? lanes : lanes / 2;
              const int at = static_cast<int>(neighbours.faces_at[static_cast<std::size_t>(position * 8 + d)]) * vectors + vector;
              const int place = at * 6 + 3 * spin + c;
              return exact_faces[d][static_cast<std::size_t>(place * width + lane_of_face(lane, step))];
            };
            projected[colour] = row < 2 ? upper(row) : static_cast<double>(s) * (gamma(row, 0) * upper(0) + gamma(row, 1) * upper(1));
          } else {
            for (int column = 0; column < 4; ++column)
              projected[colour] += (static_cast<double>(row == column) + static_cast<double>(s) * gamma(row, column)) *
                                   psi[static_cast<std::size_t>(3 * column + c)];
          }
          if (edge && neighbours.has(here, d, neighbour_entry::phase))
            projected[colour] *= Complex(static_cast<double>(arguments.phase_re[d]), static_cast<double>(arguments.phase_im[d]));
        }
        const reference::Vector<3> moved = u * projected;
        for (int c = 0; c < 3; ++c) result[static_cast<std::size_t>(3 * row + c)] += moved[static_cast<std::size_t>(c)];
      }
    }
    for (std::size_t c = 0; c < 12; ++c) {
      result[c] *= static_cast<double>(arguments.scale[vector]);
      if (arguments.x != nullptr)
        result[c] += static_cast<double>(arguments.diagonal[vector]) * x.at(here * vectors + vector, lane, lanes)[c];
    }
    return result;
  }

  /// Where a vector of an outer site is stored.
  std::size_t at(int site, int vector) const {
    return static_cast<std::size_t>(site * vectors + vector) * static_cast<std::size_t>(spinor_words<F> * lanes);
  }
  /// What one vector is for a kernel that has no other.
  struct Alone {
    std::vector<F> in, x, y, out;
    std::vector<T> faces[8];
    wilson::HoppingArguments<F> arguments;
  };
  std::unique_ptr<Alone> alone(int vector) const {
    auto one = std::make_unique<Alone>();
    const auto words = static_cast<std::size_t>(spinor_words<F> * lanes);
    for (int site = 0; site < sites; ++site)
      for (const auto& [to, from] : {std::pair(&one->in, &in), {&one->x, &x}, {&one->y, &y}})
        to->insert(to->end(), from->stored.data() + at(site, vector), from->stored.data() + at(site, vector) + words);
    one->out.resize(one->in.size());
    one->arguments = arguments;
    for (int d = 0; d < 8; ++d) {
      const std::size_t size = faces[d].size() / static_cast<std::size_t>(face_sites * vectors);
      for (int i = 0; i < face_sites; ++i) {
        const T* from = faces[d].data() + static_cast<std::size_t>(i * vectors + vector) * size;
        one->faces[d].insert(one->faces[d].end(), from, from + size);
      }
      one->arguments.faces[d] = one->faces[d].data();
    }
    one->arguments.in = one->in.data();
    one->arguments.out = one->out.data();
    if (arguments.x != nullptr) one->arguments.x = one->x.data();
    one->arguments.y = one->y.data();
    one->arguments.diagonal[0] = arguments.diagonal[vector];
    one->arguments.scale[0] = arguments.scale[vector];
    one->arguments.vectors = 1;
    return one;
  }

 private:
  WilsonCase(Numbers numbers, int block_lanes, int reals, int outer_sites, bool special, int right_hand_sides)
      : lanes(block_lanes),
        sites(outer_sites),
        vectors(right_hand_sides),
        stride(made_up_strides(block_lanes)),
        in(numbers, sites * vectors, lanes),
        x(numbers, sites * vectors, lanes),
        y(numbers, sites * vectors, lanes),
        neighbours(numbers, sites, stride, special ? neighbour_entry::exchange | neighbour_entry::face | neighbour_entry::phase : 0) {
    const int words = NumberFormat<F>::link_words(reals);
    links.resize(static_cast<std::size_t>(sites * 8 * words * lanes));
    for (int i = 0; i < sites * 8; ++i)
      for (int l = 0; l < lanes; ++l) {
        reference::Matrix<3> drawn;
        for (Complex& entry : drawn.entries) entry = numbers.complex();
        exact_links.push_back(reference::reunitarize(drawn));
        double stored[18];
        for (std::size_t e = 0; e < 9; ++e) {
          stored[2 * e] = exact_links.back().entries[e].real();
          stored[2 * e + 1] = exact_links.back().entries[e].imag();
        }
        transfer::write_link(links.data() + i * words * lanes + l, stored, reals, lanes);
      }
    for (int d = 0; d < 8; ++d) {
      const int width = stride[static_cast<std::size_t>(d / 2)] == 0 ? lanes : lanes / 2;
      faces[d].resize(static_cast<std::size_t>(face_sites * vectors * wilson::face_words<F> * width));
      for (int i = 0; i < face_sites * vectors; ++i) {
        for (int number = 0; number < 6 * width; ++number) exact_faces[d].push_back(numbers.complex());
        for (int l = 0; l < width; ++l)
          write_face<F>(exact_faces[d].data() + i * 6 * width + l, faces[d].data() + i * wilson::face_words<F> * width + l, width);
      }
    }
    for (int s = 0; s < sites; ++s) list.push_back(static_cast<std::uint32_t>(s));
    if (special) std::reverse(list.begin(), list.end());
    out.resize(in.stored.size());
    arguments.neighbours = neighbours.entries.data();
    arguments.sites = special ? list.data() : nullptr;
    arguments.faces_at = neighbours.faces_at.data();
    arguments.links = links.data();
    arguments.in = in.stored.data();
    for (int d = 0; d < 8; ++d) arguments.faces[d] = faces[d].data();
    arguments.out = out.data();
    arguments.x = special ? x.stored.data() : nullptr;
    arguments.y = y.stored.data();
    for (int v = 0; v < vectors; ++v) {
      arguments.diagonal[v] = static_cast<T>(1.25 + 0.25 * v);
      arguments.scale[v] = static_cast<T>(-0.375 + 0.0625 * v);
    }
    arguments.vectors = vectors;
    for (std::size_t mu = 0; mu < 4; ++mu) arguments.stride[mu] = stride[mu];
    for (int d = 0; d < 8; ++d) {
      arguments.phase_re[d] = static_cast<T>(0.6);
      arguments.phase_im[d] = static_cast<T>(d % 2 == 0 ? 0.8 : -0.8);
    }
    arguments.sums = {special, special, special};
  }
};

}  // namespace quarkstar::kernels
