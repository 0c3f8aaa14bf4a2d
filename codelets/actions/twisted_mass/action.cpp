#include "codelets/actions/twisted_mass/action.hpp"

#include "codelets/actions/twisted_mass/hopping.hpp"
#include "codelets/actions/wilson/even_odd_with_term.hpp"
#include "codelets/actions/wilson/prepared_action.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace quarkstar::twisted_mass {
namespace {

class PreparedAction : public wilson::PreparedAction {
 public:
  PreparedAction(const runtime::Decomposition& decomposition, const HostGauge& gauge, const WilsonParameters& parameters, double mu,
                 const ActionRequest& request, double resident)
      : wilson::PreparedAction(decomposition, gauge, parameters, request, resident), mu_(mu) {}

  /// S = a (1 + i t gamma_5), S^-1 = (1 - i t gamma_5) / (a (1 + t^2)), t = 2 kappa mu.
  std::unique_ptr<EvenOdd> system(int vectors, const PerVector& kappa, std::optional<int> parity) override {
    require_odd(parity);
    wilson::SiteMatrix matrix, inverse;
    wilson::SiteTerm term;
    PerVector h{};
    for (std::size_t v = 0; v < static_cast<std::size_t>(vectors); ++v) {
      const auto [a, of_hops, _, __] = wilson::EvenOdd::coefficients(kappa[v], parameters_.normalisation, schur_);
      const double t = 2 * kappa[v] * mu_, t2 = 1 + t * t;
      h[v] = of_hops;
      matrix.factor[v] = a;
      inverse.factor[v] = 1 / (a * t2);
      matrix.numbers[v] = inverse.adjoint_numbers[v] = t;
      inverse.numbers[v] = matrix.adjoint_numbers[v] = -t;
      term.norm[v] = a * std::sqrt(t2);
    }
    term.matrix = {matrix, matrix};
    term.inverse = {inverse, inverse};
    return std::make_unique<wilson::EvenOddWithTerm>(static_cast<wilson::Hopping&>(stencil(vectors)), h, term, schur_);
  }

 private:
  std::unique_ptr<stencil::Stencil> make_stencil(int vectors) override { return hopping(even_, odd_, vectors); }
  double mu_;
};

}  // namespace

void Action::check(const runtime::Decomposition& decomposition, const ActionRequest& request) const {
  wilson::Action::check(decomposition, request);
  if (!std::isfinite(mu_)) throw Error(ErrorKind::input, "mu", fmt::format("a twisted mass of {}", mu_), "give a number, e.g. 0.1");
  if (request.schwarz) throw Error(ErrorKind::input, "schwarz-block", "twisted mass has no Schwarz preconditioner", "leave it out");
}

std::unique_ptr<quarkstar::PreparedAction> Action::make(const runtime::Decomposition& decomposition, const ActionRequest& request,
                                                        double resident) const {
  return std::make_unique<PreparedAction>(decomposition, gauge_, parameters_, mu_, request, resident);
}

}  // namespace quarkstar::twisted_mass
