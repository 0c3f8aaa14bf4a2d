#pragma once
// Links as rows, or as the 8 numbers of an SU(3) matrix: Wilson's and those of all actions on its hops.
#include "codelets/field/write_link.hpp"

namespace quarkstar::transfer {

/// Of each direction mu factors[mu] times the link, the same at both of its ends.
struct RowForm {
  static constexpr bool on_cpus_alone = false;
  int reals;  ///< 18 or 12
  double factors[4];

  template <class F>
  QUARKSTAR_HD void write(F* words, const double* link, int mu, bool /*forward*/) const {
    double scaled[18];
    for (int i = 0; i < 18; ++i) scaled[i] = factors[mu] * link[i];
    write_rows(words, scaled, reals, 1);
  }
  template <class F>
  QUARKSTAR_HD void copy(F* words, const double* stored) const {
    write_rows(words, stored, reals, 1);
  }
};

/// 8 reals.
struct CompactForm {
  static constexpr bool on_cpus_alone = true;
  int reals = 8;

  template <class F>
  void write(F* words, const double* link, int /*mu*/, bool /*forward*/) const {
    write_link(words, link, 8, 1);
  }
};

}  // namespace quarkstar::transfer
