#include "codelets/io/layout.hpp"

#include "codelets/io/reals.hpp"
#include "codelets/su3/complex.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quarkstar::format {
namespace {

/// Third row of an SU(3) matrix: c = conj(a x b).
void complete_third_row(std::span<double, 18> link) {
  const auto entry = [&](int row, int col) {
    const std::size_t i = static_cast<std::size_t>(6 * row + 2 * (col % 3));
    return site::Complex<double>{link[i], link[i + 1]};
  };
  for (int col = 0; col < 3; ++col) {
    const site::Complex<double> c = conjugate_cross(entry(0, col + 1), entry(1, col + 2), entry(0, col + 2), entry(1, col + 1));
    link[static_cast<std::size_t>(12 + 2 * col)] = c.re;
    link[static_cast<std::size_t>(13 + 2 * col)] = c.im;
  }
}

/// The record-th odd site in openQCD's order; all extents are even, so each run of two z values holds exactly one odd
/// site.
Coord openqcd_site(const Coord& extents, std::int64_t record) {
  const std::int64_t pairs = extents[2] / 2;
  const std::int64_t pair = record % pairs;
  std::int64_t rest = record / pairs;
  Coord site{};
  site[1] = static_cast<int>(rest % extents[1]);
  rest /= extents[1];
  site[0] = static_cast<int>(rest % extents[0]);
  site[3] = static_cast<int>(rest / extents[0]);
  site[2] = static_cast<int>(2 * pair + ((site[0] + site[1] + site[3] + 1) & 1));
  return site;
}

}  // namespace

Coord checked_extents(std::string_view where, const std::array<std::int64_t, 4>& extents) {
  const auto shown = [&] { return fmt::format("extents = {} {} {} {}", extents[0], extents[1], extents[2], extents[3]); };
  // 2^40 sites are 10^4 times the largest lattice of today and leave all byte counts far from overflow.
  constexpr std::int64_t most_sites = std::int64_t{1} << 40;
  std::int64_t sites = 1;
  Coord result{};
  for (std::size_t mu = 0; mu < 4; ++mu) {
    if (extents[mu] < 1) {
      throw Error(ErrorKind::input, where, "lattice extents must be positive (" + shown() + ")",
                  "the header is damaged: copy the file again");
    }
    if (extents[mu] > most_sites / sites || extents[mu] > std::numeric_limits<int>::max()) {
      throw Error(ErrorKind::input, where, "the lattice is impossibly large (" + shown() + ")",
                  "the header is damaged: copy the file again");
    }
    sites *= extents[mu];
    result[mu] = static_cast<int>(extents[mu]);
  }
  return result;
}

std::string describe(const Coord& extents) { return fmt::format("{}x{}x{}x{}", extents[0], extents[1], extents[2], extents[3]); }

void check_payload_length(const ByteSource& source, const PayloadLayout& layout) {
  const std::uint64_t available = source.size() > layout.offset ? source.size() - layout.offset : 0;
  const std::uint64_t needed = layout.payload_bytes();
  if (available == needed) return;
  const std::string claim = fmt::format("the header announces {} bytes of links ({}, {} rows, {}-bit reals)", needed,
                                        describe(layout.extents), layout.rows, 8 * layout.real_bytes);
  if (available < needed) {
    throw Error(ErrorKind::input, at_offset(source, layout.offset), fmt::format("{}, but only {} follow", claim, available),
                "the file is cut short or its header is wrong: copy it again");
  }
  throw Error(ErrorKind::input, at_offset(source, layout.offset + needed),
              fmt::format("{}, but {} more follow them", claim, available - needed),
              "the extents or the data type in the header are wrong, or foreign data were appended: copy the file again");
}

LinkPlace link_place(const PayloadLayout& layout, std::int64_t record, int k) {
  if (layout.site_order == SiteOrder::lexicographic) return {record, layout.directions[static_cast<std::size_t>(k)]};
  const int mu = layout.directions[static_cast<std::size_t>(k / 2)];
  Coord site = openqcd_site(layout.extents, record);
  if (k % 2 == 1) {
    int& coordinate = site[static_cast<std::size_t>(mu)];
    coordinate = coordinate == 0 ? layout.extents[static_cast<std::size_t>(mu)] - 1 : coordinate - 1;
  }
  return {lexicographic(site, layout.extents), mu};
}

std::uint64_t link_offset(const PayloadLayout& layout, const Coord& site, int mu) {
  std::int64_t link = std::find(layout.directions.begin(), layout.directions.end(), mu) - layout.directions.begin();
  Coord owner = site;
  if (layout.site_order == SiteOrder::openqcd) {
    const bool even = (site[0] + site[1] + site[2] + site[3]) % 2 == 0;  // the odd neighbour has the link
    const auto i = static_cast<std::size_t>(mu);
    if (even) owner[i] = (owner[i] + 1) % layout.extents[i];
    const auto& [lx, ly, lz, lt] = layout.extents;
    const std::int64_t record = ((std::int64_t{owner[3]} * lx + owner[0]) * ly + owner[1]) * (lz / 2) + owner[2] / 2;
    link = 8 * record + 2 * link + (even ? 1 : 0);
  } else {
    link += 4 * lexicographic(site, layout.extents);
  }
  return layout.offset + static_cast<std::uint64_t>(link) * layout.link_bytes();
}

void decode_link(const PayloadLayout& layout, const std::byte* in, std::span<double, 18> link) {
  const std::span<double> stored = link.first(static_cast<std::size_t>(6 * layout.rows));
  decode_reals(layout.real_bytes, in, layout.byte_order, stored);
  if (layout.rows == 2) complete_third_row(link);
}

double third_row_deviation(std::span<const double, 18> link) {
  std::array<double, 18> completed;
  std::copy(link.begin(), link.end(), completed.begin());
  complete_third_row(completed);
  double deviation = 0;
  for (std::size_t i = 12; i < 18; ++i) deviation = std::max(deviation, std::abs(completed[i] - link[i]));
  return deviation;
}

bool encode_link(const PayloadLayout& layout, std::span<const double, 18> link, std::byte* out) {
  const std::span<const double> stored = link.first(static_cast<std::size_t>(6 * layout.rows));
  return encode_reals(layout.real_bytes, stored, layout.byte_order, out);
}

void encode_box(std::string_view where, const PayloadLayout& layout, const HostGauge& gauge, const Box& box, std::span<std::byte> out) {
  std::byte* next = out.data();
  for (std::int64_t i = 0; i < volume(box.extents); ++i) {
    const Coord site = site_of(box, i);
    const std::int64_t place = index_in(gauge.box(), site, layout.extents);
    for (int mu = 0; mu < 4; ++mu, next += layout.link_bytes()) {
      if (encode_link(layout, gauge.link(place, mu), next)) continue;
      throw Error(ErrorKind::input, where,
                  fmt::format("link at x,y,z,t = {},{},{},{} mu = {} has a number that is not finite in {}-bit reals", site[0], site[1],
                              site[2], site[3], mu, 8 * layout.real_bytes),
                  "check how the configuration was made before writing it");
    }
  }
}

double norm_deviation(const PayloadLayout& layout, std::span<const std::byte> first_link) {
  PayloadLayout two_rows = layout;
  two_rows.rows = 2;
  std::array<double, 18> link{};
  decode_link(two_rows, first_link.data(), link);
  double deviation = 0;
  for (std::size_t row = 0; row < 2; ++row) {
    double norm = 0;
    for (std::size_t i = 6 * row; i < 6 * row + 6; ++i) norm += link[i] * link[i];
    deviation += std::abs(norm - 1.0);
  }
  return std::isfinite(deviation) ? deviation : std::numeric_limits<double>::infinity();
}

}  // namespace quarkstar::format
