#pragma once
// Sources of a propagator: where its columns start.
#include "codelets/lattice/host_spinor.hpp"

#include <string>
#include <string_view>

namespace quarkstar::app {

/// point: 1 at one site; wall: 1 at every site of a time slice (not gauge fixed); for one spin and colour at a time.
struct Source {
  enum class Kind { point, wall };
  Kind kind = Kind::point;
  Coord position{0, 0, 0, 0};  ///< wall: only the time is used

  int time() const { return position[3]; }
};

/// "point:x,y,z,t" or "wall:t". Throws BadValue.
Source parse_source(std::string_view text);
std::string text_of(const Source& source);

/// Throws Error(input) naming --source if the source lies outside of the lattice.
void check_source(const Source& source, const Coord& extents);

/// The part of the field in a box of the lattice, for column = 3 spin + colour, zero but for that component at the source's sites.
HostSpinor make_source(const Source& source, const Box& part, int column);
/// The whole field.
inline HostSpinor make_source(const Source& source, const Coord& extents, int column) { return make_source(source, Box{{}, extents}, column); }

}  // namespace quarkstar::app
