#pragma once
// What a sequential source is at one site: one body for CPUs and GPUs.
#include "codelets/arch/items.hpp"
#include "codelets/contract/baryon_site.hpp"
#include "codelets/contract/wick.hpp"
#include "codelets/field/convert_site.hpp"
#include "codelets/field/host_field.hpp"
#include "codelets/field/vector_status.hpp"
#include "codelets/field/word_place.hpp"
#include "codelets/lattice/block_shape.hpp"

namespace quarkstar::contract {

/// Columns of a sequential source in one block, on one parity.
struct SequentialTask {
  BlockShape to, from;
  VectorPlaces to_places, from_places;
  Coord origin, lattice;     ///< of the block's first site; extents
  int parity, time;          ///< time: of the sink, from the block's first site; any other number: not here
  Wick wick;                 ///< which derivative
  int column[most_vectors];  ///< of each vector: 3 spin + colour of the propagator's source
  double projector[4][4][2];
};

using SequentialNumber = site::Complex<double>;

/// S at one site: component 3 spin + colour of a column.
struct SitePropagator {
  const double* field;
  const SequentialTask& task;
  SitePosition at;
  QUARKSTAR_HD SequentialNumber operator()(int component, int column) const {
    const VectorPlaces& places = task.from_places;
    constexpr int reals = 2 * spinor_components;
    const double* group = field + places.group(reals, at.outer, column);
    const int chunk = places.chunked != 0 ? site::chunk_words<double>(reals) : 1, lane = places.lane_of(column, at.lane);
    return {group[site::word_place(2 * component, lane, places.width(), chunk)],
            group[site::word_place(2 * component + 1, lane, places.width(), chunk)]};
  }
};

/// i^power z.
QUARKSTAR_HD SequentialNumber turned(const SequentialNumber& z, int power) {
  switch (power % 4) {
    case 0:
      return z;
    case 1:
      return site::times_i<1>(z);
    case 2:
      return site::times_i<2>(z);
    default:
      return site::times_i<3>(z);
  }
}

/// out[3 spin + colour] = dC/dS(spin, colour; column), C = sum over colours k, k' of tr[T U^kk'] tr Q^k'k + tr[T U^kk' Q^k'k] with
/// Q^k'k(a, b) = eps_ijk eps_i'j'k' sum_r (D^ii' X)(r, a) (Y U^jj')(r, b), the correlator of a nucleon (octet.hpp); D = U = S. Of the quark
/// that is alone (Wick::one) with respect to D, of the two others (Wick::two) to both U. About 15 kflop a column.
QUARKSTAR_HD void differentiate_nucleon(const SitePropagator& s, const SequentialTask& task, int column, SequentialNumber* out) {
  constexpr Diquark gamma(charge_conjugation * spin_gamma5);
  constexpr SpinMatrix x = gamma.source, y = gamma.sink;
  const int spin = column / 3, colour = column % 3;
  const auto projector = [&](int row, int col) { return SequentialNumber{task.projector[row][col][0], task.projector[row][col][1]}; };
  // (T U)(row, col), (D X)(row, col) and (Y U)(row, col) of a sink's and a source's colour.
  const auto projected = [&](int row, int col, int c, int c1) {
    SequentialNumber sum{0, 0};
    for (int a = 0; a < 4; ++a) sum = multiply_add(projector(row, a), s(3 * a + c, 3 * col + c1), sum);
    return sum;
  };
  const auto before_x = [&](int row, int col, int c, int c1) {
    return turned(s(3 * row + c, 3 * (col ^ x.flip) + c1), x.power[col ^ x.flip]);
  };
  const auto behind_y = [&](int row, int col, int c, int c1) { return turned(s(3 * (row ^ y.flip) + c, 3 * col + c1), y.power[row]); };
  const auto trace_projected = [&](int c, int c1) {
    return projected(0, 0, c, c1) + projected(1, 1, c, c1) + projected(2, 2, c, c1) + projected(3, 3, c, c1);
  };
  for (int component = 0; component < spinor_components; ++component) out[component] = {0, 0};
  for (int here = 0; here < 3; ++here)
    for (int term = 0; term < 4; ++term) {
      // (here, second, third) and (colour, second1, third1), each cyclic or not.
      const int second = (here + 1 + (term & 1)) % 3, third = (here + 2 - (term & 1)) % 3, second1 = (colour + 1 + (term >> 1)) % 3,
                third1 = (colour + 2 - (term >> 1)) % 3;
      const double sign = term == 0 || term == 3 ? 1 : -1;
      if (task.wick == Wick::one) {
        // i, i' are open: X(spin, a) (tr[T U^kk'] Y U^jj' + Y U^jj' T U^kk')(r, a).
        const int a = spin ^ x.flip;
        const SequentialNumber trace = trace_projected(third, third1);
        SequentialNumber column_a[4];
        for (int b = 0; b < 4; ++b) column_a[b] = projected(b, a, third, third1);
        for (int r = 0; r < 4; ++r) {
          SequentialNumber sum = multiply(trace, behind_y(r, a, second, second1));
          for (int b = 0; b < 4; ++b) sum = multiply_add(behind_y(r, b, second, second1), column_a[b], sum);
          out[3 * r + here] = out[3 * r + here] + scaled(sign, turned(sum, x.power[spin]));
        }
        continue;
      }
      // j, j' are open, i second, k third: (tr[T U^kk'] P + T U^kk' P)(spin, r), P = (D^ii' X)^T Y. As (here, second, third) is (j, i, k),
      // the sign is the opposite, on both sides.
      const auto p = [&](int a, int r) { return turned(before_x(r ^ y.flip, a, second, second1), y.power[r ^ y.flip]); };
      const SequentialNumber trace = trace_projected(third, third1);
      SequentialNumber row[4];
      for (int a = 0; a < 4; ++a) row[a] = projected(spin, a, third, third1);
      // k, k' are open, i second, j third: (tr Q T + Q T)(spin, r).
      SequentialNumber trace_q{0, 0}, of_q[4];
      for (int b = 0; b < 4; ++b) {
        of_q[b] = {0, 0};
        for (int r = 0; r < 4; ++r) {
          of_q[b] = multiply_add(before_x(r, spin, second, second1), behind_y(r, b, third, third1), of_q[b]);
          trace_q = multiply_add(before_x(r, b, second, second1), behind_y(r, b, third, third1), trace_q);
        }
      }
      for (int r = 0; r < 4; ++r) {
        SequentialNumber sum = multiply_add(trace, p(spin, r), multiply(trace_q, projector(spin, r)));
        for (int a = 0; a < 4; ++a) sum = multiply_add(row[a], p(a, r), multiply_add(of_q[a], projector(a, r), sum));
        out[3 * r + here] = out[3 * r + here] + scaled(sign, sum);
      }
    }
}

/// Writes vector v of one lane: g_5 (dC/dS)^* exp(i p.(x - x0)) on the sink's time slice, or the column as it is. phases: PhaseTable of
/// -p.
struct WriteSequential {
  static constexpr const char* name = "contract.sequential";
  static constexpr auto kind = runtime::CodeletKind::vector;
  static std::int64_t items(const SequentialTask& task) {
    return VectorItem::items(task.to.outer_sites(), task.to_places.vectors, task.to_places.lanes);
  }
  QUARKSTAR_HD static void run(const SequentialTask& task, std::int64_t item, double* to, const double* from, const double* phases) {
    const auto [outer, v, lane] = VectorItem(item, task.to_places.vectors, task.to_places.lanes);
    const Coord x = task.to.local_site({task.parity, outer, lane});
    SequentialNumber out[spinor_components]{};
    const SitePropagator s{from, task, task.from.locate(x)};
    const int column = task.column[v];
    if (task.wick == Wick::copy) {
      for (int component = 0; component < spinor_components; ++component) out[component] = s(component, column);
    } else if (x[3] == task.time) {
      if (task.wick == Wick::meson)
        for (int component = 0; component < spinor_components; ++component) out[component] = conj(s(component, column));
      else differentiate_nucleon(s, task, column, out);
      SequentialNumber phase{1, 0};
      for (int mu = 0, first = 1; *phases == 0 && mu < 3; first += 2 * task.lattice[mu++]) {
        const double* of_site = phases + first + 2 * (task.origin[mu] + x[mu]);
        phase = multiply(phase, {of_site[0], of_site[1]});
      }
      for (int component = 0; component < spinor_components; ++component) {
        out[component] = multiply(conj(out[component]), phase);
        if (component >= spinor_components / 2) out[component] = site::times_i<2>(out[component]);  // g_5
      }
    }
    constexpr int reals = 2 * spinor_components;
    const VectorPlaces& places = task.to_places;
    double* group = to + places.group(reals, outer, v);
    const int chunk = places.chunked != 0 ? site::chunk_words<double>(reals) : 1, in = places.lane_of(v, lane);
    for (int component = 0; component < spinor_components; ++component) {
      group[site::word_place(2 * component, in, places.width(), chunk)] = out[component].re;
      group[site::word_place(2 * component + 1, in, places.width(), chunk)] = out[component].im;
    }
  }
};

}  // namespace quarkstar::contract
