// Noise is a function of seed, global site, component and vector, whatever the layout.
#include "codelets/field/noise.hpp"

#include "codelets/field/transfer.hpp"
#include "codelets/lattice/random.hpp"
#include "runtime/graph/session.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

namespace noise_test {

using namespace quarkstar;

namespace {

const Coord extents{8, 4, 4, 8};
constexpr std::uint64_t seed = 11, first = 5;

/// Of a slice of vector v at a site of the lattice, rounded to F.
template <class F>
void check_site(const HostField& field, std::int64_t site, std::uint64_t v, int slice) {
  RandomStream stream(seed, RandomPurpose::null_vectors, slice * volume(extents) + site, first + v);
  std::vector<double> expected;
  while (expected.size() < static_cast<std::size_t>(2 * field.components))
    for (const double number : stream.gaussians()) expected.push_back(static_cast<F>(number));
  for (int c = 0; c < field.components; ++c) {
    const auto at = static_cast<std::size_t>(2 * c);
    CHECK(field.at(site, c) == std::complex<double>(expected[at], expected[at + 1]));
  }
}

}  // namespace

TEST_CASE("noise has the numbers of its sites in every layout") {
  const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  struct Layout {
    Coord blocks;
    LayoutRequest request;
    int components, vectors;
  };
  for (const Precision precision : {Precision::double_, Precision::single})
    for (const Layout& layout :
         {Layout{{1, 1, 1, 1}, {}, spinor_components, 3}, Layout{{1, 1, 2, 2}, {}, colour_components, 2},
          Layout{{1, 1, 1, 1}, {.most_lanes = 4}, spinor_components, 1},
          Layout{{1, 1, 1, 2}, {.vectors_in_lanes = 8}, colour_components, 8}, Layout{{1, 1, 1, 2}, {.slices = 4}, spinor_components, 3}}) {
      const runtime::Decomposition decomposition(extents, layout.blocks, 1);
      const auto lattice = std::make_shared<Lattice>(decomposition, precision, periodic, layout.request);
      for (const int parity : {0, 1, both_parities}) {
        const Field field(lattice, parity, layout.components, layout.vectors);
        write_noise(field, seed, first);
        std::vector<HostField> host(static_cast<std::size_t>(field.site_vectors()), HostField(layout.components, extents));
        transfer::store(host, field);
        runtime::Session::current().wait_all();
        for (int i = 0; i < field.site_vectors(); ++i) {
          const HostField& of_slice = host[static_cast<std::size_t>(i)];
          const auto v = static_cast<std::uint64_t>(i % layout.vectors);
          for (std::int64_t site = 0; site < volume(extents); ++site) {
            if (parity != both_parities && parity_of(coordinates(site, extents)) != parity) continue;
            if (precision == Precision::double_) check_site<double>(of_slice, site, v, i / layout.vectors);
            else check_site<float>(of_slice, site, v, i / layout.vectors);
          }
        }
      }
    }
  const auto half = std::make_shared<Lattice>(runtime::Decomposition(extents, {1, 1, 1, 1}, 1), Precision::half, periodic, LayoutRequest{});
  const auto whole =
      std::make_shared<Lattice>(runtime::Decomposition(extents, {1, 1, 1, 1}, 1), Precision::single, periodic, LayoutRequest{});
  CHECK_THROWS_AS(write_noise(Field(half, 0, spinor_components, 1), seed, first), ShapeError);
}

}  // namespace noise_test
