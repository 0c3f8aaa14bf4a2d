#include "apps/source.hpp"

#include "apps/parse.hpp"
#include "runtime/error.hpp"

#include <fmt/format.h>

namespace quarkstar::app {

Source parse_source(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view place = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (kind == "point" && !place.empty()) return {Source::Kind::point, parse_coord(place, 0)};
  if (kind == "wall" && !place.empty()) return {Source::Kind::wall, {0, 0, 0, parse_integer(place, 0)}};
  throw BadValue(fmt::format("'{}' is no source", text), "use point:x,y,z,t or wall:t, such as point:0,0,0,0");
}

std::string text_of(const Source& source) {
  return source.kind == Source::Kind::point ? "point:" + text_of(source.position)
                                            : fmt::format("wall:{}", source.time());
}

void check_source(const Source& source, const Coord& extents) {
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (source.position[mu] >= extents[mu])
      throw Error(ErrorKind::input, "--source",
                  fmt::format("{} lies outside of the {}x{}x{}x{} lattice", text_of(source), extents[0], extents[1],
                              extents[2], extents[3]),
                  fmt::format("use coordinates below {}", text_of(extents)));
}

HostSpinor make_source(const Source& source, const Box& part, int column) {
  HostSpinor field(part);
  const int spin = column / 3, colour = column % 3;
  Coord inside{};
  for (int mu = 0; mu < 4; ++mu) {
    const bool everywhere = source.kind == Source::Kind::wall && mu < 3;
    inside[mu] = everywhere ? 0 : source.position[mu] - part.origin[mu];
    if (inside[mu] < 0 || inside[mu] >= part.extents[mu]) return field;
  }
  const std::int64_t first = lexicographic(inside, part.extents);
  const std::int64_t count = source.kind == Source::Kind::wall ? volume(part.extents) / part.extents[3] : 1;
  for (std::int64_t site = first; site < first + count; ++site) field.at(site, spin, colour) = 1;
  return field;
}

}  // namespace quarkstar::app
