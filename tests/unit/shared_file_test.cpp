// Files that ranks share, on one rank: slabs that follow each other, any size of them, files that end too soon.
#include "runtime/mpi/shared_file.hpp"

#include "runtime/mpi/shared_output.hpp"
#include "runtime/mpi/slabs.hpp"
#include "tests/unit/environment_testing.hpp"
#include "tests/unit/format_testing.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string_view>

namespace shared_file_test {

namespace {

using namespace quarkstar;
using namespace quarkstar::testing;
using namespace quarkstar::runtime::mpi;

/// What one call moves, for as long as it lives.
class SlabBytes {
 public:
  explicit SlabBytes(int bytes) : setting_("QUARKSTAR_IO_SLAB", std::to_string(bytes).c_str()) {}

 private:
  Environment setting_;
};

constexpr Coord lattice{4, 3, 2, 5};
constexpr std::size_t record_bytes = 8;

std::vector<std::byte> numbered(std::int64_t sites) {
  std::vector<std::uint64_t> numbers(static_cast<std::size_t>(sites));
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  const std::span<const std::byte> bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

std::uint64_t number_in(std::span<const std::byte> bytes, std::int64_t place) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + static_cast<std::size_t>(place) * record_bytes, sizeof number);
  return number;
}

}  // namespace

TEST_CASE("slabs make up a box, one behind the other") {
  const Box box{{2, 0, 4, 1}, {3, 4, 2, 5}};
  for (const std::int64_t most : {1, 2, 3, 4, 7, 12, 13, 24, 50, 119, 120, 1000}) {
    CAPTURE(most);
    std::int64_t place = 0;
    for (const Box& slab : slabs_of(box, most)) {
      CHECK(volume(slab.extents) >= 1);
      CHECK(volume(slab.extents) <= most);
      for (std::int64_t i = 0; i < volume(slab.extents); ++i) CHECK(site_of(slab, i) == site_of(box, place++));
    }
    CHECK(place == volume(box.extents));
  }
  CHECK(slabs_of(box, 120).size() == 1);
  CHECK(slabs_of(box, 48).size() == 3);
}

TEST_CASE("records come back from a shared file, whatever the slabs") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("records");
  Job& job = Job::current();
  const std::vector<std::byte> all = numbered(volume(lattice));
  for (const int slab : {1, 30, 101, 500, 10001}) {
    CAPTURE(slab);
    const SlabBytes setting(slab);
    SharedOutput output(job, path);
    const std::uint64_t offset = output.root()->leave_room(16 + all.size()) + 16;
    if (slab % 2 == 0) {
      output.fill({offset, record_bytes, lattice}, {{}, lattice}, all);
    } else {
      output.fill_slabs({offset, record_bytes, lattice}, {{}, lattice}, [&](const Box& box, std::span<std::byte> bytes) {
        const auto first = static_cast<std::size_t>(lexicographic(box.origin, lattice)) * record_bytes;
        std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first), bytes.size(), bytes.begin());
      });
    }
    output.commit();
    CHECK(std::filesystem::file_size(path) == 16 + all.size());

    SharedFile file(job, path, SharedFile::Mode::read);
    const Box part{{1, 1, 0, 2}, {3, 2, 1, 3}};
    std::vector<std::byte> read(static_cast<std::size_t>(volume(part.extents)) * record_bytes);
    file.read({16, record_bytes, lattice}, part, read);
    for (std::int64_t i = 0; i < volume(part.extents); ++i)
      CHECK(number_in(read, i) == static_cast<std::uint64_t>(lexicographic(site_of(part, i), lattice)));
    std::int64_t place = 0;
    file.read_slabs({16, record_bytes, lattice}, part, [&](const Box& box, std::span<const std::byte> bytes) {
      for (std::int64_t i = 0; i < volume(box.extents); ++i, ++place)
        CHECK(number_in(bytes, i) == static_cast<std::uint64_t>(lexicographic(site_of(part, place), lattice)));
    });
    CHECK(place == volume(part.extents));
    file.close();
  }
}

TEST_CASE("an output takes several fields, with what the root writes between them") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("fields");
  const SlabBytes setting(100);
  SharedOutput output(Job::current(), path);
  const std::vector<std::byte> all = numbered(volume(lattice));
  constexpr std::string_view between = "what follows a field";
  std::vector<std::uint64_t> offsets;
  for (int field = 0; field < 3; ++field) {
    offsets.push_back(output.root()->leave_room(all.size()));
    const std::size_t bytes = field == 1 ? 2 * record_bytes : record_bytes;  // half as many sites of twice the bytes
    const Coord extents = field == 1 ? Coord{2, 3, 2, 5} : lattice;
    output.fill({offsets.back(), bytes, extents}, {{}, extents}, all);
    output.root()->append(between);
  }
  CHECK_FALSE(std::filesystem::exists(path));
  output.commit();
  std::ifstream file(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), {});
  REQUIRE(content.size() == 3 * (all.size() + between.size()));
  for (const std::uint64_t offset : offsets) {
    CHECK(std::memcmp(content.data() + offset, all.data(), all.size()) == 0);
    CHECK(content.compare(offset + all.size(), between.size(), between) == 0);
  }
}

TEST_CASE("an output whose ranks fail between two fields leaves nothing behind") {
  const TemporaryDirectory directory;
  const std::vector<std::byte> all = numbered(volume(lattice));
  {
    SharedOutput output(Job::current(), directory.file("fields"));
    output.root()->leave_room(2 * all.size());
    output.fill({0, record_bytes, lattice}, {{}, lattice}, all);
    const auto fill = [](const Box&, std::span<std::byte>) { throw Error(ErrorKind::input, "a field", "is not finite", "check it"); };
    CHECK_THROWS_AS(output.fill_slabs({all.size(), record_bytes, lattice}, {{}, lattice}, fill), Error);
  }
  {
    SharedOutput output(Job::current(), directory.file("fields"));
    output.root()->leave_room(all.size());
    output.fill({0, record_bytes, lattice}, {{}, lattice}, all);
    const auto work = [] { throw Error(ErrorKind::environment, "the root's header", "does not fit", "free space"); };
    CHECK_THROWS_AS(output.on_root(work), Error);
  }
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a file that ends before its records is an error, and so is one that is not there") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("records");
  Job& job = Job::current();
  SharedOutput output(job, path);
  const std::vector<std::byte> all = numbered(volume(lattice));
  output.root()->leave_room(all.size());
  output.fill({0, record_bytes, lattice}, {{}, lattice}, all);
  output.commit();
  std::filesystem::resize_file(path, all.size() - 1);
  SharedFile file(job, path, SharedFile::Mode::read);
  std::vector<std::byte> read(all.size());
  expect_error(ErrorKind::environment, [&] { file.read({0, record_bytes, lattice}, {{}, lattice}, read); }, {path, "ends before"});
  expect_error(ErrorKind::input, [&] { SharedFile(job, directory.file("nothing"), SharedFile::Mode::read); }, {"nothing", "opening"});
  const std::string target = directory.file("target");
  expect_error(ErrorKind::input, [&] { SharedFile(job, directory.file(".target.1-0.tmp"), SharedFile::Mode::write, target); },
               {target, "opening"});
}

}  // namespace shared_file_test
