// Configurations written by other codes: checksums verified, plaquettes as their authors (or an independent reading)
// give them.
#include "codelets/io/gauge_file.hpp"
#include "codelets/io/gauge_writer.hpp"
#include "codelets/io/scidac_field.hpp"
#include "tests/unit/format_testing.hpp"

namespace format_data_test {

namespace {

using namespace quarkstar;
using namespace quarkstar::format;
using namespace quarkstar::testing;

struct Case {
  const char* file;
  GaugeFormat format;
  Coord extents;
  int real_bytes;
  std::vector<std::uint32_t> sums;  ///< stored checksums, empty: none
  double spatial, temporal, link_trace;
};

constexpr double unknown = -99;

const std::vector<Case> cases = {
    {"milc/lat.sample.l4444",
     GaugeFormat::milc_v5,
     {4, 4, 4, 4},
     4,
     {0x02352c05, 0xd137321d},
     0.5982250520254,
     0.5914752658689,
     0.6467587374190},
    {"milc/lat.sample.l4444.scidac",
     GaugeFormat::scidac,
     {4, 4, 4, 4},
     4,
     {0x37affb9c, 0x2fc07bbf},
     0.5982250520254,
     0.5914752658689,
     0.6467587374190},
    {"milc/lat.sample.l4444.ildg",
     GaugeFormat::ildg,
     {4, 4, 4, 4},
     4,
     {0x37affb9c, 0x2fc07bbf},
     0.5982250520254,
     0.5914752658689,
     0.6467587374190},
    {"milc/lat.sample.l8888",
     GaugeFormat::milc_v5,
     {8, 8, 8, 8},
     4,
     {0x4f9d000e, 0x8d72f72e},
     0.5930007181528,
     0.5941197627129,
     -0.0006456386},
    {"milc/lat.sample.l8", GaugeFormat::scidac, {8, 8, 8, 8}, 4, {0xd2f7866d, 0x5f48ca3e}, 0.8734659570, 0.8738157918, 0.9650588520},
    {"milc/fat.l8", GaugeFormat::scidac, {8, 8, 8, 8}, 4, {0x8a62f398, 0x5766b5ab}, unknown, unknown, unknown},
    {"milc/long.l8", GaugeFormat::scidac, {8, 8, 8, 8}, 4, {0x04e252b1, 0x9ec87f89}, unknown, unknown, unknown},
    {"milc/lat.sample.inst", GaugeFormat::milc_v1, {4, 4, 4, 4}, 4, {}, 0.9910092707578, 0.9910092707578, unknown},
    {"other/weak_field.lime",
     GaugeFormat::ildg,
     {4, 4, 4, 8},
     8,
     {0xa2c41090, 0x11193c39},
     0.9947985783413,
     0.9948096861921,
     0.3794493487152},
    {"other/nersc.l8t4b3360", GaugeFormat::nersc, {8, 8, 8, 4}, 8, {0xb379560a}, 0.5025245975935, 0.5052082963057, 0.005406083858},
    {"other/ildg.l8t4b3360",
     GaugeFormat::ildg,
     {8, 8, 8, 4},
     8,
     {0x10d0ea1a, 0xa6a1b3b8},
     0.5025245975935,
     0.5052082963057,
     0.005406083858},
    {"other/jl.confs_Heatbath_L04040404_beta5.7_quenched_su3.ildg",
     GaugeFormat::ildg,
     {4, 4, 4, 4},
     8,
     {},
     0.5719512247,
     0.5710051240,
     unknown},
};

/// Half a unit of the last digit that the table gives, and never tighter than 1e-12.
double table_tolerance(double value) {
  double scale = 1;
  for (int digits = 0; digits < 13; ++digits, scale *= 10) {
    if (std::abs(std::round(value * scale) / scale - value) < 1e-15) break;
  }
  return std::max(1e-12, 0.51 / scale);
}

void check_table(double value, double expected) {
  if (expected == unknown) return;
  CHECK(std::abs(value - expected) <= table_tolerance(expected));
}

}  // namespace

TEST_CASE("gauge files of other codes: format, checksums and plaquettes") {
  const auto data = reference::data_directory("gauge files of other codes");
  if (!data) return;
  for (const Case& expected : cases) {
    CAPTURE(expected.file);
    const GaugeRead read = read_gauge((*data / expected.file).string());
    CHECK(read.info.format == expected.format);
    CHECK(read.info.layout.extents == expected.extents);
    CHECK(read.info.layout.real_bytes == expected.real_bytes);
    CHECK(read.gauge.extents == expected.extents);
    std::size_t stored = 0;
    for (const ChecksumVerdict& verdict : read.info.checksums) {
      CAPTURE(verdict.name);
      if (!verdict.stored) {
        CHECK(verdict.status() == ChecksumStatus::absent);
        continue;
      }
      CHECK(verdict.status() == ChecksumStatus::ok);
      REQUIRE(stored < expected.sums.size());
      CHECK(*verdict.stored == expected.sums[stored++]);
    }
    CHECK(stored == expected.sums.size());
    const Observables seen = measure(read.gauge);
    check_table(seen.spatial, expected.spatial);
    check_table(seen.temporal, expected.temporal);
    check_table(seen.link_trace, expected.link_trace);
    if (read.info.plaquette) CHECK(std::abs(read.info.plaquette->value - seen.plaquette()) <= read.info.plaquette->tolerance);
    if (read.info.link_trace) CHECK(std::abs(read.info.link_trace->value - seen.link_trace) <= read.info.link_trace->tolerance);
  }
}

TEST_CASE("our MILC file is MILC's own, byte for byte") {
  const auto data = reference::data_directory("our MILC file is MILC's own");
  if (!data) return;
  const TemporaryDirectory directory;
  const std::string original = (*data / "milc/lat.sample.l4444").string();
  const std::string copy = directory.file("copy");
  GaugeWriteOptions options;
  options.real_bytes = 4;
  options.date = "Thu Feb 12 13:40:21 1998";
  write_milc(copy, read_gauge(original).gauge, options);
  CHECK(load_bytes(copy) == load_bytes(original));
}

TEST_CASE("our ILDG and NERSC files have the checksums that MILC computed for the same links") {
  const auto data = reference::data_directory("checksums of MILC");
  if (!data) return;
  const TemporaryDirectory directory;
  const GaugeRead read = read_gauge((*data / "milc/lat.sample.l4444").string());
  const Observables seen = measure(read.gauge);
  GaugeWriteOptions options;
  options.real_bytes = 4;
  options.plaquette = seen.plaquette();
  options.link_trace = seen.link_trace;
  write_ildg(directory.file("ildg"), read.gauge, options);
  const GaugeFile ildg(directory.file("ildg"));
  CHECK(ildg.info().checksums[0].stored == 0x37affb9c);
  CHECK(ildg.info().checksums[1].stored == 0x2fc07bbf);
  options.rows = 2;
  write_nersc(directory.file("nersc"), read.gauge, options);
  CHECK(GaugeFile(directory.file("nersc")).info().checksums[0].stored == 0xffc4bb26);
}

TEST_CASE("a bare LIME file states no extents: a hypercube is assumed, other extents can be given") {
  const auto data = reference::data_directory("bare LIME file");
  if (!data) return;
  const std::string path = (*data / "other/jl.confs_Heatbath_L04040404_beta5.7_quenched_su3.ildg").string();
  CHECK(GaugeFile(path).info().notes.size() >= 2);
  GaugeReadOptions options;
  options.extents = Coord{4, 4, 2, 8};
  CHECK(GaugeFile(path, options).info().layout.extents == Coord{4, 4, 2, 8});
  options.extents = Coord{4, 4, 4, 8};
  CHECK(GaugeFile(path, options).info().layout.real_bytes == 4);
  options.extents = Coord{4, 4, 4, 5};
  expect_error(ErrorKind::input, [&] { GaugeFile file(path, options); }, {"4x4x4x5", "147456"});
}

TEST_CASE("staggered colour vectors of MILC: checksums and sizes") {
  const auto data = reference::data_directory("staggered colour vectors of MILC");
  if (!data) return;
  for (const char* name : {"src", "ans.Minv", "ans.MdaggerMinv"}) {
    const ScidacFieldFile file((*data / "milc" / (std::string("ksvector.") + name + ".sample.l8")).string());
    CHECK(file.extents() == Coord{8, 8, 8, 8});
    REQUIRE(file.description().records.size() == 1);
    const ScidacRecord& record = file.description().records.front();
    CHECK(record.info->datatype == "QDP_F3_ColorVector");
    CHECK(file.read(record, 6).size() == 8 * 8 * 8 * 8 * 6);
    CHECK(!file.record_text(record).empty());
    CHECK(file.file_text().find("asqtad.u0 0.50200") != std::string::npos);
    expect_error(ErrorKind::input, [&] { (void)file.read(record, 24); }, {"98304 bytes", "24 reals"});
  }
}

TEST_CASE("a gauge file is not a colour vector, and the other way round") {
  const auto data = reference::data_directory("colour vector as gauge file");
  if (!data) return;
  expect_error(ErrorKind::input, [&] { (void)read_gauge((*data / "milc/ksvector.src.sample.l8").string()); },
               {"ksvector.src.sample.l8", "QDP_F3_ColorVector"});
  expect_error(ErrorKind::input, [&] { ScidacFieldFile file((*data / "milc/lat.sample.l4444").string()); }, {"not a SciDAC"});
}

}  // namespace format_data_test
