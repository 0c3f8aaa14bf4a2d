#pragma once
// Hadrons whose quarks end at a fixed time, and the sequential sources of their three-point functions.
#include "codelets/contract/correlators.hpp"
#include "codelets/contract/wick.hpp"
#include "codelets/field/field.hpp"

#include <array>
#include <complex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::contract {

/// A hadron and the quark on which a current acts. pion: g_5 at both ends, C = sum |S|^2, and a current on the quark. proton_u, proton_d
/// and so on: a channel of octet.hpp, and a current on the two u quarks or on the d quark.
struct Hadron {
  std::string_view name;    ///< in settings
  std::string_view family;  ///< of its two-point function, which an action must have
  Wick wick;
  std::array<std::array<std::complex<double>, 4>, 4> projector;  ///< T
};
const std::vector<Hadron>& hadrons();

/// A hadron that ends `separation` time slices behind the source with momentum p, in units of 2 pi / L.
struct HadronSink {
  const Hadron* hadron;
  int separation;
  Momentum momentum{};
  friend bool operator==(const HadronSink&, const HadronSink&) = default;
};
/// "pion:8", "proton_u:8,1,0,0".
std::string text_of(const HadronSink& sink);

/// Throws Error(input) naming `three-points` where the sink is not between the source and its next image in time.
void check_sink(const HadronSink& sink, const Coord& lattice);

/// Submits tasks that write b, the right-hand sides of a sequential propagator G = M^-1 b,
///   b(x) = g_5 (dC/dS(x))^+ exp(i p.(x - x0)) where x is on the sink's time slice, else 0,
/// with which sum_y tr[G^+(y) g_5 Gamma S(y)] is the three-point function of Gamma at y, where M(x, y) = g_5 M^+(y, x) g_5; S: the
/// propagator's columns, c = 3 spin + colour. x0 as for Contraction. Both of twelve spinors in double precision, on lattices of one
/// decomposition. Same bits for every cut, device and layout. Cost: on the sink's time slice at most 180 kflop per site. Throws ShapeError
/// for other fields. Source: docs/conventions.md, section 12.
void write_sequential(const FullField& b, const FullField& propagator, const HadronSink& sink, const Source& source);

/// Submits tasks that write vector i of `to` <- vectors[i] of `from` on the sites of the parity of `to`. Spinors in double precision, on
/// lattices of one decomposition. Throws ShapeError for others.
void copy_vectors(const Field& to, const FullField& from, std::span<const int> vectors);

}  // namespace quarkstar::contract
