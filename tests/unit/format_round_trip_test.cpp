// Random SU(3) fields through every writer and back.
#include "codelets/io/gauge_file.hpp"
#include "codelets/io/gauge_writer.hpp"
#include "tests/unit/format_testing.hpp"

namespace format_round_trip_test {

namespace {

using namespace quarkstar;
using namespace quarkstar::format;
using namespace quarkstar::testing;

constexpr std::uint64_t seed = 20240817;

GaugeWriteOptions options_for(const HostGauge& gauge, int real_bytes, int rows = 3) {
  const Observables seen = measure(gauge);
  GaugeWriteOptions options;
  options.real_bytes = real_bytes;
  options.rows = rows;
  options.plaquette = seen.plaquette();
  options.link_trace = seen.link_trace;
  options.ensemble_id = "round trip";
  options.sequence_number = 17;
  options.lfn = "lfn://test/round-trip";
  options.info = "beta < 6 & sweeps > 3";
  return options;
}

}  // namespace

TEST_CASE("gauge fields survive every writer and reader") {
  INFO("seed ", seed);
  const TemporaryDirectory directory;
  // Odd and unequal extents are legal in all these formats; 1 is the smallest.
  for (const Coord& extents : {Coord{4, 4, 4, 4}, Coord{3, 5, 2, 7}, Coord{1, 1, 1, 1}, Coord{2, 1, 4, 3}}) {
    const HostGauge gauge = random_gauge(extents, seed);
    const HostGauge single = rounded_to_single(gauge);
    for (const GaugeFormat format : {GaugeFormat::nersc, GaugeFormat::ildg, GaugeFormat::milc_v5}) {
      for (const int real_bytes : {4, 8}) {
        for (const int rows : {2, 3}) {
          if (format != GaugeFormat::nersc && rows == 2) continue;
          if (format == GaugeFormat::milc_v5 && real_bytes == 8) continue;
          CAPTURE(to_string(format));
          CAPTURE(real_bytes);
          CAPTURE(rows);
          const std::string path = directory.file("gauge");
          write_gauge(path, format, gauge, options_for(gauge, real_bytes, rows));
          const GaugeRead read = read_gauge(path);
          CHECK(read.info.format == format);
          CHECK(read.info.layout.extents == extents);
          CHECK(read.info.layout.real_bytes == real_bytes);
          CHECK(read.info.layout.rows == rows);
          for (const ChecksumVerdict& verdict : read.info.checksums) CHECK(verdict.status() == ChecksumStatus::ok);
          CHECK(!read.info.checksums.empty());
          const HostGauge& expected = real_bytes == 4 ? single : gauge;
          const double allowed = rows == 3 ? 0.0 : real_bytes == 4 ? 5e-7 : 1e-15;
          CHECK(largest_difference(read.gauge.data, expected.data) <= allowed);
          if (format == GaugeFormat::nersc) {
            const Observables seen = measure(gauge);
            CHECK(std::abs(read.info.plaquette->value - seen.plaquette()) < 1e-14);
            CHECK(std::abs(read.info.link_trace->value - seen.link_trace) < 1e-14);
          }
        }
      }
    }
  }
}

TEST_CASE("several threads read what one reads, and name what is wrong first") {
  INFO("seed ", seed);
  const TemporaryDirectory directory;
  const runtime::Team three({0, 0, 0});
  const HostGauge gauge = random_gauge({8, 8, 8, 32}, seed);  // several chunks
  for (const GaugeFormat format : {GaugeFormat::nersc, GaugeFormat::ildg, GaugeFormat::milc_v5}) {
    CAPTURE(to_string(format));
    const std::string path = directory.file("gauge");
    write_gauge(path, format, gauge, options_for(gauge, format == GaugeFormat::milc_v5 ? 4 : 8));
    const GaugeRead one = read_gauge(path), several = read_gauge(path, {}, three);
    CHECK(several.gauge.data == one.gauge.data);
    REQUIRE(several.info.checksums.size() == one.info.checksums.size());
    for (std::size_t i = 0; i < one.info.checksums.size(); ++i) {
      CHECK(several.info.checksums[i].status() == ChecksumStatus::ok);
      CHECK(several.info.checksums[i].computed == one.info.checksums[i].computed);
    }
    Bytes bytes = load_bytes(path);
    const std::size_t payload = one.info.layout.offset, link = one.info.layout.link_bytes();
    for (const std::size_t at : {std::size_t{30000}, std::size_t{5001}, std::size_t{60000}})
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(payload + at * link), 8, std::byte{0xff});  // no number
    GaugeReadOptions options;
    options.checksums = ChecksumPolicy::report;
    const auto read = [&](const runtime::Team& team) {
      return expect_error(ErrorKind::input, [&] { (void)read_gauge(GaugeFile(from_memory("memory", bytes), options), team); },
                          {"not finite"});
    };
    CHECK(read(three) == read(runtime::Team({0})));
    save_bytes(path, bytes);
    expect_error(ErrorKind::input, [&] { (void)read_gauge(path, {}, three); }, {path, "computed"});
  }
}

TEST_CASE("headers carry what the caller states") {
  const TemporaryDirectory directory;
  const HostGauge gauge = random_gauge({2, 2, 2, 2}, seed);
  const auto value = [](const GaugeFileInfo& info, const std::string& key) -> std::string {
    for (const auto& [name, text] : info.header) {
      if (name == key) return text;
    }
    return "missing";
  };
  write_nersc(directory.file("n"), gauge, options_for(gauge, 8));
  const GaugeFile nersc(directory.file("n"));
  CHECK(value(nersc.info(), "ENSEMBLE_ID") == "round trip");
  CHECK(value(nersc.info(), "SEQUENCE_NUMBER") == "17");
  CHECK(value(nersc.info(), "FLOATING_POINT") == "IEEE64BIG");
  write_ildg(directory.file("i"), gauge, options_for(gauge, 4));
  const GaugeFile ildg(directory.file("i"));
  CHECK(value(ildg.info(), "ildg-data-lfn") == "lfn://test/round-trip");
  CHECK(value(ildg.info(), "datatype") == "QDP_F3_ColorMatrix");
  CHECK(value(ildg.info(), "field") == "su3gauge");
  CHECK(ildg.info().notes.empty());
}

TEST_CASE("parts of a file, read in any order, give the same links and checksums as the whole") {
  INFO("seed ", seed);
  const TemporaryDirectory directory;
  const HostGauge gauge = random_gauge({3, 4, 5, 2}, seed);
  for (const GaugeFormat format : {GaugeFormat::nersc, GaugeFormat::ildg, GaugeFormat::milc_v5}) {
    const std::string path = directory.file("gauge");
    write_gauge(path, format, gauge, options_for(gauge, 4));
    const GaugeFile file(path);
    const PayloadLayout& layout = file.info().layout;
    HostGauge parts{layout.extents, HostReals(gauge.data.size(), 0.0)};
    PayloadChecksum total = file.new_checksum();
    std::vector<std::int64_t> starts;
    constexpr std::int64_t run = 7;  // does not divide the volume
    for (std::int64_t first = 0; first < layout.records(); first += run) starts.push_back(first);
    std::mt19937_64 engine(seed);
    std::shuffle(starts.begin(), starts.end(), engine);
    for (const std::int64_t first : starts) {
      Bytes bytes(static_cast<std::size_t>(std::min(run, layout.records() - first)) * layout.record_bytes());
      file.read_records(first, bytes);
      PayloadChecksum part = file.new_checksum();
      part.add(first, bytes);
      total.merge(part);
      for_each_link(layout, first, bytes, [&](std::int64_t site, int mu, std::span<const double, 18> link) {
        std::copy(link.begin(), link.end(), parts.link(site, mu).begin());
      });
    }
    for (const ChecksumVerdict& verdict : file.settle(total)) CHECK(verdict.status() == ChecksumStatus::ok);
    CHECK(parts.data == read_gauge(path).gauge.data);
  }
}

TEST_CASE("writers refuse what a file cannot hold, and leave nothing behind") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("gauge");
  const HostGauge gauge = random_gauge({2, 2, 2, 2}, seed);

  HostGauge broken = gauge;
  broken.link(5, 2)[7] = std::numeric_limits<double>::quiet_NaN();
  for (const GaugeFormat format : {GaugeFormat::nersc, GaugeFormat::ildg, GaugeFormat::milc_v5}) {
    expect_error(ErrorKind::input, [&] { write_gauge(path, format, broken, options_for(gauge, 4)); },
                 {path, "x,y,z,t = 1,0,1,0 mu = 2", "not finite"});
  }
  HostGauge large = gauge;
  large.link(0, 0)[0] = 1e300;
  expect_error(ErrorKind::input, [&] { write_ildg(path, large, options_for(gauge, 4)); }, {"32-bit"});

  HostGauge not_unitary = gauge;
  not_unitary.link(3, 1)[17] += 0.01;
  expect_error(ErrorKind::input, [&] { write_nersc(path, not_unitary, options_for(gauge, 8, 2)); },
               {"mu = 1", "not in SU(3)", "three rows"});

  expect_error(ErrorKind::input, [&] { write_milc(path, gauge, options_for(gauge, 8)); }, {"single precision"});
  expect_error(ErrorKind::input, [&] { write_gauge(path, GaugeFormat::openqcd, gauge, options_for(gauge, 8)); }, {"openQCD"});
  GaugeWriteOptions options = options_for(gauge, 8);
  options.ensemble_id = "two\nlines";
  expect_error(ErrorKind::input, [&] { write_nersc(path, gauge, options); }, {"ENSEMBLE_ID"});
  options = options_for(gauge, 8);
  options.plaquette.reset();
  expect_error(ErrorKind::internal, [&] { write_nersc(path, gauge, options); }, {"plaquette"});
  HostGauge short_field = gauge;
  short_field.data.pop_back();
  expect_error(ErrorKind::internal, [&] { write_ildg(path, short_field, options_for(gauge, 8)); }, {"2x2x2x2"});

  CHECK(std::filesystem::is_empty(directory.path()));
}

}  // namespace format_round_trip_test
