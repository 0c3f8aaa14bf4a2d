#pragma once
// How quark fields are smeared in space: of sources before, of sinks after a solve.
#include <optional>
#include <string>
#include <vector>

namespace quarkstar {

/// psi <- [1 + w Lap]^steps psi on every time slice, Lap = sum over x, y, z of (forward hop + backward hop) - 6, with the links of the
/// configuration, periodic, or with them APE-smeared in space. Source: S. Guesken, Nucl. Phys. B (Proc. Suppl.) 17 (1990) 361;
/// docs/conventions.md.
struct QuarkSmearing {
  /// Which number gives w: gaussian: the width sigma of the Gaussian that it becomes, w = sigma^2 / (4 steps); wuppertal: the alpha of psi
  /// <- (psi + alpha hops) / (1 + 6 alpha), w = alpha / (1 + 6 alpha).
  enum class Form { gaussian, wuppertal };
  Form form = Form::gaussian;
  double number = 0;
  int steps = 0;
  double ape = 0;  ///< alpha of U <- Proj[(1 - alpha) U + alpha / 4 sum of the four spatial staples]
  int ape_steps = 0;

  /// w.
  double weight() const { return form == Form::gaussian ? number * number / (4.0 * steps) : number / (1 + 6 * number); }
  friend bool operator==(const QuarkSmearing&, const QuarkSmearing&) = default;
};

/// "gaussian" or "wuppertal".
std::string_view name_of(QuarkSmearing::Form form);
/// "2,10" or, with APE-smeared links, "2,10,0.6,3".
std::string numbers_of(const QuarkSmearing& smearing);

/// What is done to solutions before they are contracted: nothing (a point), or smearing.
using Sink = std::optional<QuarkSmearing>;
/// "point", "gaussian:2,10", "wuppertal:0.2,20,0.6,3".
std::string text_of(const Sink& sink);

/// Those of the sinks that smear, each once.
std::vector<QuarkSmearing> smearings_of(const std::vector<Sink>& sinks);

}  // namespace quarkstar
