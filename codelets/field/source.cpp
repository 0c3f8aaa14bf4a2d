#include "codelets/field/source.hpp"

#include "codelets/lattice/portable.hpp"
#include "codelets/lattice/random.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

namespace quarkstar {
namespace {

bool has_momentum(const Source& source) { return source.momentum != std::array<int, 3>{}; }

/// exp(i p.x), each direction's angle reduced to a turn: the same bits everywhere.
std::complex<double> plane_wave(const std::array<int, 3>& n, const Coord& x, const Coord& extents) {
  std::complex<double> wave = 1;
  for (std::size_t mu = 0; mu < 3; ++mu) {
    if (n[mu] == 0) continue;
    const std::int64_t turns = std::int64_t{n[mu]} * x[mu] % extents[mu];
    const auto [sine, cosine] = portable::sine_cosine_of_turns(static_cast<double>(turns) / extents[mu]);
    wave = {wave.real() * cosine - wave.imag() * sine, wave.real() * sine + wave.imag() * cosine};
  }
  return wave;
}

}  // namespace

std::string text_of(const Source& source) {
  for (const SliceSource& slice : slice_sources)
    if (source.kind == slice.kind)
      return fmt::format("{}:{}{}{}", slice.name, source.time(), slice.has_seed ? fmt::format(",{}", source.seed) : "",
                         has_momentum(source) ? fmt::format(",{}", fmt::join(source.momentum, ",")) : "");
  const std::string place = fmt::format("{}", fmt::join(source.position, ","));
  if (!source.smearing) return "point:" + place;
  return fmt::format("{}:{},{}", name_of(source.smearing->form), place, numbers_of(*source.smearing));
}

std::string kind_of(const Source& source) {
  if (source.smearing) return text_of(Sink(source.smearing));
  const std::string text = text_of(source);
  const std::string name = text.substr(0, text.find(':'));
  return has_momentum(source) ? fmt::format("{}:{}", name, fmt::join(source.momentum, ",")) : name;
}

void check_source(const Source& source, const Coord& extents) {
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (source.position[mu] >= extents[mu])
      throw Error(
          ErrorKind::input, Parameter("source"),
          fmt::format("{} lies outside of the {}x{}x{}x{} lattice", text_of(source), extents[0], extents[1], extents[2], extents[3]),
          fmt::format("use coordinates below {}", fmt::join(extents, ",")));
}

std::complex<double> source_at(const Source& source, std::int64_t site, const Coord& extents) {
  const Coord x = coordinates(site, extents);
  if (x[3] != source.time()) return 0;
  RandomStream noise(source.seed, RandomPurpose::noise_source, site, 0);
  switch (source.kind) {
    case Source::Kind::point:
      return x == source.position ? 1 : 0;
    case Source::Kind::wall:
      return plane_wave(source.momentum, x, extents);
    case Source::Kind::corner_wall:
      return x[0] % 2 == 0 && x[1] % 2 == 0 && x[2] % 2 == 0 ? 1 : 0;
    case Source::Kind::z2:
      return noise.words()[0] >> 63 != 0 ? 1 : -1;
    case Source::Kind::random: {
      const std::array<double, 4> normal = noise.gaussians();
      return std::complex<double>(normal[0], normal[1]) * std::sqrt(0.5);
    }
  }
  return 0;
}

HostField make_source(const Source& source, int components, const Coord& lattice, const Box& part, int column) {
  check_source(source, lattice);
  if (source.smearing)
    throw Error(ErrorKind::input, Parameter("source"), fmt::format("{} needs the links of a configuration", text_of(source)),
                "smear by `quarkstar solve`, or use another source here");
  HostField field(components, part);
  for_source_sites(source, lattice, part, [&](std::int64_t site, std::complex<double> value) { field.at(site, column) = value; });
  return field;
}

}  // namespace quarkstar
