#pragma once
// The links of a staggered operator on the task graph, ready to multiply.
#include "codelets/field/link_field.hpp"
#include "codelets/gauge/smear/staggered_links.hpp"
#include "runtime/system/team.hpp"

#include <memory>
#include <optional>

namespace quarkstar::staggered {

/// Stored reals that a long link can have.
inline constexpr int long_formats[] = {18, 14, 13, 9};

/// All links that touch the sites of one parity, at both of their ends: for each site the eight matrices that multiply
/// the neighbours one site away, and the eight for three sites away, in the order +x, -x, ..., -t. A backward link is
/// stored as what it multiplies with, minus the adjoint, so that every hop is alike. Fat links have 18 reals; long
/// links 18, 14, 13 or 9 (codelets/su3/long_link.hpp). In half precision all fat links are integers times one unit,
/// their largest component / 32767, and long links times |long_scale| / 32767.
struct Links {
  std::shared_ptr<LinkField> shared_fat;  ///< owns `fat`; actions that differ in the long links only share it
  LinkField& fat = *shared_fat;
  std::optional<LinkField> far;  ///< none: the naive operator
  double long_scale = 0;
  double fat_unit = 1, long_unit = 1;  ///< of stored links; 1 but in half precision

  /// Without values; long_reals 0: no long links. Throws Error(input) for another number than these and long_formats.
  Links(const LatticePointer& lattice, int parity, int long_reals);
  /// The fat links of `near`, and long ones of another form without values.
  Links(const Links& near, int long_reals);

  void without_far() {
    far.reset();
    long_scale = 0;
  }
  int long_reals() const { return far ? far->reals() : 0; }
};

/// Copies host links, which hold phases and coefficients (smear::StaggeredLinks), to those of both parities; returns when they are there,
/// and frozen. On several ranks each holds host links of its part and of hops into it, or of more, and in half precision all ranks call.
/// Throws ShapeError when a link is missing. Room for long links goes where there are none. On a GPU they come from host memory once.
void load(Links& even, Links& odd, const smear::StaggeredLinks& host);
/// The same bits from links of the same host links in double precision, with 18 reals, on the same blocks, from where they are. Fat links
/// that are shared with those stay. host: tells sizes, and whether there are long links.
void copy(Links& even, Links& odd, const Links& wide_even, const Links& wide_odd, const smear::StaggeredLinks& host);

/// How far long links stored as `long_reals` reals in double precision come back from what they are: the largest
/// component of the difference over |long_scale|, of both ends of every link that host holds; infinite where one does
/// not come back at all. host: with long links. Throws Error(input) for another long_reals than long_formats. Cost:
/// about 4 kflop per site. team: whose threads work.
double form_error(const smear::StaggeredLinks& host, int long_reals, const runtime::Team& team);

}  // namespace quarkstar::staggered
