// Every kind of damage to every format: one clear Error(input), nothing else.
#include "codelets/io/gauge_file.hpp"
#include "codelets/io/gauge_writer.hpp"
#include "tests/unit/format_testing.hpp"

#include <sys/stat.h>

namespace format_damage_test {

namespace {

using namespace quarkstar;
using namespace quarkstar::format;
using namespace quarkstar::testing;

constexpr std::uint64_t seed = 271828;

struct Sample {
  std::string name;
  Bytes bytes;
  std::uint64_t payload_offset;
  std::uint64_t payload_bytes;
  bool has_checksum;
};

void read_bytes(const Bytes& bytes) { (void)read_gauge(GaugeFile(from_memory("memory", bytes))); }

Sample sample_of(const std::string& name, Bytes bytes) {
  const GaugeFile file(from_memory("memory", bytes));
  const bool has_checksum = !file.info().checksums.empty() && file.info().checksums.front().stored;
  return {name, std::move(bytes), file.info().layout.offset, file.info().layout.payload_bytes(), has_checksum};
}

std::vector<Sample> written_samples() {
  const TemporaryDirectory directory;
  const HostGauge gauge = random_gauge({2, 2, 2, 4}, seed);
  std::vector<Sample> samples;
  GaugeWriteOptions options;
  options.plaquette = 0.5;
  options.link_trace = 0.1;
  for (const GaugeFormat format : {GaugeFormat::nersc, GaugeFormat::ildg, GaugeFormat::milc_v5}) {
    for (const int real_bytes : {4, 8}) {
      if (format == GaugeFormat::milc_v5 && real_bytes == 8) continue;
      options.real_bytes = real_bytes;
      options.rows = real_bytes == 4 ? 2 : 3;
      write_gauge(directory.file("gauge"), format, gauge, options);
      samples.push_back(sample_of(std::string(to_string(format)) + std::to_string(real_bytes), load_bytes(directory.file("gauge"))));
    }
  }
  Bytes ddalphaamg;
  for (const int extent : {4, 2, 2, 2}) append_number(ddalphaamg, std::int32_t{extent}, ByteOrder::little);
  append_number(ddalphaamg, 3 * measure(gauge).plaquette(), ByteOrder::little);
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site)
    for (const int mu : {3, 2, 1, 0})
      for (const double v : gauge.link(site, mu)) append_number(ddalphaamg, v, ByteOrder::little);
  samples.push_back(sample_of("DDalphaAMG", ddalphaamg));
  Bytes v1;
  append_number(v1, std::int32_t{59354}, ByteOrder::big);
  for (const int extent : gauge.extents) append_number(v1, std::int32_t{extent}, ByteOrder::big);
  v1.resize(28);
  for (const double v : gauge.data) append_number(v1, static_cast<float>(v), ByteOrder::big);
  samples.push_back(sample_of("MILC version 1", v1));
  return samples;
}

/// A damaged header byte may not matter (a letter of a comment); if it does, the error must be a clear one.
void read_or_refuse(const Bytes& bytes) {
  try {
    read_bytes(bytes);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    CHECK(std::string(error.what()).find("memory") == 0);
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
  }
}

void check_all_damage(const Sample& sample, std::size_t header_step, std::size_t payload_step) {
  CAPTURE(sample.name);
  CHECK_NOTHROW(read_bytes(sample.bytes));

  for (std::size_t length = 0; length < sample.bytes.size(); length += length < sample.payload_offset ? header_step : payload_step) {
    CAPTURE(length);
    const Bytes cut(sample.bytes.begin(), sample.bytes.begin() + static_cast<std::ptrdiff_t>(length));
    // ILDG files without the trailing checksum record of QIO are legal, and padding at the end is not needed.
    if (length >= sample.payload_offset + sample.payload_bytes) {
      read_or_refuse(cut);
    } else {
      expect_error(ErrorKind::input, [&] { read_bytes(cut); }, {"memory"});
    }
  }
  for (const std::size_t extra : {1, 7, 8, 100, 1000}) {
    Bytes longer = sample.bytes;
    longer.resize(longer.size() + extra, std::byte{' '});
    expect_error(ErrorKind::input, [&] { read_bytes(longer); }, {"memory"});
  }
  std::mt19937_64 engine(seed);
  for (std::size_t i = 0; i < sample.bytes.size();) {
    const bool payload = i >= sample.payload_offset && i < sample.payload_offset + sample.payload_bytes;
    CAPTURE(i);
    Bytes flipped = sample.bytes;
    flipped[i] ^= std::byte(1U << engine() % 8);
    if (payload && sample.has_checksum) {
      expect_error(ErrorKind::input, [&] { read_bytes(flipped); }, {"memory", "checksum"});
    } else {
      read_or_refuse(flipped);
    }
    i += payload ? payload_step : header_step;
  }
}

}  // namespace

TEST_CASE("cut, extended and bit-flipped files of our own") {
  INFO("seed ", seed);
  for (const Sample& sample : written_samples()) check_all_damage(sample, 1, 97);
}

TEST_CASE("cut, extended and bit-flipped files of other codes") {
  const auto data = reference::data_directory("damaged files of other codes");
  if (!data) return;
  for (const char* name : {"milc/lat.sample.l4444", "milc/lat.sample.l4444.scidac", "milc/lat.sample.l4444.ildg", "milc/lat.sample.inst",
                           "other/weak_field.lime", "other/nersc.l8t4b3360", "other/ildg.l8t4b3360"}) {
    Sample sample = sample_of(name, load_bytes((*data / name).string()));
    check_all_damage(sample, 41, sample.bytes.size() / 23);
  }
}

TEST_CASE("names that are no readable file") {
  const TemporaryDirectory directory;
  const auto refused = [](const std::string& path, const std::string& part) {
    expect_error(ErrorKind::input, [&] { (void)read_gauge(path); }, {path, part});
  };
  refused(directory.file("missing"), "No such file");
  refused(directory.path().string(), "is a directory");
  save_bytes(directory.file("empty"), {});
  refused(directory.file("empty"), "empty");
  refused("", "No such file");
  REQUIRE(::mkfifo(directory.file("pipe").c_str(), 0600) == 0);
  refused(directory.file("pipe"), "not a regular file");
  save_bytes(directory.file("text"), bytes_of("Dear reader,\nthis is a letter.\n"));
  refused(directory.file("text"), "no gauge configuration");
  save_bytes(directory.file("short"), bytes_of("x"));
  refused(directory.file("short"), "no gauge configuration");
  save_bytes(directory.file("secret"), bytes_of("x"));
  REQUIRE(::chmod(directory.file("secret").c_str(), 0) == 0);
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  const OrdinaryUser user;
  if (!user.active()) {
    std::cout << "SKIPPED unreadable file: the superuser's rights cannot be given up\n";
    return;
  }
  refused(directory.file("secret"), "make the file readable");
}

TEST_CASE("headers that claim huge, zero or negative lattices allocate nothing") {
  const auto refused = [](const Bytes& bytes, const std::vector<std::string>& parts) {
    expect_error(
        ErrorKind::input, [&] { read_bytes(bytes); }, parts);
  };
  const auto nersc = [](const std::string& x, const std::string& t) {
    return bytes_of("BEGIN_HEADER\nDATATYPE = 4D_SU3_GAUGE_3x3\nDIMENSION_1 = " + x +
                    "\nDIMENSION_2 = 64\nDIMENSION_3 = 64\nDIMENSION_4 = " + t +
                    "\nCHECKSUM = 0\nFLOATING_POINT = IEEE64BIG\nEND_HEADER\n12345678");
  };
  refused(nersc("64", "64"), {"9663676416 bytes", "only 8 follow", "64x64x64x64"});
  refused(nersc("0", "64"), {"memory:3", "positive", "0 64 64 64"});
  refused(nersc("-4", "64"), {"memory:3", "positive"});
  refused(nersc("99999999999", "99999999999"), {"impossibly large"});
  refused(nersc("9223372036854775807", "64"), {"impossibly large"});
  refused(nersc("92233720368547758070", "64"), {"memory:3", "DIMENSION_1", "integer"});
  refused(nersc("4 4", "64"), {"DIMENSION_1", "4 4"});
  refused(nersc("64", "64\nDIMENSION_4 = 32"), {"memory:7", "twice"});

  const auto binary = [](std::int32_t magic, std::array<std::int32_t, 4> extents, ByteOrder order) {
    Bytes bytes;
    if (magic != 0) append_number(bytes, magic, order);
    for (const std::int32_t extent : extents) append_number(bytes, extent, order);
    bytes.resize(200);
    return bytes;
  };
  for (const std::int32_t magic : {20103, 59354}) {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      refused(binary(magic, {64, 64, 64, 128}, order), {"9663676416 bytes", "64x64x64x128"});
      refused(binary(magic, {64, 64, 64, 0}, order), {"offset 4", "positive"});
      refused(binary(magic, {64, -1, 64, 2}, order), {"offset 4", "positive"});
      refused(binary(magic, {2147483647, 2147483647, 2147483647, 2147483647}, order), {"impossibly large"});
    }
  }
  refused(binary(0, {64, 64, 64, 64}, ByteOrder::little), {"9663676416 bytes", "offset 24"});
  refused(binary(0, {65536, 65536, 65536, 65536}, ByteOrder::little), {"impossibly large"});
}

TEST_CASE("NERSC header lines are named in errors") {
  const auto refused = [](const std::string& text, const std::vector<std::string>& parts) {
    const Bytes bytes = bytes_of(text);
    expect_error(
        ErrorKind::input, [&] { read_bytes(bytes); }, parts);
  };
  const std::string start = "BEGIN_HEADER\n";
  const std::string dimensions = "DIMENSION_1 = 1\nDIMENSION_2 = 1\nDIMENSION_3 = 1\nDIMENSION_4 = 1\n";
  const std::string links(4 * 72, 'A');
  refused(start + "DATATYPE = 4D_SU3_GAUGE_3x3\n", {"END_HEADER"});
  refused("BEGIN_HEADERS\n", {"memory:1", "BEGIN_HEADER"});
  refused(start + "DATATYPE 4D\nEND_HEADER\n", {"memory:2", "KEY = VALUE"});
  refused(start + dimensions + "END_HEADER\n", {"DATATYPE"});
  refused(start + "DATATYPE = 4D_SU4_GAUGE\nEND_HEADER\n", {"memory:2", "4D_SU4_GAUGE"});
  refused(start + "DATATYPE = 4D_SU3_GAUGE_3x3\n" + dimensions + "END_HEADER\n", {"FLOATING_POINT"});
  refused(start + "DATATYPE = 4D_SU3_GAUGE_3x3\n" + dimensions + "FLOATING_POINT = VAX\nEND_HEADER\n", {"memory:7", "VAX"});
  refused(start + "DATATYPE = 4D_SU3_GAUGE_3x3\n" + dimensions + "FLOATING_POINT = IEEE32MIDDLE\nEND_HEADER\n", {"IEEE32MIDDLE"});
  const std::string complete = start + "DATATYPE = 4D_SU3_GAUGE_3x3\n" + dimensions + "FLOATING_POINT = IEEE32BIG\n";
  refused(complete + "END_HEADER\n" + links, {"checksum", "missing"});
  refused(complete + "CHECKSUM = xyz\nEND_HEADER\n" + links, {"memory:8", "hexadecimal"});
  refused(complete + "CHECKSUM = 123456789\nEND_HEADER\n" + links, {"memory:8", "hexadecimal"});
  refused(complete + "PLAQUETTE = nan\nEND_HEADER\n" + links, {"memory:8", "PLAQUETTE"});
  refused(complete + "LINK_TRACE = 1e999\nEND_HEADER\n" + links, {"memory:8", "LINK_TRACE"});
  refused(complete + "CHECKSUM = 1\nEND_HEADER\n" + links, {"stored 00000001", "computed"});
}

TEST_CASE("a wrong checksum can be reported instead of refused") {
  for (const Sample& sample : written_samples()) {
    if (!sample.has_checksum) continue;
    Bytes flipped = sample.bytes;
    flipped[sample.payload_offset + 40] ^= std::byte{1};
    GaugeReadOptions options;
    options.checksums = ChecksumPolicy::report;
    const GaugeRead read = read_gauge(GaugeFile(from_memory("memory", flipped), options));
    CHECK(read.info.checksums.front().status() == ChecksumStatus::mismatch);
  }
}

}  // namespace format_damage_test
