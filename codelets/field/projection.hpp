#pragma once
// What the projection onto many vectors takes: their products with some others, in whole numbers, and their sums.
#include "codelets/field/field.hpp"
#include "codelets/field/projection_kernels.hpp"
#include "runtime/graph/scalar.hpp"

#include <vector>

namespace quarkstar::blas {

// Fields are of one lattice in double precision, parity and kind, without vectors in lanes; else ShapeError.

/// Many vectors a_i, in fields with room for as many each, at most tile_vectors: `count` of them, one field after the other. 1 to
/// most_tiles fields.
struct VectorsInTiles {
  std::vector<const Field*> fields;
  int count;
};

/// scale_of_rounding() of each vector, or from the sums of blas::Magnitudes of n of them. Waits for the tasks before it.
std::vector<double> scales_of(const Field& x);
std::vector<double> scales_of(const runtime::PartialSums& magnitudes, int n);

// All else submits and does not wait.

/// scales: doubles, the same. sums: where the 2 x.vectors() sums go that they are made of.
void submit_scales(const runtime::Handle& scales, const Field& x, const runtime::PartialSums& sums);

/// sum_k rint(a_i s_i)_k^* rint(b_v s_v)_k for all i and v, s: scales of the vectors, rint: the nearest whole numbers of real and imaginary
/// part. 2 (i m + v) is the real part and 2 (i m + v) + 1 the imaginary one, of m vectors in b. Products and sums are exact; divided by
/// s_i s_v they are <a_i, b_v> but for an error of some 5e-7 / sqrt(n) of |a_i| |b_v|, vectors of n reals, where one of them is as good as
/// random (n = 3072: up to 8e-8), and up to 2^-19 where both are smooth. modes: doubles that begin with the scales of a. 8 operations per
/// site, component and pair; the tiles pass through memory once. On a GPU tensor cores take nine products of 8 bits for each, in less time
/// than reading the tiles.
void rounded_products(const VectorsInTiles& a, const runtime::Handle& modes, const Field& b, const runtime::Handle& scales,
                      const runtime::PartialSums& partials);

/// c_iv = <a_i, b_v> / (values_i + shifts_v), row-major complex numbers, from the sums of rounded_products(). modes: scales of a, `count`
/// of them, and behind them their values. vectors: of c; b has as many, or one that serves for all.
void submit_coefficients(const runtime::Handle& coefficients, const runtime::PartialSums& partials, const runtime::Handle& modes, int count,
                         const runtime::Handle& scales, int b_vectors, int vectors, const PerVector& shifts, int owner);

/// out_v = base_v + sum_i a_i c_iv, the sum in the order of i; without base: the sum alone. 8 flop per site, component and pair; the tiles
/// pass through memory once. On a GPU: tensor cores in double precision, with the bits of multiply-adds one after the other.
void combine(const Field& out, const Field* base, const VectorsInTiles& a, const runtime::Handle& coefficients);

}  // namespace quarkstar::blas
