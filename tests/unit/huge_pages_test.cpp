// Huge pages of field memory, from a list of mappings made for the test and from the kernel's own.
#include "runtime/system/huge_pages.hpp"

#include "tests/unit/app_testing.hpp"

#include <doctest/doctest.h>

namespace huge_pages_test {

using namespace quarkstar;
using namespace quarkstar::runtime;

TEST_CASE("mappings that asked for huge pages are counted, others are not") {
  testing::TemporaryFolder folder;
  const std::string smaps = folder.file("smaps");
  CHECK(huge_page_use(smaps).unavailable == smaps + " cannot be read");
  const std::string plain =
      "7f00-7f80 rw-p 00000000 00:00 0\nSize:  8192 kB\nRss:   4096 kB\nAnonHugePages:  4096 kB\nVmFlags: rd wr mr mw me ac sd\n";
  testing::write_file(smaps, plain);
  CHECK(huge_page_use(smaps).unavailable == "no memory has asked for huge pages");
  testing::write_file(
      smaps, plain + "7f80-7fff rw-p 00000000 00:00 0\nRss:   8192 kB\nAnonHugePages:  6144 kB\nVmFlags: rd wr mr mw me ac sd hg\n" +
                 "8000-8001 rw-p 00000000 00:00 0\nRss:   2048 kB\nAnonHugePages:     0 kB\nVmFlags: rd hg wr\n" + plain);
  const HugePageUse use = huge_page_use(smaps);
  REQUIRE(use.available());
  CHECK(use.resident == 10240u * 1024);
  CHECK(use.huge == 6144u * 1024);
  CHECK(use.fraction() == doctest::Approx(0.6));
}

TEST_CASE("this machine grants huge pages, refuses them, or does not tell") {
  const std::string text = describe_huge_pages();
  CHECK((text.starts_with("granted (") || text.starts_with("refused (") || text.starts_with("unavailable: ")));
  testing::TemporaryFolder folder;
  testing::write_file(folder.file("enabled"), "always madvise [never]\n");
  CHECK(describe_huge_pages(folder.file("enabled")).ends_with("(transparent huge pages: never)"));
}

}  // namespace huge_pages_test
