#pragma once
// The contract between the contraction codelets and the kernels of every architecture.
#include "codelets/arch/dispatch.hpp"
#include "codelets/contract/families.hpp"
#include "codelets/field/host_field.hpp"
#include "codelets/field/storage.hpp"
#include "codelets/lattice/block_shape.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <cstddef>
#include <cstdint>

namespace quarkstar {
namespace contract {

inline constexpr int most_channels = 32, most_columns = 2 * spinor_components;

/// exp(-2 pi i n_mu (x_mu - x0_mu) / L_mu) for all coordinates of the three directions of space, one momentum after the other; before them
/// 1 where the momentum is zero, else 0. Made once, on the host, by portable functions: the same bits everywhere.
struct PhaseTable {
  static QUARKSTAR_HD int doubles(const Coord& lattice) { return 1 + 2 * (lattice[0] + lattice[1] + lattice[2]); }
};

/// Where the columns of a propagator lie in a block, and what is asked of them. Distances in doubles.
struct Arguments {
  const double* field[2];  ///< of either parity, double precision, in the layout of Field
  const double* phases;    ///< PhaseTable of every momentum
  BlockShape shape;
  Coord origin, lattice;  ///< of the block's first site; extents
  Coord source;           ///< x0 and its time slice
  std::ptrdiff_t site;    ///< to the next outer site
  int component, imaginary, lane;
  int column[most_columns];  ///< to each column
  int lanes;                 ///< of sites
  int momenta, channels;
  std::uint8_t channel[most_channels];

  /// Sums of one time slice: [momentum][channel][re, im].
  QUARKSTAR_HD int slice_sums() const { return 2 * momenta * channels; }

  /// The time slice of the block in which a lane of an outer site with this time lies.
  QUARKSTAR_HD int slice_of(int outer_time, int its_lane) const {
    return outer_time + ((shape.stride[3] & its_lane) != 0 ? shape.outer[3] : 0);
  }

  /// First double of an outer site, whose coordinates in the outer lattice are `at`.
  QUARKSTAR_HD const double* site_at(const Coord& at) const {
    const int parity = (parity_of(at) + shape.origin_parity) & 1;
    return field[parity] + static_cast<std::ptrdiff_t>(shape.outer_index(at)) * site;
  }
  /// Coordinates from the source of lane 0 there.
  QUARKSTAR_HD Coord from_source(const Coord& at) const {
    Coord x{};
    for (int mu = 0; mu < 4; ++mu) x[mu] = origin[mu] + at[mu] - source[mu];
    return x;
  }
  /// The phase of one coordinate of a lane.
  QUARKSTAR_HD const double* phase_at(const double* table, const Coord& at, int its_lane, int mu) const {
    int x = origin[mu] + at[mu] + ((shape.stride[mu] & its_lane) != 0 ? shape.outer[mu] : 0);
    for (int nu = 0; nu < mu; ++nu) x += lattice[nu];
    return table + 1 + 2 * x;
  }
};

/// Component `number` of a column at a site, through Loads.
template <class V, class Loads = site::PlainLoads>
struct SiteColumns {
  const Arguments& a;
  const double* p;  ///< the site's first double, for the first lane of V
  QUARKSTAR_HD site::Complex<V> operator()(int column, int number) const {
    const double* re = p + a.column[column] + number * a.component;
    return {Loads::template real<V>(re), Loads::template real<V>(re + a.imaginary)};
  }
};

/// add(index within the slice, summand) for what one site, or a pack of them, contributes to each sum of its time slice that is not zero by
/// definition. phase(table, mu): of the site's coordinate mu.
template <class Family, class V, class Phase, class Add>
QUARKSTAR_HD void for_summands(const Arguments& a, const V* values, int first, int count, Phase&& phase, Add&& add) {
  for (int m = first; m < first + count; ++m) {
    const double* table = a.phases + m * PhaseTable::doubles(a.lattice);
    const int at = 2 * (m - first) * a.channels;
    if (*table != 0) {
      for (int c = 0; c < a.channels; ++c)
        for (int i = 0; i < Family::reals; ++i) add(at + 2 * c + i, values[a.channel[c] * Family::reals + i]);
      continue;
    }
    const site::Complex<V> e = multiply(multiply(phase(table, 0), phase(table, 1)), phase(table, 2));
    for (int c = 0; c < a.channels; ++c) {
      const V re = values[a.channel[c] * Family::reals];
      site::Complex<V> product{re * e.re, re * e.im};
      if constexpr (Family::reals == 2) product = multiply(site::Complex<V>{re, values[a.channel[c] * 2 + 1]}, e);
      add(at + 2 * c, product.re);
      add(at + 2 * c + 1, product.im);
    }
  }
}

/// Over sites [begin, end) of the outer lattice, lexicographic; merges the sums of the block's time slices, slice_sums() of each.
using Kernel = void (*)(const Arguments& arguments, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums);

}  // namespace contract

#define QUARKSTAR_DECLARE_CONTRACT(architecture) \
  namespace architecture {                       \
  template <class Family>                        \
  contract::Kernel contract_kernel(int lanes);   \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_CONTRACT)
#undef QUARKSTAR_DECLARE_CONTRACT

}  // namespace quarkstar
