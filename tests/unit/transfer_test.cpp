// Between host order and blocks, and between precisions: nothing lost, one rounding, every site in its place.
#include "codelets/field/transfer.hpp"

#include "codelets/field/transfer_site.hpp"
#include "codelets/field/word_place.hpp"
#include "codelets/lattice/lanes_in_a_row.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/reference/random.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace transfer_test {

using namespace quarkstar;
using runtime::Decomposition;
using runtime_testing::options;
using Complex = std::complex<double>;
using Cuts = std::array<std::vector<int>, 4>;

namespace {

constexpr std::uint64_t seed = 271;
constexpr Coord extents{8, 4, 6, 8};

std::vector<Decomposition> decompositions() {
  std::vector<Decomposition> list;
  for (const Coord& grid : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{2, 1, 1, 1}, Coord{2, 2, 3, 2}, Coord{1, 4, 1, 8}})
    list.emplace_back(extents, grid, 2);
  list.emplace_back(extents, Cuts{{{2, 6}, {1, 3}, {6}, {3, 1, 4}}}, std::vector<int>{0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0});
  return list;
}

LatticePointer make(const Decomposition& decomposition, Precision precision, int most_lanes = 16) {
  return std::make_shared<Lattice>(decomposition, precision, periodic, LayoutRequest{.most_lanes = most_lanes});
}

HostField random_field(int components, std::uint64_t number) {
  HostField field(components, extents);
  reference::Random random(seed + number);
  for (Complex& value : field.data) value = random.normal();
  return field;
}

HostField random_spinor() { return random_field(spinor_components, 0); }

Complex rounded(const Complex& value, Precision precision) {
  if (precision == Precision::double_) return value;
  return {static_cast<float>(value.real()), static_cast<float>(value.imag())};
}

/// Whether `found` has `from`, rounded, on the sites of one parity and `other` elsewhere.
bool holds(const HostField& found, const HostField& from, int parity, Precision precision, const Complex& other) {
  for (std::int64_t i = 0; i < volume(extents); ++i)
    for (int c = 0; c < spinor_components; ++c) {
      const auto at = static_cast<std::size_t>(spinor_components * i + c);
      if (found.data[at] != (parity_of(coordinates(i, extents)) == parity ? rounded(from.data[at], precision) : other)) return false;
    }
  return true;
}

HostField filled(const Complex& value) {
  HostField spinor(spinor_components, extents);
  std::fill(spinor.data.begin(), spinor.data.end(), value);
  return spinor;
}

HostField stored(const Field& field, const Complex& elsewhere) {
  HostField host = filled(elsewhere);
  transfer::store(host, field);
  runtime::Session::current().wait_all();
  return host;
}

}  // namespace

TEST_CASE("what a field in half precision gives comes back as it was, on another cut too") {
  const runtime::Session session(options(2, 1));
  HostField host = random_spinor();
  for (std::size_t i = 0; i < host.data.size(); ++i) host.data[i] *= std::exp2(static_cast<double>(i / 120 % 60) - 30);
  const std::vector<Decomposition> cuts = decompositions();
  for (const int parity : {0, 1}) {
    const Field first(make(cuts.front(), Precision::half, 16), parity, spinor_components);
    transfer::load(first, host);
    const HostField once = stored(first, 0);
    const Field second(make(cuts.back(), Precision::half, 4), parity, spinor_components);
    transfer::load(second, once);
    CHECK(stored(second, 0).data == once.data);
  }
}

TEST_CASE("host to field to host: the same in double, rounded once in single, the other parity untouched") {
  INFO("seed " << seed);
  const HostField host = random_spinor();
  const Complex other{-7, 8};
  for (const auto& [workers, threads] : {std::pair{1, 2}, {2, 1}}) {
    const runtime::Session session(options(workers, threads));
    for (const Decomposition& decomposition : decompositions())
      for (const Precision precision : {Precision::double_, Precision::single})
        for (const int lanes : {16, 8, 4, 1})
          for (const int parity : {0, 1}) {
            INFO(decomposition.describe() << " " << std::string(name_of(precision)) << ", lanes <= " << lanes);
            const Field field(make(decomposition, precision, lanes), parity, spinor_components);
            transfer::load(field, host);
            CHECK(holds(stored(field, other), host, parity, precision, other));
          }
  }
}

TEST_CASE("a field is stored as its description says") {
  const runtime::Session session(options(1));
  const HostField host = random_spinor();
  for (const Decomposition& decomposition : decompositions()) {
    const LatticePointer lattice = make(decomposition, Precision::double_, 8);
    const Field field(lattice, 1, spinor_components);
    transfer::load(field, host);
    for (int b = 0; b < lattice->block_count(); ++b) {
      const BlockGeometry& block = lattice->block(b);
      const int lanes = block.lanes().lanes;
      const runtime::HostView<double> view(field.block(b));
      int wrong = 0;
      for (int outer = 0; outer < block.outer_sites(); ++outer)
        for (int lane = 0; lane < lanes; ++lane) {
          Coord site = block.local_site({1, outer, lane});
          for (int mu = 0; mu < 4; ++mu) site[mu] += block.block().origin[mu];
          for (int c = 0; c < 12; ++c) {
            const Complex value = host.at(lexicographic(site, extents), c / 3, c % 3);
            const auto at = static_cast<std::size_t>(((outer * 12 + c) * 2) * lanes + lane);
            wrong += view[at] != value.real() || view[at + static_cast<std::size_t>(lanes)] != value.imag();
          }
        }
      CHECK(wrong == 0);
    }
  }
}

namespace {

/// Vectors of numbers Real, colours outside of spins behind a gap: [parity, or none][site][gap][colour][spin][re, im].
template <class Real>
void check_elsewhere(bool even_first, const Decomposition& decomposition, std::size_t n, int components, Precision precision) {
  INFO("bytes of a real " << sizeof(Real) << ", even first " << even_first << ", " << decomposition.describe() << ", " << n
                          << " vectors of " << components << ", lattice " << std::string(name_of(precision)));
  constexpr std::size_t gap = 2;
  const int spins = components / 3;
  const std::size_t reals = gap + static_cast<std::size_t>(2 * components);
  std::vector<HostField> from, back;
  for (std::size_t v = 0; v < n; ++v) {
    from.push_back(random_field(components, v));
    back.emplace_back(components, extents);
  }
  const auto place = [&](std::int64_t site, int c) {
    const std::int64_t half = volume(extents) / 2, at = even_first ? site / 2 + parity_of(coordinates(site, extents)) * half : site;
    return static_cast<std::size_t>(at) * reals + gap + static_cast<std::size_t>(2 * (c % 3 * spins + c / 3));
  };
  std::vector<std::vector<Real>> numbers(n, std::vector<Real>(static_cast<std::size_t>(volume(extents)) * reals, 7));
  VectorArrays there = VectorArrays::to_write(from);
  there.is_single = sizeof(Real) == sizeof(float) ? 1 : 0;
  there.even_first = even_first ? 1 : 0;
  there.site_bytes = reals * sizeof(Real);
  there.spin_bytes = 2 * sizeof(Real);
  there.colour_bytes = static_cast<std::size_t>(2 * spins) * sizeof(Real);
  for (std::size_t v = 0; v < n; ++v) {
    there.data[v] = reinterpret_cast<std::byte*>(numbers[v].data() + gap);
    there.factors[v] = 0.3 + static_cast<double>(v);
  }
  const LatticePointer lattice = make(decomposition, precision);
  const FullField both(lattice, components, static_cast<int>(n));
  if (even_first) {  // by one task a block
    transfer::load({both.even, both.odd}, VectorArrays::to_read(from));
    transfer::store(there, {both.even, both.odd});
  }
  for (const int parity : {0, 1}) {
    if (even_first) break;
    transfer::load(both.of(parity), from);
    transfer::store(there, both.of(parity));
  }
  runtime::Session::current().wait_all();
  for (const int parity : {0, 1}) {
    const Field field(lattice, parity, components, static_cast<int>(n));
    transfer::load(field, there);
    transfer::store(back, field);
    runtime::Session::current().wait_all();
  }
  int wrong = 0;
  for (std::size_t v = 0; v < n; ++v) {
    const double factor = there.factors[v];
    for (std::int64_t i = 0; i < volume(extents); ++i)
      for (int c = 0; c < components; ++c) {
        const Complex value = rounded(from[v].at(i, c), precision);
        const Real* const stored = numbers[v].data() + place(i, c);
        wrong += stored[0] != static_cast<Real>(factor * value.real()) || stored[1] != static_cast<Real>(factor * value.imag());
        wrong += back[v].at(i, c) != rounded({factor * stored[0], factor * stored[1]}, precision);
      }
    for (std::size_t i = 0; i < numbers[v].size(); ++i) wrong += i % reals < gap && numbers[v][i] != 7;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("vectors elsewhere in host memory: in their order and precision, times their factor, and no number beside them") {
  INFO("seed " << seed);
  const runtime::Session session(options(2, 1));
  for (const Decomposition& decomposition : {decompositions().front(), decompositions().back()})
    for (const bool even_first : {false, true})
      for (const std::size_t n : {std::size_t{1}, std::size_t{3}})
        for (const int components : {colour_components, spinor_components})
          for (const Precision precision : {Precision::double_, Precision::single}) {
            check_elsewhere<double>(even_first, decomposition, n, components, precision);
            check_elsewhere<float>(even_first, decomposition, n, components, precision);
          }
}

namespace {

/// What the threads of a GPU do, one after the other: they write each word of a field once, where it belongs, and their numbers come back.
template <class F>
void check_threads(const Decomposition& decomposition, int components, int most_lanes, int in_lanes, bool chunked, int n) {
  const LatticePointer lattice = make(decomposition, NumberFormat<F>::precision, most_lanes);
  INFO(std::string(name_of(lattice->precision())) << ", " << n << " vectors of " << components << ", lanes " << lattice->lanes().lanes
                                                  << ", of vectors " << in_lanes << ", chunked " << chunked);
  std::vector<HostField> from, back, expected;
  for (int v = 0; v < n; ++v) {
    from.push_back(random_field(components, static_cast<std::uint64_t>(v)));
    back.emplace_back(components, extents);
    expected.emplace_back(components, extents);
  }
  const BlockGeometry& block = lattice->block(0);
  const VectorPlaces places{n, block.shape().lanes, in_lanes, chunked ? 1 : 0, n};
  with_components(components, [&](auto of_vector) {
    constexpr int count = of_vector, words = NumberFormat<F>::site_words(2 * count), head = site::head_words<F>;
    const int chunk = chunked ? site::chunk_words<F>(words - head) : 1;
    for (const int parity : {0, 1}) {
      const Field field(lattice, parity, components, n);
      transfer::load(field, from);
      transfer::store(expected, field);
      runtime::Session::current().wait_all();
      std::vector<F> made(static_cast<std::size_t>(block.outer_sites() * places.groups() * places.width() * words));
      std::vector<int> written(made.size());
      transfer::ArrayTask task{VectorArrays::to_read(from), block.shape(), places, block.block().origin, decomposition.lattice(), parity};
      const auto each_thread = [&](auto&& move) {
        for (int id = 0; id < block.outer_sites() * places.width(); ++id) {
          const int outer = id / places.width(), i = id % places.width(), lane = places.lane_of_thread(i);
          const std::size_t place = task.place(block.local_site({parity, outer, lane}));
          for (int group = 0; group < places.groups(); ++group) {
            const int v = places.vector_of_thread(i, group);
            move(v, place, [&, v](int w) {
              return places.group(words, outer, v) +
                     static_cast<std::size_t>(site::word_place(w, places.lane_of(v, lane), places.width(), chunk, head));
            });
          }
        }
      };
      each_thread([&](int v, std::size_t place, auto&& at) {
        F site[words];
        transfer::load_site<F, count>(site, task.arrays, v, place);
        for (int w = 0; w < words; ++w) {
          made[at(w)] = site[w];
          ++written[at(w)];
        }
      });
      CHECK(std::all_of(written.begin(), written.end(), [](int times) { return times == 1; }));
      if (in_lanes == 1 && !chunked) {
        const runtime::HostView<F> view(field.block(0));
        CHECK(std::memcmp(view.get(), made.data(), made.size() * sizeof(F)) == 0);
      }
      task.arrays = VectorArrays::to_write(back);
      each_thread([&](int v, std::size_t place, auto&& at) {
        F site[words];
        for (int w = 0; w < words; ++w) site[w] = made[at(w)];
        transfer::store_site<F, count>(task.arrays, v, place, site);
      });
    }
  });
  for (int v = 0; v < n; ++v) CHECK(back[static_cast<std::size_t>(v)].data == expected[static_cast<std::size_t>(v)].data);
}

}  // namespace

TEST_CASE("threads of a GPU write each word of a field once, and read the same numbers again, in all layouts") {
  INFO("seed " << seed);
  const runtime::Session session(options(1));
  const Decomposition whole(extents, {1, 1, 1, 1}, 1);
  for (const int components : {colour_components, spinor_components})
    for (const bool chunked : {false, true}) {
      if (chunked && components == colour_components) continue;
      for (const int n : {1, 3}) {
        check_threads<Half>(whole, components, 16, 1, chunked, n);
        check_threads<float>(whole, components, 16, 1, chunked, n);
        check_threads<double>(whole, components, 16, 1, chunked, n);
      }
      check_threads<float>(whole, components, 1, 8, chunked, 16);
      check_threads<double>(whole, components, 1, 12, chunked, 12);
    }
}

TEST_CASE("fields convert between precisions and lane layouts") {
  const HostField host = random_spinor();
  const runtime::Session session(options(2, 2));
  for (const Decomposition& decomposition : decompositions())
    for (const Precision from : {Precision::double_, Precision::single})
      for (const Precision to : {Precision::double_, Precision::single})
        for (const auto& [from_lanes, to_lanes] : {std::pair{16, 16}, {8, 4}, {4, 16}, {1, 8}, {16, 1}}) {
          INFO(decomposition.describe() << " " << std::string(name_of(from)) << " " << from_lanes << " to " << std::string(name_of(to))
                                        << " " << to_lanes);
          const Field source(make(decomposition, from, from_lanes), 0, spinor_components),
              target(make(decomposition, to, to_lanes), 0, spinor_components);
          transfer::load(source, host);
          transfer::convert(target, source);
          const Precision narrower = from == Precision::single ? from : to;
          CHECK(holds(stored(target, 0), host, 0, narrower, 0));
        }
}

TEST_CASE("lanes that two layouts have side by side") {
  const auto shape_of = [](const Coord& lattice, Precision precision, int most_lanes, int reach, const Coord& tile) {
    return Lattice(Decomposition(lattice, {1, 1, 1, 1}, 1), precision, periodic,
                   LayoutRequest{.most_lanes = most_lanes, .reach = reach, .tile = tile})
        .block(0)
        .shape();
  };
  const auto check = [](const BlockShape& a, const BlockShape& b, int expected) {
    const int lanes = lanes_in_a_row(a, b);
    CHECK(lanes == expected);
    int wrong = 0;
    for (const int parity : {0, 1})
      for (int outer = 0; outer < a.outer_sites(); ++outer)
        for (int lane = 0; lane < a.lanes; ++lane) {
          const SitePosition first = b.locate(a.local_site({parity, outer, lane - lane % lanes}));
          const SitePosition found = b.locate(a.local_site({parity, outer, lane}));
          wrong += found.outer != first.outer || found.lane != first.lane + lane % lanes ? 1 : 0;
        }
    CHECK(wrong == 0);
  };
  const runtime::Session session(options(1));
  const Coord lattice{8, 4, 8, 8}, tile{2, 2, 0, 2};
  for (const Coord& other : {Coord{}, tile}) {
    const BlockShape single = shape_of(lattice, Precision::single, 16, 1, {});
    REQUIRE(single.lanes == 16);
    check(single, shape_of(lattice, Precision::half, 16, 1, other), 16);
    check(single, shape_of(lattice, Precision::double_, 16, 1, other), 8);
    check(shape_of(lattice, Precision::double_, 16, 1, other), single, 8);
    check(single, shape_of(lattice, Precision::double_, 4, 1, other), 4);
    check(single, shape_of(lattice, Precision::double_, 1, 1, other), 1);
    check(single, shape_of(lattice, Precision::single, 16, 3, other), 2);  // hops of three sites do not fit into half of y
  }
}

TEST_CASE("fields convert where one layout has more lanes in a row than the other") {
  INFO("seed " << seed);
  const Coord lattice{8, 4, 8, 8};
  HostField host(spinor_components, lattice);
  reference::Random random(seed);
  for (Complex& value : host.data) value = rounded(random.normal(), Precision::single);
  const runtime::Session session(options(2));
  for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 1, 2, 2}})
    for (const Precision from : {Precision::double_, Precision::single})
      for (const Precision to : {Precision::double_, Precision::single})
        for (const Coord& tile : {Coord{}, Coord{2, 2, 0, 2}})
          for (const int parity : {0, 1}) {
            INFO(std::string(name_of(from)) << " to " << std::string(name_of(to)) << ", tile " << tile[0] << ", parity " << parity);
            const Decomposition decomposition(lattice, blocks, 2);
            const Field source(std::make_shared<Lattice>(decomposition, from, periodic), parity, spinor_components),
                target(std::make_shared<Lattice>(decomposition, to, periodic, LayoutRequest{.tile = tile}), parity, spinor_components);
            transfer::load(source, host);
            transfer::convert(target, source);
            HostField found(spinor_components, lattice);
            transfer::store(found, target);
            runtime::Session::current().wait_all();
            int wrong = 0;
            for (std::int64_t i = 0; i < volume(lattice); ++i)
              for (int c = 0; c < spinor_components; ++c) {
                const auto at = static_cast<std::size_t>(spinor_components * i + c);
                const bool here = (parity_of(coordinates(i, lattice)) & 1) == parity;
                wrong += found.data[at] != (here ? host.data[at] : Complex(0)) ? 1 : 0;
              }
            CHECK(wrong == 0);
          }
}

TEST_CASE("a number between two floats is rounded to the nearer, ties to even, once") {
  const runtime::Session session(options(1));
  const Decomposition decomposition(extents, {1, 1, 1, 1}, 1);
  // The first is above the middle of two floats by less than a rounding to fewer bits on the way would keep.
  const std::vector<std::pair<double, float>> cases = {{1 + 0x1p-24 + 0x1p-52, 1 + 0x1p-23f},
                                                       {1 + 0x1p-24, 1},
                                                       {1 + 0x1.8p-23, 1 + 0x1p-22f},
                                                       {0x1p-149, 0x1p-149f},
                                                       {0x1.8p-150, 0x1p-149f},
                                                       {0x1p-150, 0},
                                                       {1e300, std::numeric_limits<float>::infinity()}};
  for (const auto& [wide, narrow] : cases) {
    INFO(wide);
    const Field source(make(decomposition, Precision::double_), 0, spinor_components),
        single(make(decomposition, Precision::single), 0, spinor_components),
        target(make(decomposition, Precision::single), 0, spinor_components);
    const HostField host = filled({wide, -wide});
    transfer::load(source, host);
    transfer::load(single, host);
    transfer::convert(target, source);
    for (const Field* field : {&single, &target}) {
      const HostField result = stored(*field, 0);
      CHECK(result.at(0, 0, 0) == Complex(narrow, -narrow));
      CHECK(result.data[static_cast<std::size_t>(12 * lexicographic({1, 1, 0, 0}, extents) + 5)] == Complex(narrow, -narrow));
    }
  }
}

TEST_CASE("links of both ends beside each site, whole or two rows") {
  INFO("seed " << seed);
  const HostGauge gauge = reference::random_gauge(extents, seed);
  const runtime::Session session(options(1, 2));
  for (const Decomposition& decomposition : decompositions())
    for (const Precision precision : {Precision::double_, Precision::single})
      for (const int reals : {18, 12}) {
        const LatticePointer lattice = make(decomposition, precision);
        LinkField even(lattice, 0, reals), odd(lattice, 1, reals);
        transfer::load_links(even, odd, gauge);
        for (const LinkField* links : {&even, &odd}) {
          const int parity = links->parity();
          const int lanes = lattice->lanes().lanes;
          int wrong = 0;
          for (int b = 0; b < lattice->block_count(); ++b) {
            const BlockGeometry& block = lattice->block(b);
            const runtime::HostView<char> bytes(links->block(b));
            const auto value = [&](std::size_t at) {
              return precision == Precision::double_ ? reinterpret_cast<const double*>(bytes.get())[at]
                                                     : static_cast<double>(reinterpret_cast<const float*>(bytes.get())[at]);
            };
            for (int outer = 0; outer < block.outer_sites(); ++outer)
              for (int lane = 0; lane < lanes; ++lane)
                for (int d = 0; d < 8; ++d) {
                  Coord site = block.local_site({parity, outer, lane});
                  for (int mu = 0; mu < 4; ++mu) site[mu] += block.block().origin[mu];
                  if (d % 2 == 1) site[d / 2] = (site[d / 2] + extents[d / 2] - 1) % extents[d / 2];
                  const auto link = gauge.link(lexicographic(site, extents), d / 2);
                  for (int i = 0; i < reals; ++i) {
                    const auto at = static_cast<std::size_t>(((outer * 8 + d) * reals + i) * lanes + lane);
                    const double expected = link[static_cast<std::size_t>(i)];
                    wrong += value(at) != (precision == Precision::double_ ? expected : static_cast<float>(expected));
                  }
                }
          }
          CHECK(wrong == 0);
        }
      }
}

TEST_CASE("extents, parities and decompositions that differ are refused") {
  const runtime::Session session(options(1));
  const Decomposition whole(extents, {1, 1, 1, 1}, 1), cut(extents, {1, 1, 1, 2}, 1), other({8, 4, 6, 6}, {1, 1, 1, 1}, 1);
  const Field even(make(whole, Precision::double_), 0, spinor_components), odd(make(whole, Precision::double_), 1, spinor_components),
      two_blocks(make(cut, Precision::single), 0, spinor_components), smaller(make(other, Precision::double_), 0, spinor_components);
  const LatticePointer whole_lattice = make(whole, Precision::double_);
  LinkField links(whole_lattice, 0, 18), others(whole_lattice, 1, 18), fewer(whole_lattice, 1, 12),
      far(make(cut, Precision::double_), 1, 18);
  HostField small(spinor_components, {8, 4, 6, 6}), swapped(spinor_components, {4, 8, 6, 8}), none;
  for (HostField* host : {&small, &swapped, &none}) {
    CHECK_THROWS_AS(transfer::load(even, *host), ShapeError);
    CHECK_THROWS_AS(transfer::store(*host, even), ShapeError);
  }
  // Each holds the whole lattice, but not in the same order.
  const Field two(whole_lattice, 0, spinor_components, 2);
  std::vector<HostField> unlike{{spinor_components, extents}, {spinor_components, Box{{0, 0, 0, 2}, extents}}};
  CHECK_THROWS_AS(transfer::load(two, unlike), ShapeError);
  CHECK_THROWS_AS(transfer::store(unlike, two), ShapeError);
  const Field even_part(whole_lattice, 0, spinor_components, 1), odd_part(whole_lattice, 1, spinor_components, 1);
  const VectorArrays first = VectorArrays::to_read(std::span(unlike).first(1));
  CHECK_NOTHROW(transfer::load({even_part, odd_part}, first));
  CHECK_THROWS_AS(transfer::load({odd_part, even_part}, first), ShapeError);
  CHECK_THROWS_AS(transfer::load({even_part, odd}, first), ShapeError);
  HostGauge gauge = reference::unit_gauge({8, 4, 6, 6});
  CHECK_THROWS_AS(transfer::load_links(links, others, gauge), ShapeError);
  gauge = reference::unit_gauge(extents);
  for (LinkField* odd_links : {&links, &fewer, &far}) CHECK_THROWS_AS(transfer::load_links(links, *odd_links, gauge), ShapeError);
  CHECK_THROWS_AS(transfer::load_links(others, links, gauge), ShapeError);
  CHECK_THROWS_AS(transfer::convert(even, odd), ShapeError);
  CHECK_THROWS_AS(transfer::convert(two_blocks, even), ShapeError);
  CHECK_THROWS_AS(transfer::convert(even, smaller), ShapeError);
}

}  // namespace transfer_test
