// Files of eigenvectors in every precision: what they state of their vectors, as other programs read them.
#include "apps/run/eigen_run.hpp"
#include "apps/run/hdf5_file.hpp"
#include "codelets/actions/staggered/action.hpp"
#include "codelets/io/scidac_field.hpp"
#include "runtime/system/error.hpp"
#include "tests/battery/eigen_support.hpp"
#include "tests/battery/staggered_solver_support.hpp"
#include "tests/unit/app_testing.hpp"

#include <hdf5.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace eigen_file_test {

using namespace quarkstar;
using app::Hdf5Id;

namespace {

constexpr std::uint64_t seed = 20261129;
constexpr Coord lattice{4, 4, 4, 8};

/// What HDF5 gives of the data set `vectors`, mode by mode, on the sites of `parity`: by the library alone.
std::vector<reference::Field> vectors_in(const std::string& path, Precision stored, int modes, int parity) {
  const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose),
      dataset(H5Dopen2(file, "vectors", H5P_DEFAULT), H5Dclose);
  struct Site {
    float unit;
    std::int16_t numbers[3][2];
  };
  const auto sites = static_cast<std::size_t>(volume(lattice) / 2);
  std::vector<std::complex<double>> numbers(static_cast<std::size_t>(modes) * sites * 3);
  if (stored == Precision::half) {
    const hsize_t shape[] = {3, 2};
    const Hdf5Id array(H5Tarray_create2(H5T_NATIVE_INT16, 2, shape), H5Tclose), type(H5Tcreate(H5T_COMPOUND, sizeof(Site)), H5Tclose);
    H5Tinsert(type, "unit", offsetof(Site, unit), H5T_NATIVE_FLOAT);
    H5Tinsert(type, "numbers", offsetof(Site, numbers), array);
    std::vector<Site> all(static_cast<std::size_t>(modes) * sites);
    REQUIRE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) >= 0);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Site& site = all[i / 3];
      numbers[i] = {double{site.unit} * site.numbers[i % 3][0], double{site.unit} * site.numbers[i % 3][1]};
    }
  } else {
    REQUIRE(H5Dread(dataset, app::complex_type(H5T_NATIVE_DOUBLE), H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) >= 0);
  }
  std::vector<reference::Field> vectors;
  std::size_t at = 0;
  for (int mode = 0; mode < modes; ++mode) {
    HostField field(colour_components, lattice);
    for (int t = 0; t < lattice[3]; ++t)
      for (int z = 0; z < lattice[2]; ++z)
        for (int y = 0; y < lattice[1]; ++y)
          for (int i = 0; i < lattice[0] / 2; ++i)
            for (int c = 0; c < 3; ++c) field.at(lexicographic({2 * i + (parity + y + z + t) % 2, y, z, t}, lattice), c) = numbers[at++];
    vectors.push_back(battery::to_reference(field));
  }
  return vectors;
}

}  // namespace

TEST_CASE("a file of modes states the residuals of the vectors that are in it, in double, single and half precision") {
  MESSAGE("seed " << seed);
  const reference::StaggeredLinks reference_links = battery::smooth_links(lattice, seed, 0.3);
  const smear::StaggeredLinks links = battery::with_phases(reference_links, battery::naik_weight);
  const staggered::Action action(links);
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const runtime::Decomposition whole(lattice, {1, 1, 1, 1}, 1);
  const EigenSettings settings{.modes = 10};
  battery::HermitianOperator a(whole, action, settings.block);
  BlockLanczos lanczos(*a, settings);
  const EigenResult result = lanczos.solve();
  REQUIRE(result.converged);
  const testing::TemporaryFolder folder;
  std::uintmax_t bytes_in_double = 0;
  double before = 0;
  for (const Precision stored : {Precision::double_, Precision::single, Precision::half}) {
    INFO(std::string(name_of(stored)));
    const std::string path = folder.file(std::string(name_of(stored)));
    app::EigenHeader header{"any problem", lattice, colour_components, (*a).parity(), {}, {}, {}, stored};
    const app::EigenVectorsOf of = app::stored_modes(header, result, *a, lanczos);
    CHECK(header.values == result.values);
    app::write_eigen_file(path, header, settings.modes, settings.block, {{}, lattice}, of);
    const app::EigenFile file(path, "");
    CHECK(file.header().stored == stored);
    CHECK(file.header().values == result.values);
    CHECK(file.header().residuals == header.residuals);
    const std::vector<reference::Field> vectors = vectors_in(path, stored, settings.modes, header.parity);
    double largest = 0;
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      INFO("mode " << i);
      const reference::Field image = reference::staggered_dslash(reference_links, reference::staggered_dslash(reference_links, vectors[i]));
      const double norm2 = reference::norm2(vectors[i]);
      const double residual = std::sqrt(reference::norm2(image + reference::Complex{header.values[i]} * vectors[i]) / norm2);
      CHECK(norm2 == doctest::Approx(1).epsilon(1e-4));
      CHECK(std::abs(residual - header.residuals[i]) < 1e-13 + 1e-6 * residual);
      largest = std::max(largest, residual);
    }
    MESSAGE(std::string(name_of(stored)) << ": " << std::filesystem::file_size(path) << " bytes, largest residual " << largest);
    CHECK(largest > before);
    before = largest;
    if (stored == Precision::double_) bytes_in_double = std::filesystem::file_size(path);
    else CHECK((stored == Precision::single ? 1.8 : 2.6) * static_cast<double>(std::filesystem::file_size(path)) < bytes_in_double);
    std::size_t v = 0;
    file.read({{}, lattice}, settings.block, [&](std::span<const HostField> read) {
      const std::vector<app::StoredVector> written = of(static_cast<int>(v), static_cast<int>(read.size()));
      for (std::size_t i = 0; i < read.size(); ++i, ++v) {
        CHECK(read[i].data == battery::to_colour(vectors[v]).data);
        CHECK(app::compact(read[i], header.parity, stored) == written[i]);
      }
    });
    CHECK(v == vectors.size());
  }
  CHECK(before < 1e-3);
}

TEST_CASE("SciDAC files of modes: a field for each, zero on the other parity, as any reader of such files finds them") {
  MESSAGE("seed " << seed);
  const testing::TemporaryFolder folder;
  for (const int components : {colour_components, spinor_components})
    for (const Precision stored : {Precision::double_, Precision::single})
      for (const int parity : {0, 1}) {
        INFO(components << " components in " << std::string(name_of(stored)));
        const std::string path = folder.file("modes.lime");
        const app::EigenHeader header{"a <problem> & \"more\"", lattice, components, parity, {0.1, 1. / 3}, {1e-11, 2e-300}, {}, stored};
        std::vector<HostField> fields;
        for (std::uint64_t i = 0; i < 2; ++i) {
          fields.emplace_back(components, lattice);
          fields.back().data = reference::random_field(lattice, components / 3, seed + i).data;
        }
        app::write_eigen_file(path, header, 2, 1, {{}, lattice}, [&](int first, int) {
          return std::vector<app::StoredVector>{app::compact(fields[static_cast<std::size_t>(first)], parity, stored)};
        });
        const format::ScidacFieldFile plain(path);
        REQUIRE(plain.description().records.size() == 2);
        CHECK(plain.extents() == lattice);
        CHECK(plain.description().records[0].info->datatype ==
              std::string(stored == Precision::single ? "USQCD_F3_" : "USQCD_D3_") + (components == 3 ? "ColorVector" : "DiracFermion"));
        for (std::size_t i = 0; i < 2; ++i) {
          const HostReals reals = plain.read(plain.description().records[i], 2 * components);
          double most = 0;
          for (std::int64_t site = 0; site < volume(lattice); ++site)
            for (int c = 0; c < components; ++c) {
              const auto at = static_cast<std::size_t>(2 * (site * components + c));
              const std::complex<double> got{reals[at], reals[at + 1]},
                  expected = parity_of(coordinates(site, lattice)) == parity ? fields[i].at(site, c) : 0.0;
              most = std::max(most, std::abs(got - expected));
            }
          CHECK(most < (stored == Precision::single ? 1e-6 : 1e-300));
        }
        const app::EigenFile file(path, "");
        CHECK(file.header().problem == header.problem);
        CHECK(file.header().values == header.values);
        CHECK(file.header().residuals == header.residuals);
        CHECK(file.header().stored == stored);
        CHECK(file.header().parity == parity);
        CHECK(file.header().components == components);
        std::size_t v = 0;
        file.read({{}, lattice}, 4, [&](std::span<const HostField> read) {
          for (const HostField& field : read) CHECK(app::compact(field, parity, stored) == app::compact(fields[v++], parity, stored));
        });
        CHECK(v == 2);
      }
}

TEST_CASE("vectors of twelve components are stored and come back, rounded once") {
  MESSAGE("seed " << seed);
  const HostField field = battery::to_host(reference::random_field(lattice, 4, seed + 1));
  for (const Precision stored : {Precision::double_, Precision::single, Precision::half})
    for (const int parity : {0, 1}) {
      const app::StoredVector vector = app::compact(field, parity, stored);
      CHECK(vector.size() == static_cast<std::size_t>(volume(lattice) / 2) * site_bytes(stored, 24));
      HostField back(spinor_components, lattice);
      app::expand(back, vector, parity, stored);
      CHECK(app::compact(back, parity, stored) == vector);
      double difference = 0, norm2 = 0;
      for (std::int64_t site = 0; site < volume(lattice); ++site)
        for (int c = 0; c < spinor_components; ++c) {
          if (parity_of(coordinates(site, lattice)) != parity) {
            CHECK(back.at(site, c) == 0.0);
            continue;
          }
          difference += std::norm(back.at(site, c) - field.at(site, c));
          norm2 += std::norm(field.at(site, c));
        }
      const double error = std::sqrt(difference / norm2);
      CHECK(error <= (stored == Precision::double_ ? 0 : stored == Precision::single ? 6e-8 : 3e-5));
    }
}

}  // namespace eigen_file_test
