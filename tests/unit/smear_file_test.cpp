// Fat and long links in files: round trip, MILC's own files, damage.
#include "codelets/gauge/smear/links_file.hpp"
#include "codelets/io/link_field_file.hpp"
#include "tests/unit/format_testing.hpp"
#include "tests/unit/reference_golden.hpp"
#include "tests/unit/smear_testing.hpp"

namespace smear_file_test {

using namespace quarkstar;
using namespace quarkstar::smear;
using quarkstar::testing::TemporaryDirectory;

namespace {

constexpr std::uint64_t seed = 99;
constexpr Coord lattice{4, 4, 4, 8};

StaggeredLinks example(double epsilon) {
  const runtime::Session session(smear_testing::options(1));
  return hisq_links(smear_testing::whole(lattice), reference::near_unit_gauge(lattice, seed, 0.4), antiperiodic_in_time, epsilon);
}

std::string message_of(const std::string& fat, const std::optional<std::string>& naik) {
  try {
    read_links(fat, naik);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("links files: what is written is read back") {
  const StaggeredLinks links = example(-0.07);
  const TemporaryDirectory directory;
  const std::string prefix = directory.file("links");
  write_links(prefix, links, {.action = "hisq"});
  const StaggeredLinks read = read_links(fat_path(prefix), long_path(prefix));
  CHECK(read.fat.data == links.fat.data);
  CHECK(read.long_links.data == links.long_links.data);
  CHECK(read.has_long);
  CHECK(read.naik_epsilon == links.naik_epsilon);
  CHECK(read.long_scale == doctest::Approx(links.long_scale).epsilon(1e-13));
  const std::string header = format::read_link_field(long_path(prefix)).text.file;
  CHECK(contains(header, "<action>hisq</action>"));
  CHECK(contains(header, "<boundaryAngles>0 0 0 1</boundaryAngles>"));

  write_links(prefix, links, {.real_bytes = 4, .action = "hisq"});
  const StaggeredLinks narrow = read_links(fat_path(prefix), long_path(prefix));
  CHECK(smear_testing::largest_difference(narrow.fat, links.fat) < 2 * 0x1p-24);
  CHECK(smear_testing::largest_difference(narrow.long_links, links.long_links) < 0x1p-28);
}

TEST_CASE("links files: without long links there is one file") {
  StaggeredLinks links = example(0);
  links.has_long = false;
  const TemporaryDirectory directory;
  const std::string prefix = directory.file("naive");
  write_links(prefix, links, {.action = "naive"});
  CHECK_FALSE(std::filesystem::exists(long_path(prefix)));
  CHECK_FALSE(read_links(fat_path(prefix), std::nullopt).has_long);
}

TEST_CASE("links files: MILC's own are read, the scale of its long links found") {
  const auto data = reference::data_directory("MILC links files");
  if (!data) return;
  const StaggeredLinks links = read_links(*data / "milc/fat.l8", (*data / "milc/long.l8").string());
  CHECK(links.fat.extents == Coord{8, 8, 8, 8});
  CHECK(links.long_scale == doctest::Approx(-1 / (24 * 0.502 * 0.502)).epsilon(1e-6));
  CHECK(links.naik_epsilon == 0);
}

TEST_CASE("links files: files that do not fit are refused") {
  const TemporaryDirectory directory;
  const std::string prefix = directory.file("links"), other = directory.file("other");
  StaggeredLinks links = example(0);
  write_links(prefix, links, {.action = "hisq"});
  CHECK(contains(message_of(fat_path(prefix), fat_path(prefix)), "times a unitary matrix"));
  CHECK(contains(message_of(directory.file("absent"), std::nullopt), "absent"));

  const runtime::Session session(smear_testing::options(1));
  const Coord small{4, 4, 4, 4};
  write_links(other, hisq_links(smear_testing::whole(small), reference::unit_gauge(small), periodic, 0), {.action = "hisq"});
  CHECK(contains(message_of(fat_path(prefix), long_path(other)), "its lattice is 4x4x4x4"));

  std::fstream file(fat_path(prefix), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(100000);
  file.put('\x55');
  file.close();
  CHECK(contains(message_of(fat_path(prefix), std::nullopt), "checksum"));

  links.fat.data[5] = NAN;
  CHECK_THROWS_AS(write_links(other, links, {.action = "hisq"}), Error);
  CHECK(read_links(fat_path(other), std::nullopt).fat.extents == small);
}

}  // namespace smear_file_test
