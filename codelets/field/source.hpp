#pragma once
// Sources of a propagator: where its columns start.
#include "codelets/field/host_field.hpp"
#include "codelets/field/quark_smearing.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quarkstar {

/// A number at each site of one time slice, for one spin and colour at a time (not gauge fixed):
/// point: 1 at one site; wall: exp(i p.x), p = 2 pi n / L; corner_wall: 1 where x, y and z are even, the corners of staggered hypercubes;
/// z2: +1 or -1 at random; random: complex normal numbers of variance 1. Noise belongs to (seed, site): it is the same on any machine.
/// A point may be smeared: then there is a colour vector at each site, which depends on the links.
struct Source {
  enum class Kind { point, wall, corner_wall, z2, random };
  Kind kind = Kind::point;
  Coord position{0, 0, 0, 0};                  ///< only of a point the spatial coordinates are used
  std::uint64_t seed = 1;                      ///< of z2 and random
  std::array<int, 3> momentum{};               ///< n of a wall
  std::optional<QuarkSmearing> smearing = {};  ///< of a point

  int time() const { return position[3]; }
  friend bool operator==(const Source&, const Source&) = default;
};

/// How a source on a time slice is written.
struct SliceSource {
  std::string_view name;
  Source::Kind kind;
  bool has_seed, has_momentum;
};
inline constexpr std::array<SliceSource, 4> slice_sources{{{"wall", Source::Kind::wall, false, true},
                                                           {"corner-wall", Source::Kind::corner_wall, false, false},
                                                           {"z2", Source::Kind::z2, true, false},
                                                           {"random", Source::Kind::random, true, false}}};
/// "point:x,y,z,t", "wall:t", with momentum "wall:t,nx,ny,nz", "corner-wall:t", "z2:t,seed", "random:t,seed", of a smeared point
/// "gaussian:x,y,z,t,sigma,steps" or "wuppertal:x,y,z,t,alpha,steps", with APE-smeared links and ",alpha,steps" of these.
std::string text_of(const Source& source);
/// The same without place and seed: "point", "wall", "wall:1,0,0", "z2", "gaussian:2,10".
std::string kind_of(const Source& source);

/// Throws Error(input) naming `source` if the source lies outside of the lattice.
void check_source(const Source& source, const Coord& extents);

/// The number at a site (lexicographic) of the source, of a smeared one of the point that it begins with.
std::complex<double> source_at(const Source& source, std::int64_t site, const Coord& extents);

/// set(site in the part, number) for the part's sites of the source's time slice.
template <class Set>
void for_source_sites(const Source& source, const Coord& lattice, const Box& part, Set&& set) {
  const int slice = source.time() - part.origin[3];
  if (slice < 0 || slice >= part.extents[3]) return;
  const std::int64_t sites = volume(part.extents) / part.extents[3];
  for (std::int64_t site = sites * slice; site < sites * (slice + 1); ++site)
    set(site, source_at(source, lexicographic(site_of(part, site), lattice), lattice));
}

/// The part in a box of the lattice of a vector of so many components per site, zero but for component `column` (3 spin + colour; the
/// colour) at the source's sites. Throws as check_source(), and Error(input) naming `source` for a smeared one, which needs links.
HostField make_source(const Source& source, int components, const Coord& lattice, const Box& part, int column);
/// The whole field.
inline HostField make_source(const Source& source, int components, const Coord& lattice, int column) {
  return make_source(source, components, lattice, {{}, lattice}, column);
}

}  // namespace quarkstar
