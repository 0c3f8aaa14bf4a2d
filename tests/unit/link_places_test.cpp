// Links on their way to blocks: what GPUs scatter to both ends of a link, and copy from double precision, is what CPUs gather; here all on
// a CPU.
#include "codelets/field/link_places.hpp"

#include "codelets/actions/staggered/stored_link.hpp"
#include "codelets/field/row_form.hpp"
#include "codelets/gauge/host_links.hpp"
#include "codelets/lattice/boxes.hpp"
#include "codelets/lattice/lattice.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace link_places_test {

using namespace quarkstar;
using namespace quarkstar::transfer;
using staggered::StoredForm;

namespace {

constexpr std::uint64_t seed = 577;
constexpr Coord extents{8, 4, 6, 8};

/// The links of a block, of even and odd sites.
template <class F>
struct OfBlock {
  std::vector<F> even, odd;
  OfBlock(const BlockShape& shape, int reals) {
    const auto words = static_cast<std::size_t>(shape.outer_sites() * 8 * NumberFormat<F>::link_words(reals) * shape.lanes);
    F marked{};
    std::memset(&marked, 0x5a, sizeof marked);
    even.assign(words, marked);
    odd.assign(words, marked);
  }
  bool operator==(const OfBlock& other) const {
    return std::memcmp(even.data(), other.even.data(), even.size() * sizeof(F)) == 0 &&
           std::memcmp(odd.data(), other.odd.data(), odd.size() * sizeof(F)) == 0;
  }
};

template <class F, class Form>
void compare(const HostGauge& host, const LinkLoad<Form>& load, const LinkPlaces& wide_places, const Form& wide_form) {
  const runtime::Team team({0});
  const BlockShape& shape = load.places.shape;
  OfBlock<F> gathered(shape, load.form.reals), scattered = gathered, copied = gathered;
  load.run(gathered.even.data(), host, 0, team);
  load.run(gathered.odd.data(), host, 1, team);
  for (std::int64_t site = 0; site < volume(host.extents); ++site)
    for (int mu = 0; mu < 4; ++mu)
      load.scatter(scattered.even.data(), scattered.odd.data(), host.link(site, mu).data(), site_of(host.box(), site), mu);
  CHECK(scattered == gathered);

  const LinkLoad<Form> wide{wide_places, load.block, load.lattice, load.hops, wide_form};
  OfBlock<double> in_double(wide_places.shape, 18);
  wide.run(in_double.even.data(), host, 0, team);
  wide.run(in_double.odd.data(), host, 1, team);
  const LinkCopy<Form> copy{load.places, wide_places, load.form};
  copy.run(copied.even.data(), in_double.even.data(), 0, team);
  copy.run(copied.odd.data(), in_double.odd.data(), 1, team);
  CHECK(copied == gathered);
}

/// Of all blocks of some cuts, with links of the whole lattice and of a box around each.
template <class F, class Form>
void compare_on_cuts(const Form& form, const Form& wide_form, int hops, int most_lanes, bool chunked) {
  const HostGauge whole = reference::random_gauge(extents, seed);
  for (const Coord& grid : {Coord{1, 1, 1, 1}, Coord{1, 1, 1, 2}, Coord{2, 1, 3, 2}}) {
    const runtime::Decomposition decomposition(extents, grid, 1);
    const Lattice narrow(decomposition, Precision::single, periodic, LayoutRequest{.most_lanes = most_lanes}),
        wide(decomposition, Precision::double_, periodic, LayoutRequest{.most_lanes = 2, .tile = {4, 2, 2, 2}});
    for (int b = 0; b < decomposition.count(); ++b) {
      const runtime::Block& block = decomposition.block(b);
      const Box own{block.origin, block.extents};
      const LinkLoad<Form> load{{narrow.block(b).shape(), chunked}, own, extents, hops, form};
      for (const HostGauge& host : {whole, reference::cut_out(whole, with_border(own, extents, hops, 1))}) {
        CAPTURE(grid);
        CAPTURE(b);
        CAPTURE(host.extents);
        compare<F>(host, load, {wide.block(b).shape(), !chunked}, wide_form);
      }
    }
  }
}

template <class Form>
void compare_formats(const Form& form, const Form& wide_form, int hops) {
  CAPTURE(form.reals);
  CAPTURE(hops);
  compare_on_cuts<double>(form, wide_form, hops, 4, true);
  compare_on_cuts<float>(form, wide_form, hops, 1, false);
  compare_on_cuts<Half>(form, wide_form, hops, 16, true);
}

}  // namespace

TEST_CASE("links that are scattered to both ends, or copied from double precision, are those that are gathered") {
  MESSAGE("seed " << seed);
  const runtime::Session session(runtime_testing::options(1, 1));
  for (const int reals : {18, 12}) compare_formats(RowForm{reals, {1, 1, 1, 1}}, RowForm{18, {1, 1, 1, 1}}, 1);
  compare_formats(RowForm{18, {0.5, 1, 2, -0.75}}, RowForm{18, {0.5, 1, 2, -0.75}}, 1);
  for (const int reals : {18, 14, 13, 9})
    for (const int hops : {1, 3}) compare_formats(StoredForm{reals, 1.25}, StoredForm{18, 1.25}, hops);
}

TEST_CASE("a block finds its sites among those of the lattice, each once, over the edge too") {
  const Coord lattice{4, 6, 4, 8}, origin{2, 0, 2, 6}, block{2, 6, 2, 2};
  const gauge::LinkPlace place{{block, {1, 0, 1, 3}}, origin, lattice, {{-1, 0, 0, -3}, {4, 6, 2, 8}}};
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < volume(lattice); ++i) {
    const Coord x = coordinates(i, lattice);
    Coord local{};
    bool expected = true;
    for (int mu = 0; mu < 4; ++mu) {
      bool in_direction = false;
      for (int step = 0; step < place.sites.extents[mu]; ++step)
        in_direction = in_direction || (origin[mu] + place.sites.origin[mu] + step + lattice[mu]) % lattice[mu] == x[mu];
      expected = expected && in_direction;
    }
    REQUIRE(place.find(x, local) == expected);
    if (!expected) continue;
    ++found;
    for (int mu = 0; mu < 4; ++mu) {
      CHECK((origin[mu] + local[mu] + lattice[mu]) % lattice[mu] == x[mu]);
      CHECK(local[mu] >= place.sites.origin[mu]);
      CHECK(local[mu] < place.sites.origin[mu] + place.sites.extents[mu]);
    }
  }
  CHECK(found == volume(place.sites.extents));
}

}  // namespace link_places_test
