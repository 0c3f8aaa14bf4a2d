#pragma once
// Which kernel of a hopping operator, how it is launched, and which sums it takes.
#include "codelets/arch/memory_access.hpp"
#include "runtime/gpu/host_device.hpp"

namespace quarkstar::stencil {

/// Sums that a kernel can take over its results on the way out, each for every vector: first all norms, then all real parts of dot
/// products, then all imaginary ones. In half precision of the numbers as computed, before they are rounded to what is stored.
struct OutputSums {
  bool norm = false;       ///< sum |out|^2
  bool dot = false;        ///< sum Re <y, out>
  bool imaginary = false;  ///< and sum Im <y, out>
  constexpr int count(int vectors) const { return ((norm ? 1 : 0) + (dot ? 1 : 0) + (imaginary ? 1 : 0)) * vectors; }
  /// x = the summands of a site that are wanted, in this order. Returns how many they are.
  template <class T>
  QUARKSTAR_HD int wanted(T of_norm, T re, T im, T (&x)[3]) const {
    x[0] = norm ? of_norm : re;
    x[1] = norm ? re : im;
    x[2] = im;
    return count(1);
  }
};

/// How a kernel is launched; no bit depends on it. 0: the GPU launcher's own choice.
struct Launch {
  int block_threads = 0;        ///< threads of a block at most: a kernel takes no more than it has registers for
  int vectors_a_thread = 0;     ///< right-hand sides for which a thread holds a link: 1, 2, 3, 4 or 8; Wilson: of a block
  arch::MemoryAccess memory{};  ///< of a CPU kernel
  friend bool operator==(const Launch&, const Launch&) = default;
};

/// Which instantiation: lanes of the block, stored reals of the links whose form can be chosen (0: none), +1 for D or -1 for its adjoint.
/// Interior and boundary sites share it: only hops whose table entry is flagged look further.
struct Choice {
  int lanes, link_reals, sign = 1;
  Launch launch{};
  int vectors_in_lanes = 1;  ///< then without lanes of sites
  bool chunked = false;      ///< Lattice::chunked()
  int forward_along = -1;    ///< hops forward along this direction alone; -1: all of D
};

}  // namespace quarkstar::stencil
