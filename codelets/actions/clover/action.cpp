#include "codelets/actions/clover/action.hpp"

#include "codelets/actions/clover/prepared_action.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace quarkstar::clover {
namespace {

Coefficients coefficients(const WilsonParameters& parameters, const Parameters& clover) {
  const bool by_kappa = parameters.normalisation == WilsonParameters::Normalisation::kappa;
  const double kappa = parameters.kappa, unit = by_kappa ? 1 : 1 / (2 * kappa);
  return {unit, unit * kappa * clover.csw, unit * 2 * kappa * clover.mu};
}

}  // namespace

PreparedAction::PreparedAction(const runtime::Decomposition& decomposition, const HostGauge& gauge, const WilsonParameters& parameters,
                               const Parameters& clover, const HostTerm& term, const ActionRequest& request, double resident)
    : wilson::PreparedAction(decomposition, gauge, parameters, request,
                             resident + SiteMatrices::bytes_per_site(request.precision, request.schur == Schur::symmetric)),
      matrices_(lattice(), term, coefficients(parameters, clover), request.schur == Schur::symmetric) {}

std::unique_ptr<EvenOdd> PreparedAction::system(int vectors, const PerVector& kappa, std::optional<int> parity) {
  require_odd(parity);
  for (std::size_t v = 0; v < static_cast<std::size_t>(vectors); ++v) check_mass(kappa[v]);
  const double h = parameters_.normalisation == WilsonParameters::Normalisation::kappa ? parameters_.kappa : 0.5;
  return std::make_unique<wilson::EvenOddWithTerm>(static_cast<wilson::Hopping&>(stencil(vectors)), same_for_all(h), matrices_.site_term(),
                                                   schur_);
}

void PreparedAction::check_mass(double kappa) const {
  wilson::PreparedAction::check_mass(kappa);
  if (kappa != parameters_.kappa)
    throw Error(ErrorKind::input, "kappa", fmt::format("the clover term was made for {}, not for {}", parameters_.kappa, kappa),
                "give all right-hand sides the kappa of the action");
}

void Action::check(const runtime::Decomposition& decomposition, const ActionRequest& request) const {
  wilson::Action::check(decomposition, request);
  if (!std::isfinite(clover_.csw))
    throw Error(ErrorKind::input, "csw", fmt::format("a coefficient of {}", clover_.csw), "give a number, e.g. 1");
  if (!std::isfinite(clover_.mu))
    throw Error(ErrorKind::input, "mu", fmt::format("a twisted mass of {}", clover_.mu), "give a number, e.g. 0.1");
  if (request.schwarz) throw Error(ErrorKind::input, "schwarz-block", "clover has no Schwarz preconditioner", "leave it out");
}

std::unique_ptr<quarkstar::PreparedAction> Action::make(const runtime::Decomposition& decomposition, const ActionRequest& request,
                                                        double resident) const {
  const Box part = decomposition.part();
  if (!term_ || term_->reals.box().origin != part.origin || term_->reals.extents != part.extents) term_ = make_term(decomposition, gauge_);
  return std::make_unique<PreparedAction>(decomposition, gauge_, parameters_, clover_, *term_, request, resident);
}

}  // namespace quarkstar::clover
