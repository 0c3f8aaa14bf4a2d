#pragma once
// What is said of a correlator beside how it is computed.
#include "codelets/field/source.hpp"
#include "runtime/gpu/host_device.hpp"

#include <array>
#include <span>
#include <string_view>

namespace quarkstar::contract {

/// Momentum in units of 2 pi / L of each direction of space.
using Momentum = std::array<int, 3>;

/// Components of the columns that a family takes: Family::components where it says so, else those of whole propagators.
template <class Family>
inline constexpr int components_of = [] {
  if constexpr (requires { Family::components; }) return Family::components;
  else return Family::columns % spinor_components == 0 ? spinor_components : colour_components;
}();

/// A site's columns from number `First` on: of two propagators the second.
template <int First, class Columns>
struct ColumnsFrom {
  const Columns& all;
  QUARKSTAR_HD auto operator()(int column, int component) const { return all(First + column, component); }
};

/// One two-point function C(p, t) = sum_x exp(-i p.(x - x0)) c(x, t), x0 the point of a point source, else the origin, of those that a
/// family computes together.
struct Channel {
  std::string_view name;
  std::string_view group = {};            ///< a word that stands for it and others
  int reflection = 1;                     ///< C(T - t) = reflection C(t) on the average over configurations; 0: the two are not related
  bool usual = false;                     ///< computed where nothing else is asked for
  bool baryon = false;                    ///< three quarks: where it crosses time's boundary it gets the boundary's phase thrice
  bool (*fits)(const Source&) = nullptr;  ///< sources from which it has a meaning; nullptr: all
  std::string_view misfit = {};           ///< what is said of the others
};

}  // namespace quarkstar::contract
