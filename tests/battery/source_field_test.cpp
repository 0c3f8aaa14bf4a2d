// Sources that tasks write are those of host memory, on every cut and order of sites.
#include "codelets/field/source_field.hpp"

#include "codelets/field/blas.hpp"
#include "codelets/field/transfer.hpp"
#include "tests/battery/support.hpp"

namespace source_field_test {

using namespace quarkstar;

TEST_CASE("sources written by tasks have the bits of sources in host memory") {
  const Coord lattice{8, 4, 4, 8};
  const std::vector<Source> sources{{Source::Kind::point, {3, 1, 2, 6}, 1},
                                    {Source::Kind::wall, {0, 0, 0, 1}, 1, {2, -1, 0}},
                                    {Source::Kind::corner_wall, {0, 0, 0, 7}, 1},
                                    {Source::Kind::z2, {0, 0, 0, 4}, 11},
                                    {Source::Kind::random, {0, 0, 0, 4}, 12}};
  for (const int components : {spinor_components, colour_components}) {
    std::vector<SourceColumn> columns;
    std::vector<HostField> expected;
    for (int v = 0; v < 8; ++v) {
      columns.push_back({sources[static_cast<std::size_t>(v) % sources.size()], (5 * v + 1) % components});
      expected.push_back(make_source(columns.back().source, components, lattice, columns.back().column));
    }
    for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{2, 1, 1, 2}, Coord{1, 2, 2, 4}})
      for (const LayoutRequest& layout : {LayoutRequest{}, LayoutRequest{.most_lanes = 1}, LayoutRequest{.tile = {2, 2, 2, 2}}}) {
        const runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
        const runtime::Decomposition decomposition(lattice, blocks, session.block_owners());
        const FullField field(std::make_shared<Lattice>(decomposition, Precision::double_, periodic, layout), components, 8);
        std::vector<HostField> got(8, HostField(components, lattice));
        const SourceColumns written(decomposition, columns);
        for (const int parity : {0, 1}) {
          blas::submit<blas::Fill>({&field.of(parity)}, {7.0});
          written.submit(field.of(parity));
          transfer::store(got, field.of(parity));
        }
        runtime::Session::current().wait_all();
        for (std::size_t v = 0; v < got.size(); ++v) CHECK(battery::same_bits(got[v], expected[v]));
        CHECK_THROWS_AS(SourceColumns(decomposition, {columns.begin(), columns.begin() + 3}).submit(field.even), ShapeError);
        columns[2].source.position[3] = 8;
        CHECK_THROWS_AS(SourceColumns(decomposition, columns), Error);
        columns[2].source.position[3] = 7;
      }
  }
}

}  // namespace source_field_test
