// LIME, SciDAC and ILDG files as they really occur: bare, oddly ordered, with malformed XML; and those that must be
// refused.
#include "codelets/io/gauge_file.hpp"
#include "codelets/io/lime.hpp"
#include "codelets/io/scidac.hpp"
#include "tests/unit/format_testing.hpp"

#include <zlib.h>

namespace format_lime_test {

namespace {

using namespace quarkstar;
using namespace quarkstar::format;
using namespace quarkstar::testing;

constexpr std::uint64_t seed = 99;
constexpr auto big = ByteOrder::big;

struct Record {
  std::string type;
  Bytes data;
};

Bytes lime_file(const std::vector<Record>& records) {
  Bytes bytes;
  for (const Record& record : records) {
    append_number(bytes, std::uint32_t{0x456789ab}, big);
    append_number(bytes, std::uint16_t{1}, big);
    append_number(bytes, std::uint16_t{0xc000}, big);
    append_number(bytes, std::uint64_t{record.data.size()}, big);
    Bytes type = bytes_of(record.type);
    type.resize(128);
    bytes.insert(bytes.end(), type.begin(), type.end());
    bytes.insert(bytes.end(), record.data.begin(), record.data.end());
    bytes.resize((bytes.size() + 7) / 8 * 8);
  }
  return bytes;
}

Record text(const std::string& type, const std::string& xml) { return {type, bytes_of(xml)}; }

/// A 4x4x4x4 configuration and the records that describe it.
struct Fixture {
  HostGauge gauge = random_gauge({4, 4, 4, 4}, seed);
  Record data{"ildg-binary-data", {}};
  Record checksum;
  Record format = text("ildg-format",
                       "<ildgFormat><version>1.0</version><field>su3gauge</field><precision>64</precision>"
                       "<lx>4</lx><ly>4</ly><lz>4</lz><lt>4</lt></ildgFormat>");
  Record file_info = text("scidac-private-file-xml",
                          "<scidacFile><version>1.1</version><spacetime>4</spacetime><dims>4 4 4 4 </dims><volfmt>0</volfmt></scidacFile>");
  Record record_info = text("scidac-private-record-xml",
                            "<scidacRecord><version>1.1</version><recordtype>0</recordtype><datatype>QDP_D3_ColorMatrix</datatype>"
                            "<precision>D</precision><colors>3</colors><typesize>144</typesize><datacount>4</datacount></scidacRecord>");

  Fixture() {
    for (const double v : gauge.data) append_number(data.data, v, big);
    constexpr std::size_t site = 576;
    std::uint32_t suma = 0, sumb = 0;
    for (std::size_t rank = 0; rank < data.data.size() / site; ++rank) {
      const auto crc = static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(data.data.data() + rank * site), site));
      suma ^= std::rotl(crc, static_cast<int>(rank % 29));
      sumb ^= std::rotl(crc, static_cast<int>(rank % 31));
    }
    char xml[160];
    std::snprintf(xml, sizeof xml, "<scidacChecksum><version>1.0</version><suma>%x</suma><sumb>%x</sumb></scidacChecksum>", suma, sumb);
    checksum = text("scidac-checksum", xml);
  }
};

GaugeRead read_records(const std::vector<Record>& records, const GaugeReadOptions& options = {}) {
  const Bytes bytes = lime_file(records);
  return read_gauge(GaugeFile(from_memory("memory", bytes), options));
}

void expect_refused(const std::vector<Record>& records, const std::vector<std::string>& parts) {
  expect_error(
      ErrorKind::input, [&] { (void)read_records(records); }, parts);
}

}  // namespace

TEST_CASE("ILDG: records in any order") {
  INFO("seed ", seed);
  const Fixture f;
  const Record lfn = text("ildg-data-lfn", "mc://x/y");
  for (const auto& records : std::vector<std::vector<Record>>{{f.format, f.data, f.checksum},
                                                              {f.format, f.data, lfn, f.checksum},
                                                              {f.data, f.checksum, f.format},
                                                              {f.checksum, f.format, f.data},
                                                              {f.file_info, f.data, f.checksum, f.record_info},
                                                              {lfn, f.file_info, f.record_info, f.format, f.data, f.checksum},
                                                              {text("my-own-notes", "hello"), f.format, f.data, f.checksum}}) {
    const GaugeRead read = read_records(records);
    CHECK(read.gauge.data == f.gauge.data);
    for (const ChecksumVerdict& verdict : read.info.checksums) CHECK(verdict.status() == ChecksumStatus::ok);
  }
}

TEST_CASE("ILDG: missing records are worked out and noted") {
  const Fixture f;
  const GaugeRead bare = read_records({f.data});
  CHECK(bare.gauge.data == f.gauge.data);
  CHECK(bare.info.notes.size() == 3);  // precision, extents, checksum
  CHECK(bare.info.checksums[0].status() == ChecksumStatus::absent);
  Record no_field = text("ildg-format", "<ildgFormat><precision>64</precision><lx>4</lx><ly>4</ly><lz>4</lz><lt>4</lt></ildgFormat>");
  CHECK(read_records({no_field, f.data, f.checksum}).gauge.data == f.gauge.data);
  Record no_precision = text("ildg-format", "<ildgFormat><lx>4</lx><ly>4</ly><lz>4</lz><lt>4</lt></ildgFormat>");
  CHECK(read_records({no_precision, f.data, f.checksum}).gauge.data == f.gauge.data);
  GaugeReadOptions options;
  options.extents = Coord{2, 8, 4, 4};
  CHECK(read_records({f.data}, options).gauge.extents == Coord{2, 8, 4, 4});
  CHECK(read_records({f.format, f.data}, options).gauge.extents == Coord{4, 4, 4, 4});

  Record rest = f.data;
  rest.data.resize(576 * 255);
  expect_refused({rest}, {"255 sites", "hypercube"});
  Record noise = f.data;
  for (std::size_t i = 0; i < noise.data.size(); ++i) noise.data[i] = std::byte(i * 37 % 251);
  expect_refused({noise}, {"precision"});
}

TEST_CASE("ILDG: XML that is not well-formed") {
  const Fixture f;
  for (const char* xml : {"<ildgFormat><field>su3gauge</field><precision>64</precision><lx>4</lx><ly>4</ly><lz>4</lz><lt>4</lt>",
                          "<?xml?><ildgFormat><field> su3gauge </field><precision>64</precision><lx>4<ly>4<lz>4<lt>4</ildgFormat>",
                          "ildg <field>su3gauge</field><precision>64</precision><lx> 4 </lx>\n<ly>4</ly><lz>4</lz><lt>4</lt> & more",
                          "\n\n <?xml version=\"1.0\"?>\n<i:ildgFormat "
                          "xmlns:i='x'><i:field>su3gauge</i:field><i:precision>64</i:precision>"
                          "<i:lx>4</i:lx><i:ly>4</i:ly><i:lz>4</i:lz><i:lt>4</i:lt></i:ildgFormat>"}) {
    CAPTURE(xml);
    CHECK(read_records({text("ildg-format", xml), f.data, f.checksum}).gauge.data == f.gauge.data);
  }
}

TEST_CASE("ILDG: contradictions and foreign contents are refused") {
  const Fixture f;
  const auto replaced = [](Record record, const std::string& from, const std::string& to) {
    std::string xml(reinterpret_cast<const char*>(record.data.data()), record.data.size());
    xml.replace(xml.find(from), from.size(), to);
    return text(record.type, xml);
  };
  expect_refused({f.format}, {"neither an ildg-binary-data"});
  expect_refused({f.file_info, replaced(f.format, "<lt>4", "<lt>8"), f.data}, {"4x4x4x8", "4x4x4x4", "ildg-format"});
  expect_refused({replaced(f.format, "<lt>4", "<lt>8"), f.data}, {"4x4x4x8", "147456", "294912"});
  expect_refused({replaced(f.format, "<lt>4", "<lt>0"), f.data}, {"positive", "ildg-format"});
  expect_refused({replaced(f.format, "<lt>4", "<lt>-4"), f.data}, {"positive", "-4"});
  expect_refused({replaced(f.format, "<lt>4", "<lt>four"), f.data}, {"<lt>", "four", "integer"});
  expect_refused({replaced(f.format, "<lt>4", "<lt>99999999999999999999"), f.data}, {"<lt>", "integer"});
  expect_refused({replaced(f.format, "<lt>4", "<lt>4611686018427387904"), f.data}, {"impossibly large"});
  expect_refused({replaced(f.format, "<lt>4</lt>", ""), f.data}, {"only 3 of"});
  expect_refused({replaced(f.format, ">64<", ">32<"), f.data}, {"147456", "73728"});
  expect_refused({replaced(f.format, ">64<", ">16<"), f.data}, {"precision = 16"});
  expect_refused({replaced(f.format, "su3gauge", "su2gauge"), f.data}, {"su2gauge"});
  expect_refused({f.format, replaced(f.record_info, ">D<", ">F<"), f.data, f.checksum}, {"different precisions"});
  expect_refused({f.format, replaced(f.record_info, ">D<", ">Q<"), f.data, f.checksum}, {"precision = Q"});
  expect_refused({f.format, replaced(f.record_info, "ColorMatrix", "DiracFermion"), f.data, f.checksum}, {"DiracFermion"});
  expect_refused({f.format, replaced(f.record_info, "<colors>3", "<colors>4"), f.data, f.checksum}, {"colors = 4"});
  expect_refused({f.format, replaced(f.record_info, "<recordtype>0", "<recordtype>2"), f.data, f.checksum}, {"recordtype = 2"});
  expect_refused({replaced(f.file_info, "4 4 4 4", "4 4 4"), f.data}, {"four extents"});
  expect_refused({replaced(f.file_info, "<volfmt>0", "<volfmt>1"), f.data}, {"volfmt", "single file"});
  expect_refused({f.format, f.data, replaced(f.checksum, "</suma>", "0000000</suma>")}, {"suma", "hexadecimal"});
  expect_refused({f.format, f.data, replaced(f.checksum, "sumb", "sumc")}, {"<sumb>"});
  // A file with QIO's record description always has a checksum.
  expect_refused({f.file_info, f.record_info, f.data}, {"suma", "missing"});
  GaugeReadOptions report;
  report.checksums = ChecksumPolicy::report;
  CHECK(read_records({f.file_info, f.record_info, f.data}, report).info.checksums[1].status() == ChecksumStatus::absent);
}

TEST_CASE("LIME: damaged record headers are named by offset") {
  const Fixture f;
  const Bytes good = lime_file({f.format, f.data, f.checksum});
  const std::size_t second = 144 + (f.format.data.size() + 7) / 8 * 8;
  const auto read = [](const Bytes& bytes) { (void)GaugeFile(from_memory("memory", bytes)); };
  const auto refused = [&](Bytes bytes, const std::vector<std::string>& parts) {
    expect_error(
        ErrorKind::input, [&] { read(bytes); }, parts);
  };
  CHECK_NOTHROW(read(good));
  Bytes bad = good;
  bad[second] ^= std::byte{1};
  refused(bad, {"offset " + std::to_string(second), "magic"});
  bad = good;
  bad[second + 5] = std::byte{2};
  refused(bad, {"offset " + std::to_string(second + 4), "version = 2"});
  bad = good;
  store(bad.data() + second + 8, std::uint64_t{10'000'000'000}, big);
  refused(bad, {"offset " + std::to_string(second + 8), "10000000000 bytes"});
  bad = good;
  store(bad.data() + second + 8, ~std::uint64_t{0}, big);
  refused(bad, {"18446744073709551615 bytes"});
  bad = good;
  bad[second + 16] = std::byte{0};
  refused(bad, {"offset " + std::to_string(second + 16), "type"});
  bad = good;
  bad[second + 18] = std::byte{200};
  refused(bad, {"printable"});
  bad = good;
  bad.resize(bad.size() + 5);
  refused(bad, {"offset " + std::to_string(good.size()), "cut short"});
  bad.resize(good.size() + 200);
  refused(bad, {"offset " + std::to_string(good.size()), "magic"});
}

TEST_CASE("LIME: the last record may lack its padding") {
  const Fixture f;
  Bytes bytes = lime_file({f.format, f.data, f.checksum});
  while (bytes.back() == std::byte{0}) bytes.pop_back();
  const GaugeRead read = read_gauge(GaugeFile(from_memory("memory", bytes)));
  CHECK(read.info.checksums[0].status() == ChecksumStatus::ok);
}

TEST_CASE("LIME: a text record of unreasonable length is not read into memory") {
  const Fixture f;
  Record long_format = f.format;
  long_format.data.resize(200'000, std::byte{' '});
  expect_refused({long_format, f.data}, {"unreasonably long", "ildg-format"});
  Record long_notes = text("scidac-record-xml", std::string(200'000, 'x'));
  const GaugeRead read = read_records({f.format, long_notes, f.data, f.checksum});
  CHECK(read.info.notes.size() == 1);
}

TEST_CASE("ILDG: what a reader should know is noted") {
  const Fixture f;
  const auto notes = [](const std::vector<Record>& records) { return read_records(records).info.notes; };
  CHECK(notes({f.file_info, f.record_info, f.format, f.data, f.checksum}).empty());
  CHECK(notes({f.format, f.data, f.checksum, f.data, f.checksum}).size() == 1);
  Record info = f.record_info;
  std::string xml(reinterpret_cast<const char*>(info.data.data()), info.data.size());
  xml.replace(xml.find("144"), 3, "576");
  CHECK(notes({f.file_info, text(info.type, xml), f.data, f.checksum}).size() == 1);

  const GaugeRead read = read_records({f.format, text("ildg-data-lfn", "lfn://M\xfcnchen\x01"), f.data});
  CHECK(read.info.header.back().second == "lfn://M?nchen?");
}

}  // namespace format_lime_test
