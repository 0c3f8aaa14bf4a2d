#include "codelets/actions/domain_wall/prepared_action.hpp"

#include "codelets/actions/domain_wall/hopping.hpp"
#include "codelets/actions/wilson/prepared_action.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace quarkstar::domain_wall {
namespace {

/// Wilson's hopping term for all slices of each right-hand side.
stencil::Subject subject(const Parameters& parameters, const ActionRequest& request) {
  stencil::Subject subject = wilson::tuning_subject(request.precision, request.link_reals, parameters.links.boundary);
  const int slices = parameters.slices();
  subject.name += fmt::format(", {} slices", slices);
  subject.layout.slices = slices;
  subject.make = [of_vectors = subject.make, slices](const LatticePointer& lattice, int vectors) {
    return of_vectors(lattice, slices * vectors);
  };
  return subject;
}

}  // namespace

PreparedAction::PreparedAction(const runtime::Decomposition& decomposition, const HostGauge& gauge, const Parameters& parameters,
                               const ActionRequest& request, double resident)
    : quarkstar::PreparedAction(decomposition, subject(parameters, request), request.speed, resident),
      parameters_(parameters),
      schur_(request.schur),
      most_lanes_(request.speed.most_lanes),
      even_(lattice(), 0, request.link_reals),
      odd_(lattice(), 1, request.link_reals) {
  transfer::load_links(even_, odd_, gauge, parameters.links.link_factors(), wide_links_of(request));
}

std::unique_ptr<quarkstar::EvenOdd> PreparedAction::system(int vectors, const PerVector& mass, std::optional<int> parity) {
  if (parity.value_or(EvenOdd::solved_parity) != EvenOdd::solved_parity)
    throw Error(ErrorKind::input, Parameter("parity"), "this action's even-odd system is on odd sites", "solve on odd sites, or on both");
  return std::make_unique<EvenOdd>(static_cast<wilson::Hopping&>(stencil(vectors)), vectors, mass, parameters_, schur_);
}

void PreparedAction::check_mass(double mass) const {
  const auto is_finite = [](const SliceMatrix& matrix) { return std::isfinite(matrix.norm()); };
  if (!std::isfinite(mass) || !is_finite(site_matrices(parameters_, mass).site.inverse()))
    throw Error(ErrorKind::input, Parameter("mass"), fmt::format("the matrix of a site has no inverse for mass {}", mass),
                "change mass, m5, b5 or c5");
}

std::unique_ptr<stencil::Stencil> PreparedAction::make_stencil(int vectors) {
  const int slices = parameters_.slices(), most = most_vectors / slices;
  if (vectors > most)
    throw Error(ErrorKind::input, Parameter("nrhs"), fmt::format("{} right-hand sides of {} slices each", vectors, slices),
                fmt::format("give {} at most: a site has room for {} spinors", most, most_vectors));
  return hopping(even_, odd_, slices * vectors);
}

PhysicalFields* PreparedAction::physical() {
  if (lattice()->precision() != Precision::double_) return nullptr;
  if (!walls_)
    walls_ = std::make_unique<Walls>(
        std::make_shared<Lattice>(lattice()->decomposition(), Precision::double_, lattice()->boundary(),
                                  LayoutRequest{.most_lanes = lattice()->slices_in_lanes() ? 1 : most_lanes_, .tile = tile()}),
        parameters_, [this](int vectors) -> wilson::Hopping& { return static_cast<wilson::Hopping&>(stencil(vectors)); });
  return walls_.get();
}

}  // namespace quarkstar::domain_wall
