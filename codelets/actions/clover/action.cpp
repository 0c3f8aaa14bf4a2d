#include "codelets/actions/clover/action.hpp"

#include "codelets/actions/clover/prepared_action.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace quarkstar::clover {
namespace {

Coefficients coefficients(const WilsonParameters& parameters, const Parameters& clover) {
  const bool by_kappa = parameters.normalisation == WilsonParameters::Normalisation::kappa;
  const double kappa = parameters.kappa, unit = by_kappa ? 1 : 1 / (2 * kappa);
  const double a = wilson::EvenOdd::coefficients(kappa, parameters, Schur::asymmetric).a;
  return {a, unit * kappa * clover.coefficient(parameters.xi0), unit * 2 * kappa * clover.mu};
}

void require_mu(double mu) {
  if (!std::isfinite(mu))
    throw Error(ErrorKind::input, Parameter("mu"), fmt::format("a twisted mass of {}", mu), "give a number, e.g. 0.1");
}

double matrix_bytes(const ActionRequest& request, const HostTerm* term) {
  return term != nullptr ? SiteMatrices::bytes_per_site(request.precision, request.schur == Schur::symmetric) : 0;
}

}  // namespace

PreparedAction::PreparedAction(const runtime::Decomposition& decomposition, const HostGauge& gauge, const WilsonParameters& parameters,
                               const Parameters& clover, const HostTerm* term, const ActionRequest& request, double resident)
    : wilson::PreparedAction(decomposition, gauge, parameters, request, resident + matrix_bytes(request, term)),
      clover_(clover),
      matrix_bytes_(matrix_bytes(request, term)) {
  if (term != nullptr) matrices_.emplace(lattice(), *term, coefficients(parameters, clover), request.schur == Schur::symmetric);
}

/// S = a (1 + i t gamma_5), S^-1 = (1 - i t gamma_5) / (a (1 + t^2)), t = 2 kappa mu, a being 1 in units of the normalisation, or what
/// anisotropy makes of it.
wilson::SiteTerm PreparedAction::twisted_mass(int vectors, const PerVector& mass) const {
  wilson::SiteMatrix matrix, inverse;
  wilson::SiteTerm term;
  for (std::size_t v = 0; v < static_cast<std::size_t>(vectors); ++v) {
    const auto [parameters, clover] = of_mass(mass[v]);
    const Coefficients c = coefficients(parameters, clover);
    const double a = c.a, t = 2 * parameters.kappa * clover.mu / (1 - 6 * parameters.kappa * (1 - parameters.spatial_hops())),
                 t2 = 1 + t * t;
    matrix.factor[v] = a;
    inverse.factor[v] = 1 / (a * t2);
    matrix.numbers[v] = inverse.adjoint_numbers[v] = t;
    inverse.numbers[v] = matrix.adjoint_numbers[v] = -t;
    term.norm[v] = a * std::sqrt(t2);
  }
  term.matrix = {matrix, matrix};
  term.inverse = {inverse, inverse};
  return term;
}

std::pair<WilsonParameters, Parameters> PreparedAction::of_mass(double mass) const {
  std::pair<WilsonParameters, Parameters> of{parameters_, clover_};
  (clover_.mass_is_mu ? of.second.mu : of.first.kappa) = mass;
  return of;
}

std::optional<double> PreparedAction::shift_between(double mass, double base) const {
  if (!clover_.mass_is_mu || matrices_) return std::nullopt;
  const auto m2 = [this](double mu) { return std::pow(coefficients(parameters_, of_mass(mu).second).m, 2); };
  return m2(mass) - m2(base);
}

std::unique_ptr<EvenOdd> PreparedAction::system(int vectors, const PerVector& mass, std::optional<int> parity) {
  require_odd(parity);
  PerVector h{};
  for (std::size_t v = 0; v < static_cast<std::size_t>(vectors); ++v) {
    check_mass(mass[v]);
    h[v] = wilson::EvenOdd::coefficients(of_mass(mass[v]).first.kappa, parameters_, schur_).h;
  }
  return std::make_unique<wilson::EvenOddWithTerm>(static_cast<wilson::Hopping&>(stencil(vectors)), h,
                                                   matrices_ ? matrices_->site_term() : twisted_mass(vectors, mass), schur_);
}

stencil::Output PreparedAction::usual_output(int vectors, int parity) const {
  const wilson::SiteTerm term = matrices_ ? matrices_->site_term() : twisted_mass(vectors, same_for_all(*own_mass()));
  const wilson::SiteMatrix& inverse = term.inverse[static_cast<std::size_t>(parity)];
  return {.scale = inverse.factor, .epilogue = wilson::epilogue_options(stencil::on_hops, inverse, false)};
}

std::vector<std::pair<std::string, double>> PreparedAction::numbers() const {
  std::vector<std::pair<std::string, double>> numbers;
  if (!matrices_) return numbers;
  numbers.emplace_back("log_det_even", matrices_->log_det(0));
  if (schur_ == Schur::symmetric) numbers.emplace_back("log_det_odd", matrices_->log_det(1));
  return numbers;
}

void PreparedAction::check_mass(double mass) const {
  const char* name = clover_.mass_is_mu ? "mu" : "kappa";
  if (!clover_.mass_is_mu) wilson::PreparedAction::check_mass(mass);
  else require_mu(mass);
  if (!serves(mass))
    throw Error(ErrorKind::input, Parameter(name), fmt::format("the clover term was made for {}, not for {}", *own_mass(), mass),
                fmt::format("give all right-hand sides the {} of the action", name));
}

void Action::check(const runtime::Decomposition& decomposition, const ActionRequest& request) const {
  wilson::Action::check(decomposition, request);
  for (const auto& [name, value] : {std::pair{"csw", clover_.csw}, {"csw-time", clover_.in_time()}})
    if (!std::isfinite(value))
      throw Error(ErrorKind::input, Parameter(name), fmt::format("a coefficient of {}", value), "give a number, e.g. 1");
  require_mu(clover_.mu);
  if (request.link_reals == 8)
    throw Error(ErrorKind::input, Parameter("links"), "an action with a term per site has no kernels for links of 8 reals", "use 18 or 12");
  if (request.schwarz)
    throw Error(ErrorKind::input, Parameter("schwarz-block"), "an action with a term per site has no Schwarz preconditioner",
                "leave it out");
}

std::unique_ptr<quarkstar::PreparedAction> Action::make(const runtime::Decomposition& decomposition, const ActionRequest& request,
                                                        double resident) const {
  const Box part = decomposition.part();
  const bool made = term_ && term_->reals.origin == part.origin && term_->reals.extents == part.extents;
  if (clover_.has_clover() && !made) term_ = term(decomposition);
  return std::make_unique<PreparedAction>(decomposition, gauge_, parameters_, clover_, clover_.has_clover() ? term_.get() : nullptr,
                                          request, resident);
}

}  // namespace quarkstar::clover
