#pragma once
// What the seed documents expect of memory: speeds from bytes, flops and bandwidth. Lattices are x, y, z, t; speeds GFLOP/s; bandwidths
// GB/s.
#include "runtime/cut/coord.hpp"

namespace quarkstar::app::model {

/// Of the 16 neighbours that a HISQ Dslash reads, those that a cache of so many bytes holds already, for one right-hand side in single
/// precision and sites of one parity in lexicographic order. A direction is complete (four neighbours, of the innermost three) where
/// the cache holds all sites of the directions inside it once more, half complete (two) where it holds four of the next smaller
/// slices. Seed 0, slide 16: 48 KiB hold 2048 vectors; 7 on 64^3 x 16, 9 on 32^3 x 8. 15 where everything fits.
int cached_neighbours(double cache_bytes, const Coord& lattice);

/// One iteration of even-odd CG with HISQ links for n right-hand sides in single precision, on half the sites: two Dslashes
/// (hisq_model.hpp), the sum of p and A p, the update of x and r with |r|^2, the update of p.
struct HisqCg {
  /// 2 x 1146 + 12 for the mass, 60 for the vectors; a site of one parity and right-hand side.
  static constexpr double flops = 2 * 1146 + 12 + 60;
  /// Vectors of 24 bytes that pass the memory besides the Dslashes': the mass term reads 1, p and A p 2, x and r 4 and 2 written, p 2
  /// and 1.
  static constexpr int vectors = 12;
  /// The kernels of an iteration.
  static constexpr int kernels = 5;

  static double bytes(int n, double cache_hits);
  /// Flop a byte.
  static double intensity(int n, double cache_hits);
};

/// GFLOP/s of that iteration: bytes over bandwidth, and `overhead_us` for each kernel.
double cg_speed(const Coord& lattice, int n, double cache_hits, double bandwidth, double overhead_us);

/// Wilson Dslash as seed 1, section 2.1, counts it: 1488 flop; 8 links and 9 spinors read, one spinor written.
struct SeedWilson {
  static constexpr double flops = 6 * (12 + 132 + 48) + 2 * (12 + 132 + 24);
  /// Bytes a flop: 2.0645 for 18 reals of 8 bytes.
  static double bytes_a_flop(int link_reals, int bytes_of_a_real);
};

/// Wilson Dslash as seed 2 and docs/conventions.md, section 8, count it: 1320 flop; 8 links and 8 spinors read, one written. In half
/// precision a spinor has 24 integers of 2 bytes and a scale of 4.
struct Wilson {
  static constexpr double flops = 1320;
  static double bytes(int link_reals, int bytes_of_a_real);
  static double intensity(int link_reals, int bytes_of_a_real) { return flops / bytes(link_reals, bytes_of_a_real); }
};

/// GFLOP/s of a Wilson Dslash on one parity of the lattice: bytes over bandwidth, and the overhead once.
double wilson_speed(const Coord& lattice, int link_reals, int bytes_of_a_real, double bandwidth, double overhead_us);

}  // namespace quarkstar::app::model
