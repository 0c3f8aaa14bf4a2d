#pragma once
// How links lie in a file, and their conversion to and from double precision, for any run of sites.
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/io/byte_source.hpp"
#include "codelets/io/byteorder.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace quarkstar::format {

enum class SiteOrder {
  lexicographic,  ///< record = site, x fastest, t slowest; 4 links in the order of `directions`
  openqcd         ///< record = odd site, z fastest, then y, x, t; 8 links +t,-t,+x,-x,+y,-y,+z,-z (minus: the neighbour's
                  ///< link)
};

/// Where the links of a configuration are in a file: a run of equal records that starts at `offset`.
/// Every record can be located and decoded by itself, so parts of a file can be read by different tasks or ranks.
struct PayloadLayout {
  Coord extents{};
  int rows = 3;        ///< rows of each 3x3 link that are stored; 2: the third is conj(row 0 x row 1)
  int real_bytes = 8;  ///< 4 (IEEE single) or 8 (IEEE double)
  ByteOrder byte_order = ByteOrder::big;
  SiteOrder site_order = SiteOrder::lexicographic;
  std::uint64_t offset = 0;
  std::array<int, 4> directions = {0, 1, 2, 3};  ///< mu of the links of a record, in the order in which they are stored

  int links_per_record() const { return site_order == SiteOrder::lexicographic ? 4 : 8; }
  std::int64_t records() const { return volume(extents) * 4 / links_per_record(); }
  std::size_t link_bytes() const { return static_cast<std::size_t>(6 * rows * real_bytes); }
  std::size_t record_bytes() const { return link_bytes() * static_cast<std::size_t>(links_per_record()); }
  std::uint64_t payload_bytes() const { return static_cast<std::uint64_t>(records()) * record_bytes(); }
};

/// Largest run of whole records that readers and writers handle at once.
inline std::int64_t records_per_chunk(std::size_t record_bytes) {
  constexpr std::size_t chunk_bytes = std::size_t{4} << 20;
  return static_cast<std::int64_t>(chunk_bytes / record_bytes + 1);
}

/// Extents from a header, checked: each at least 1, volume small enough that every byte count fits into 63 bits.
/// where: file and place of the header, for the message. Throws Error(input).
Coord checked_extents(std::string_view where, const std::array<std::int64_t, 4>& extents);

/// "4x4x4x8"
std::string describe(const Coord& extents);

/// Compares what the header claims with the real length: the payload must end exactly where the source ends.
/// Call before allocating anything of the claimed size. Throws Error(input).
void check_payload_length(const ByteSource& source, const PayloadLayout& layout);

/// Which link stands at position k of a record.
struct LinkPlace {
  std::int64_t site;  ///< lexicographic
  int mu;
};
LinkPlace link_place(const PayloadLayout& layout, std::int64_t record, int k);

/// The inverse: offset in the file of the link U_mu(site).
std::uint64_t link_offset(const PayloadLayout& layout, const Coord& site, int mu);

/// One stored link to 18 doubles (3x3 row-major, re,im).
void decode_link(const PayloadLayout& layout, const std::byte* in, std::span<double, 18> link);

/// Largest difference between the third row and conj(row 0 x row 1): what storing two rows would lose.
double third_row_deviation(std::span<const double, 18> link);

/// Inverse of decode_link(). Returns false if a number is not finite in the file's precision.
bool encode_link(const PayloadLayout& layout, std::span<const double, 18> link, std::byte* out);

/// Decode whole records: store(site, mu, link) for each link; site is lexicographic, link is std::span<const double,
/// 18>.
template <class Store>
void for_each_link(const PayloadLayout& layout, std::int64_t first_record, std::span<const std::byte> bytes, Store&& store) {
  std::array<double, 18> link;
  const auto count = static_cast<std::int64_t>(bytes.size() / layout.record_bytes());
  const std::byte* in = bytes.data();
  for (std::int64_t record = first_record; record < first_record + count; ++record) {
    for (int k = 0; k < layout.links_per_record(); ++k, in += layout.link_bytes()) {
      decode_link(layout, in, link);
      const LinkPlace place = link_place(layout, record, k);
      store(place.site, place.mu, std::span<const double, 18>(link));
    }
  }
}

/// Encodes the records of a box of the lattice, lexicographic within it; `gauge` holds these sites, and `out` has room for them.
/// where: the output file, for the message. Throws Error(input) naming the link if a number is not finite in the file's
/// precision.
void encode_box(std::string_view where, const PayloadLayout& layout, const HostGauge& gauge, const Box& box, std::span<std::byte> out);

/// Distance of the first two stored rows from unit norm, |(|a|^2 - 1)| + |(|b|^2 - 1)|; infinite if they are not
/// finite. Tells precision and byte order apart where a header leaves them open: a wrong guess gives values far from 1.
double norm_deviation(const PayloadLayout& layout, std::span<const std::byte> first_link);

}  // namespace quarkstar::format
