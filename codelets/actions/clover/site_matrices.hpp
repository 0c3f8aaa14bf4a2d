#pragma once
// The (twisted) clover term of an action on the sites of a lattice, and its inverse.
#include "codelets/actions/clover/packed.hpp"
#include "codelets/actions/clover/term.hpp"
#include "codelets/actions/wilson/even_odd_with_term.hpp"
#include "codelets/field/site_field.hpp"

#include <array>
#include <optional>

namespace quarkstar::clover {

/// S = A + i m gamma_5, A = a - c C: kappa normalisation a = 1, c = kappa csw, m = 2 kappa mu; mass normalisation a = m0 + 4 (anisotropic:
/// as wilson::EvenOdd), c = csw / 2, m = mu.
struct Coefficients {
  double a, c, m = 0;
};

/// Stored: A on both parities; with m = 0 A^-1, else (A^2 + m^2)^-1, of which S^-1 = (A - i m gamma_5) (A^2 + m^2)^-1. Two packed blocks of
/// 36 reals per site each (packed.hpp), in half precision with a unit per block. Inverses are computed in double precision and rounded.
class SiteMatrices {
 public:
  /// Submits tasks and waits for them. inverse_on_odd: whether the inverse is needed there too. Collective. Throws Error(input) where S is
  /// singular on a site.
  SiteMatrices(const LatticePointer& lattice, const HostTerm& term, const Coefficients& coefficients, bool inverse_on_odd);

  /// As an EvenOddWithTerm wants it, for any number of vectors.
  wilson::SiteTerm site_term() const;

  /// sum over the sites of one parity of log |det S|: where det S is positive, tr log A of docs/conventions.md, section 3. The parity must
  /// have an inverse. The same bits for every cut and number of ranks.
  double log_det(int parity) const { return log_det_[static_cast<std::size_t>(parity)]; }

  /// Bytes per site.
  static double bytes_per_site(Precision precision, bool inverse_on_odd) {
    return (inverse_on_odd ? 2.0 : 1.5) * 2 * static_cast<double>(site_bytes(precision, block_reals));
  }

 private:
  Coefficients coefficients_;
  double norm_;
  std::array<SiteField, 2> matrix_;
  std::array<std::optional<SiteField>, 2> inverse_;
  std::array<double, 2> log_det_{};
};

}  // namespace quarkstar::clover
