// Byte orders, row counts and site orders that our writers do not produce, put together here byte by byte.
#include "codelets/io/gauge_file.hpp"
#include "tests/unit/format_testing.hpp"

namespace format_variants_test {

namespace {

using namespace quarkstar;
using namespace quarkstar::format;
using namespace quarkstar::testing;

constexpr std::uint64_t seed = 4711;

GaugeRead read_bytes(const Bytes& bytes, const GaugeReadOptions& options = {}) {
  return read_gauge(GaugeFile(from_memory("memory", bytes), options));
}

/// Links in lexicographic order, the first `rows` rows of each.
Bytes plain_links(const HostGauge& gauge, int rows, int real_bytes, ByteOrder order) {
  Bytes bytes;
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site) {
    for (int mu = 0; mu < 4; ++mu) {
      for (const double v : gauge.link(site, mu).first(static_cast<std::size_t>(6 * rows))) append_real(bytes, v, real_bytes, order);
    }
  }
  return bytes;
}

std::uint32_t word(const Bytes& bytes, std::size_t k, ByteOrder order) { return load<std::uint32_t>(bytes.data() + 4 * k, order); }

std::string nersc_header(const Coord& extents, int rows, const std::string& floating_point, std::uint32_t checksum) {
  std::string text = "BEGIN_HEADER\nDATATYPE = 4D_SU3_GAUGE";
  if (rows == 3) text += "_3x3";
  text += "\n";
  for (std::size_t mu = 0; mu < 4; ++mu) text += "DIMENSION_" + std::to_string(mu + 1) + " = " + std::to_string(extents[mu]) + "\n";
  char sum[16];
  std::snprintf(sum, sizeof sum, "%x", checksum);
  return text + "CHECKSUM = " + sum + "\nLINK_TRACE = 0.25\nPLAQUETTE = 0.5\nFLOATING_POINT = " + floating_point + "\nEND_HEADER\n";
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("NERSC: two and three rows, both widths, both byte orders, order left open") {
  INFO("seed ", seed);
  const HostGauge gauge = random_gauge({3, 2, 4, 5}, seed);
  struct Kind {
    const char* name;
    int real_bytes;
    ByteOrder order;
  };
  for (const Kind kind :
       {Kind{"IEEE32BIG", 4, ByteOrder::big}, Kind{"IEEE32LITTLE", 4, ByteOrder::little}, Kind{"IEEE32", 4, ByteOrder::little},
        Kind{"IEEE32", 4, ByteOrder::big}, Kind{"IEEE64BIG", 8, ByteOrder::big}, Kind{"IEEE64LITTLE", 8, ByteOrder::little},
        Kind{"IEEE64", 8, ByteOrder::little}, Kind{"IEEE64", 8, ByteOrder::big}}) {
    for (const int rows : {2, 3}) {
      CAPTURE(kind.name);
      CAPTURE(rows);
      const Bytes links = plain_links(gauge, rows, kind.real_bytes, kind.order);
      std::uint32_t sum = 0;
      for (std::size_t k = 0; k < links.size() / 4; ++k) sum += word(links, k, kind.order);
      const GaugeRead read = read_bytes(bytes_of(nersc_header(gauge.extents, rows, kind.name, sum)) + links);
      CHECK(read.info.layout.byte_order == kind.order);
      CHECK(read.info.checksums[0].status() == ChecksumStatus::ok);
      CHECK(read.info.plaquette->value == 0.5);
      CHECK(read.info.link_trace->value == 0.25);
      CHECK(largest_difference(read.gauge.data, gauge.data) < (kind.real_bytes == 4 ? 5e-7 : 1e-15));
    }
  }
}

TEST_CASE("NERSC: carriage returns, blanks and unknown keys do not matter") {
  const HostGauge gauge = random_gauge({2, 2, 2, 2}, seed);
  const Bytes links = plain_links(gauge, 3, 8, ByteOrder::big);
  std::uint32_t sum = 0;
  for (std::size_t k = 0; k < links.size() / 4; ++k) sum += word(links, k, ByteOrder::big);
  std::string header = nersc_header(gauge.extents, 3, "IEEE64BIG", sum);
  header.insert(header.find("DATATYPE"), "  FLAVOUR=strange \n\nBOUNDARY_4 = ANTIPERIODIC\n");
  for (std::size_t at = 0; (at = header.find('\n', at)) != std::string::npos; at += 2) header.insert(at, "\r");
  const GaugeRead read = read_bytes(bytes_of(header) + links);
  CHECK(read.gauge.data == gauge.data);
  CHECK(read.info.notes.size() == 1);
}

TEST_CASE("MILC versions 5 and 1 in both byte orders") {
  INFO("seed ", seed);
  const HostGauge gauge = rounded_to_single(random_gauge({2, 3, 4, 5}, seed));
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    CAPTURE(to_string(order));
    const Bytes links = plain_links(gauge, 3, 4, order);
    std::uint32_t sum29 = 0, sum31 = 0;
    for (std::size_t k = 0; k < links.size() / 4; ++k) {
      sum29 ^= std::rotl(word(links, k, order), static_cast<int>(k % 29));
      sum31 ^= std::rotl(word(links, k, order), static_cast<int>(k % 31));
    }
    Bytes v5;
    append_number(v5, std::int32_t{20103}, order);
    for (const int extent : gauge.extents) append_number(v5, std::int32_t{extent}, order);
    v5.resize(v5.size() + 64, std::byte{'x'});
    append_number(v5, std::int32_t{0}, order);
    append_number(v5, sum29, order);
    append_number(v5, sum31, order);
    const GaugeRead read5 = read_bytes(v5 + links);
    CHECK(read5.info.format == GaugeFormat::milc_v5);
    CHECK(read5.info.layout.byte_order == order);
    for (const ChecksumVerdict& verdict : read5.info.checksums) CHECK(verdict.status() == ChecksumStatus::ok);
    CHECK(read5.gauge.data == gauge.data);

    Bytes v1;
    append_number(v1, std::int32_t{59354}, order);
    for (const int extent : gauge.extents) append_number(v1, std::int32_t{extent}, order);
    append_number(v1, 5.5F, order);
    append_number(v1, 0.125F, order);
    const GaugeRead read1 = read_bytes(v1 + links);
    CHECK(read1.info.format == GaugeFormat::milc_v1);
    CHECK(read1.info.checksums.empty());
    CHECK(read1.gauge.data == gauge.data);

    Bytes ordered = v5;
    store(ordered.data() + 84, std::int32_t{1}, order);
    expect_error(ErrorKind::input, [&] { (void)read_bytes(ordered + links); }, {"offset 84", "order = 1"});
  }
}

TEST_CASE("openQCD: links around odd sites, time first") {
  INFO("seed ", seed);
  const HostGauge gauge = random_gauge({4, 2, 6, 8}, seed);
  const auto& [lx, ly, lz, lt] = gauge.extents;
  const double plaquette = measure(gauge).plaquette();
  Bytes bytes;
  for (const int extent : {lt, lx, ly, lz}) append_number(bytes, std::int32_t{extent}, ByteOrder::little);
  append_number(bytes, 3 * plaquette, ByteOrder::little);
  for (int t = 0; t < lt; ++t) {
    for (int x = 0; x < lx; ++x) {
      for (int y = 0; y < ly; ++y) {
        for (int z = 0; z < lz; ++z) {
          if ((t + x + y + z) % 2 == 0) continue;
          const Coord here{x, y, z, t};
          for (const int mu : {3, 0, 1, 2}) {
            Coord back = here;
            back[mu] = (back[mu] + gauge.extents[mu] - 1) % gauge.extents[mu];
            for (const Coord& site : {here, back}) {
              for (const double v : gauge.link(lexicographic(site, gauge.extents), mu)) append_number(bytes, v, ByteOrder::little);
            }
          }
        }
      }
    }
  }
  const GaugeRead read = read_bytes(bytes);
  CHECK(read.info.format == GaugeFormat::openqcd);
  CHECK(read.gauge.extents == gauge.extents);
  CHECK(read.gauge.data == gauge.data);
  CHECK(std::abs(read.info.plaquette->value - measure(read.gauge).plaquette()) <= read.info.plaquette->tolerance);

  Bytes odd = bytes;
  store(odd.data() + 4, std::int32_t{5}, ByteOrder::little);
  expect_error(ErrorKind::input, [&] { (void)read_bytes(odd); }, {"even extents", "8x5x2x6"});
  Bytes wild = bytes;
  store(wild.data() + 16, 3.5, ByteOrder::little);
  expect_error(ErrorKind::input, [&] { (void)read_bytes(wild); }, {"offset 16", "3.5"});
  wild = bytes;
  store(wild.data() + 24 + 8 * 144 * 10, std::numeric_limits<double>::infinity(), ByteOrder::little);
  expect_error(ErrorKind::input, [&] { (void)read_bytes(wild); }, {"not finite"});
}

namespace {

Bytes ddalphaamg_file(const HostGauge& gauge, double plaquette) {
  const auto& [lx, ly, lz, lt] = gauge.extents;
  Bytes bytes;
  for (const int extent : {lt, lz, ly, lx}) append_number(bytes, std::int32_t{extent}, ByteOrder::little);
  append_number(bytes, 3 * plaquette, ByteOrder::little);
  for (int t = 0; t < lt; ++t)
    for (int z = 0; z < lz; ++z)
      for (int y = 0; y < ly; ++y)
        for (int x = 0; x < lx; ++x)
          for (const int mu : {3, 2, 1, 0})
            for (const double v : gauge.link(lexicographic({x, y, z, t}, gauge.extents), mu)) append_number(bytes, v, ByteOrder::little);
  return bytes;
}

/// U_mu(x) = g(x) g^+(x+mu): every plaquette is 1, no link is near 1.
HostGauge pure_gauge(const Coord& extents) {
  const HostGauge g = random_gauge(extents, seed);
  HostGauge gauge = g;
  for (std::int64_t site = 0; site < volume(extents); ++site) {
    for (int mu = 0; mu < 4; ++mu) {
      Coord next = coordinates(site, extents);
      next[mu] = (next[mu] + 1) % extents[mu];
      const Matrix link = product(link_matrix(g, site, 0), adjoint(link_matrix(g, lexicographic(next, extents), 0)));
      auto out = gauge.link(site, mu).begin();
      for (const auto& row : link)
        for (const auto& z : row) {
          *out++ = z.real();
          *out++ = z.imag();
        }
    }
  }
  return gauge;
}

}  // namespace

TEST_CASE("DDalphaAMG: openQCD's header with the extents reversed, links in the order of sites, t first") {
  INFO("seed ", seed);
  // Random links have plaquette 0 in any order, so that the whole lattice decides; of a pure gauge the first sample tells.
  const HostGauge random = random_gauge({4, 2, 6, 16}, seed);
  const HostGauge smooth = pure_gauge({6, 4, 8, 10});
  for (const HostGauge* gauge : {&random, &smooth}) {
    const double plaquette = measure(*gauge).plaquette();
    const Bytes bytes = ddalphaamg_file(*gauge, plaquette);
    const GaugeRead read = read_bytes(bytes);
    CHECK(read.info.format == GaugeFormat::ddalphaamg);
    CHECK(read.info.notes.at(0).find("DDalphaAMG's order") != std::string::npos);
    CHECK(read.gauge.extents == gauge->extents);
    CHECK(read.gauge.data == gauge->data);
    CHECK(std::abs(read.info.plaquette->value - plaquette) <= read.info.plaquette->tolerance);
    expect_error(ErrorKind::input, [&] { (void)read_bytes(Bytes(bytes.begin(), bytes.end() - 8)); }, {"cut short"});
  }
  // Neither order has the plaquette: a wrong header, and one damaged link of a lattice that is read whole.
  expect_error(ErrorKind::input, [&] { (void)read_bytes(ddalphaamg_file(smooth, 0.1)); },
               {"offset 16", "1.000000000000 in DDalphaAMG's", "header states 0.1"});
  Bytes damaged = ddalphaamg_file(random, measure(random).plaquette());
  store(damaged.data() + 24 + 144 * 1000, 0.5, ByteOrder::little);
  expect_error(ErrorKind::input, [&] { (void)read_bytes(damaged); }, {"offset 16", "openQCD's order"});
}

}  // namespace format_variants_test
