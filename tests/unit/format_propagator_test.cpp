// SciDAC propagator files: round trip, layout on disk, damage.
#include "codelets/io/lime.hpp"
#include "codelets/io/propagator.hpp"
#include "tests/unit/format_testing.hpp"

namespace format_propagator_test {

namespace {

using namespace quarkstar;
using namespace quarkstar::format;
using namespace quarkstar::testing;

constexpr std::uint64_t seed = 31337;
constexpr Coord extents{3, 2, 4, 5};
const auto sites = static_cast<std::size_t>(volume(extents));

HostReals column(int spin, int colour) { return random_reals(sites * 24, seed + static_cast<std::uint64_t>(3 * spin + colour)); }

HostReals source() { return random_reals(sites * 2, seed - 1); }

void write_propagator(const std::string& path, int real_bytes) {
  PropagatorWriteOptions options;
  options.real_bytes = real_bytes;
  options.file_info = "wilson kappa = 0.12 & <periodic>";
  PropagatorWriter writer(path, extents, options);
  writer.write_source(source());
  for (int spin = 0; spin < 4; ++spin) {
    for (int colour = 0; colour < 3; ++colour) writer.write_column(spin, colour, column(spin, colour));
  }
  writer.commit();
}

HostReals as_single(HostReals reals) {
  for (double& v : reals) v = static_cast<double>(static_cast<float>(v));
  return reals;
}

}  // namespace

TEST_CASE("propagators survive writing and reading") {
  INFO("seed ", seed);
  const TemporaryDirectory directory;
  for (const int real_bytes : {4, 8}) {
    const std::string path = directory.file("prop");
    write_propagator(path, real_bytes);
    const PropagatorFile file(path);
    CHECK(file.extents() == extents);
    CHECK(file.type() == "USQCD_DiracFermion_ScalarSource_TwelveSink");
    REQUIRE(file.columns().size() == 12);
    CHECK(file.read_source() == (real_bytes == 4 ? as_single(source()) : source()));
    for (const auto& c : file.columns()) {
      const auto expected = column(c.spin, c.colour);
      CHECK(file.read_column(c.spin, c.colour) == (real_bytes == 4 ? as_single(expected) : expected));
    }
  }
}

TEST_CASE("a propagator file has the records that QIO expects, in its order") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("prop");
  write_propagator(path, 8);
  const auto source = open_file(path);
  const std::vector<LimeRecord> records = lime_records(*source);
  REQUIRE(records.size() == 2 + 4 * 13);
  CHECK(records[0].type == "scidac-private-file-xml");
  CHECK(records[1].type == "scidac-file-xml");
  for (std::size_t i = 2; i < records.size(); i += 4) {
    CHECK(records[i].type == "scidac-private-record-xml");
    CHECK(records[i].message_begin);
    CHECK(records[i + 1].type == "scidac-record-xml");
    CHECK(records[i + 2].type == "scidac-binary-data");
    CHECK(records[i + 2].length == (i == 2 ? sites * 16 : sites * 192));
    CHECK(records[i + 3].type == "scidac-checksum");
    CHECK(records[i + 3].message_end);
  }
  const auto content = [&](std::size_t i) { return lime_text(*source, records[i], longest_xml); };
  CHECK(content(1).find("<usqcdPropFile><version>1.0</version><type>USQCD_DiracFermion_ScalarSource_TwelveSink</type>") !=
        std::string::npos);
  CHECK(content(1).find("kappa = 0.12 &amp; &lt;periodic&gt;") != std::string::npos);
  CHECK(content(3).find("<usqcdSourceInfo>") != std::string::npos);
  CHECK(content(2 + 4 * 6).find("<datatype>USQCD_D3_DiracFermion</datatype><precision>D</precision><colors>3</colors>"
                                "<spins>4</spins><typesize>192</typesize><datacount>1</datacount>") != std::string::npos);
  CHECK(content(3 + 4 * 6).find("<usqcdPropInfo><version>1.0</version><spin>1</spin><color>2</color>") != std::string::npos);
  // The first spinor's first number stands big-endian at the start of its record.
  Bytes first(8);
  source->read(records[8].data_offset, first);
  CHECK(load<double>(first.data(), ByteOrder::big) == column(0, 0)[0]);
}

TEST_CASE("an unfinished propagator leaves no file") {
  const TemporaryDirectory directory;
  {
    PropagatorWriter writer(directory.file("prop"), extents);
    expect_error(ErrorKind::internal, [&] { writer.write_column(0, 0, column(0, 0)); }, {"out of order"});
    writer.write_source(source());
    writer.write_column(0, 0, column(0, 0));
    expect_error(ErrorKind::internal, [&] { writer.write_column(1, 0, column(1, 0)); }, {"out of order"});
    expect_error(ErrorKind::internal, [&] { writer.commit(); }, {"out of order"});
    expect_error(ErrorKind::internal, [&] { writer.write_column(0, 1, source()); }, {"3x2x4x5"});
  }
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("damaged propagator files are refused") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("prop");
  write_propagator(path, 4);
  const Bytes good = load_bytes(path);
  const auto opened = open_file(path);
  const std::vector<LimeRecord> records = lime_records(*opened);
  const auto with = [&](const std::string& from, const std::string& to, std::size_t record) {
    Bytes bytes = good;
    const std::string text = lime_text(*opened, records[record], longest_xml);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    for (std::size_t i = 0; i < to.size(); ++i) bytes[records[record].data_offset + at + i] = std::byte(to[i]);
    return bytes;
  };
  const auto refused = [&](const Bytes& bytes, const std::vector<std::string>& parts) {
    expect_error(
        ErrorKind::input,
        [&] {
          const PropagatorFile file(from_memory("memory", bytes));
          for (int i = 0; i < 12; ++i) (void)file.read_column(i / 3, i % 3);
          (void)file.read_source();
        },
        parts);
  };
  Bytes flipped = good;
  flipped[records[12].data_offset + 100] ^= std::byte{4};
  refused(flipped, {"offset " + std::to_string(records[12].header_offset), "suma"});
  refused({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(records[30].header_offset)}, {"no column", "spin = 2"});
  refused({good.begin(), good.end() - 400}, {"cut short"});
  refused(with("USQCD_Dirac", "LHPCD_Dirac", 1), {"LHPCD_DiracFermion"});
  refused(with("<spin>0", "<spin>7", 7), {"spin = 7", "0..3"});
  refused(with("<color>1", "<color>0", 11), {"occurs twice"});
  refused(with("usqcdPropInfo", "usqcdWhatInfo", 7), {"neither"});
  refused(with("3 2 4 5", "3 2 4 6", 0), {"24 reals"});
  refused(with("<precision>F", "<precision>D", 6), {"64 bit"});
  refused(with("<recordtype>0", "<recordtype>1", 6), {"recordtype = 1"});
}

}  // namespace format_propagator_test
