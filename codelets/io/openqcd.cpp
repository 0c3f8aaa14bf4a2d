#include "codelets/io/openqcd.hpp"

#include "codelets/su3/matrix.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace quarkstar::format {
namespace {

constexpr std::size_t plaquette_offset = 16;
constexpr std::size_t openqcd_header_bytes = 24;

// The plaquette is a mean over 6 V terms in double precision.
constexpr double rounding = 1e-12;

std::array<std::int64_t, 4> stored_extents(std::span<const std::byte> header) {
  std::array<std::int64_t, 4> extents{};
  for (std::size_t i = 0; i < 4; ++i) extents[i] = load<std::int32_t>(header.data() + 4 * i, ByteOrder::little);
  return extents;
}

PayloadLayout layout_of(GaugeFormat format, const Coord& stored) {
  PayloadLayout layout;
  layout.byte_order = ByteOrder::little;
  layout.offset = openqcd_header_bytes;
  if (format == GaugeFormat::openqcd) {
    layout.site_order = SiteOrder::openqcd;
    layout.extents = {stored[1], stored[2], stored[3], stored[0]};
    layout.directions = {3, 0, 1, 2};
  } else {
    layout.extents = {stored[3], stored[2], stored[1], stored[0]};
    layout.directions = {3, 2, 1, 0};
  }
  return layout;
}

site::Link<double> link_at(const ByteSource& source, const PayloadLayout& layout, const Coord& site, int mu) {
  std::array<std::byte, 18 * sizeof(double)> bytes;
  source.read(link_offset(layout, site, mu), bytes);
  std::array<double, 18> reals;
  decode_link(layout, bytes.data(), reals);
  return site::read_link(reals.data());
}

/// Sum of Re tr U_p / 3 over the six plaquettes that begin at a site.
double plaquettes_at(const ByteSource& source, const PayloadLayout& layout, const Coord& site) {
  const auto after = [&](int mu) {
    Coord x = site;
    const auto i = static_cast<std::size_t>(mu);
    x[i] = (x[i] + 1) % layout.extents[i];
    return x;
  };
  double sum = 0;
  for (int mu = 0; mu < 4; ++mu) {
    for (int nu = 0; nu < mu; ++nu) {
      const auto lower = multiply(link_at(source, layout, site, mu), link_at(source, layout, after(mu), nu));
      const auto upper = multiply(link_at(source, layout, site, nu), link_at(source, layout, after(nu), mu));
      sum += real_trace_adjoint(lower, upper) / 3.0;
    }
  }
  return sum;
}

/// The program that wrote the file, by the plaquette (mean Re tr / 3) of its header.
GaugeFormat program_of(const ByteSource& source, const Coord& stored, double plaquette) {
  constexpr std::array<GaugeFormat, 2> formats = {GaugeFormat::openqcd, GaugeFormat::ddalphaamg};
  const std::array<PayloadLayout, 2> layouts = {layout_of(formats[0], stored), layout_of(formats[1], stored)};
  const std::int64_t sites = volume(stored);
  constexpr std::int64_t most_sites = 1 << 16;
  std::array<double, 2> mean{}, distance{};
  for (std::int64_t goal = 64; goal <= most_sites; goal *= 4) {
    const std::int64_t sample = std::min(goal, sites);
    mean = {};
    for (std::int64_t i = 0; i < sample; ++i) {
      // The factor is prime: no site comes twice, and a sample is spread over the lattice.
      const std::int64_t site = i * 2654435761 % sites;
      for (std::size_t k = 0; k < 2; ++k) mean[k] += plaquettes_at(source, layouts[k], coordinates(site, layouts[k].extents));
    }
    const double count = 6.0 * static_cast<double>(sample);
    for (std::size_t k = 0; k < 2; ++k) {
      mean[k] /= count;
      distance[k] = std::abs(mean[k] - plaquette);
    }
    if (!std::isfinite(distance[0])) return formats[0];  // whoever reads all links names the one that is not finite
    // The plaquette of unrelated links is 0 with a standard deviation of 0.24; those of other fields vary less.
    const double noise = 6 * 0.24 / std::sqrt(count);
    for (std::size_t k = 0; k < 2; ++k) {
      const double other = distance[1 - k];
      if (sample == sites ? distance[k] <= rounding : distance[k] <= noise && other > noise) return formats[k];
    }
    if (sample == sites) break;
    // Links without any order on a large lattice; whoever reads them all compares their plaquette.
    if (goal == most_sites && distance[0] <= noise) return formats[0];
  }
  throw Error(ErrorKind::input, at_offset(source, plaquette_offset),
              fmt::format("the links have plaquette {:.12f} in openQCD's order and {:.12f} in DDalphaAMG's, the header states {:.12f}",
                          mean[0], mean[1], plaquette),
              "the file is damaged or of another format");
}

}  // namespace

bool may_be_openqcd(std::span<const std::byte> first_bytes) {
  if (first_bytes.size() < plaquette_offset) return false;
  constexpr std::int64_t largest = 1 << 16;
  for (const std::int64_t extent : stored_extents(first_bytes)) {
    if (extent < 1 || extent > largest) return false;
  }
  return true;
}

GaugeFileInfo parse_openqcd(const ByteSource& source) {
  std::array<std::byte, openqcd_header_bytes> header{};
  source.read(0, header);
  const Coord stored = checked_extents(at_offset(source, 0), stored_extents(header));
  for (const int extent : stored) {
    if (extent % 2 == 0) continue;
    throw Error(ErrorKind::input, at_offset(source, 0),
                fmt::format("lattices of openQCD and DDalphaAMG have even extents (extents = {})", describe(stored)),
                "the file is damaged or of another format");
  }
  check_payload_length(source, layout_of(GaugeFormat::openqcd, stored));
  const auto plaquette = load<double>(header.data() + plaquette_offset, ByteOrder::little);
  // |Re tr U| <= 3 for a unitary matrix.
  if (!(std::abs(plaquette) <= 3.0)) {
    throw Error(ErrorKind::input, at_offset(source, plaquette_offset),
                fmt::format("the stored plaquette is not in -3..3 (plaquette = {})", plaquette),
                "the file is damaged or of another format");
  }
  GaugeFileInfo info;
  info.path = source.name();
  info.format = program_of(source, stored, plaquette / 3.0);
  info.layout = layout_of(info.format, stored);
  info.plaquette = StoredObservable{plaquette / 3.0, rounding};
  info.header.emplace_back("plaquette", fmt::format("{:.17g}", plaquette));
  info.notes.push_back(fmt::format("links in {}'s order, by the plaquette; no checksum is stored", to_string(info.format)));
  return info;
}

}  // namespace quarkstar::format
