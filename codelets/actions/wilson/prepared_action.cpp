#include "codelets/actions/wilson/prepared_action.hpp"

#include "codelets/actions/wilson/marches.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/stencil/measurement.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <numeric>

namespace quarkstar::wilson {
namespace {

/// Goes into the keys of the tune cache: raise it when a change of the kernel can change what is best.
constexpr int kernel_version = 13;

/// On GPUs tiles of 8 in z and t where a t slice of a block's outer lattice has 10000 sites or more, so that
/// neighbours in z and t would have left the cache (48^4 on one H200: 6 to 8 % faster; 32^4: slower; docs/results); on CPUs none. With
/// vectors in lanes columns whose slices are the tiles of sites that a GPU's block computes at a time, along t no longer than its march, so
/// that the blocks that run at a time are at the same t.
Coord usual_tile(const runtime::Decomposition& decomposition, Precision precision, int vectors_in_lanes) {
  const runtime::Block& block = tuning::first_block(decomposition);
  if (vectors_in_lanes > 1) {
    Coord tile = precision == Precision::single ? tuning::column_4x4x4 : tuning::column_4x4x2;
    const int at_a_time = tile_sites(vectors_in_lanes, precision == Precision::double_);
    const std::int64_t all_tiles = (volume(block.extents) / 2 + at_a_time - 1) / at_a_time;
    const auto march = static_cast<int>(march_tiles(all_tiles, vectors_in_lanes) * at_a_time / (tile[0] * tile[1] * tile[2] / 2));
    // Marches over whole columns begin and end with these; where no such column is nearly as long, one that is.
    const int of_whole = std::gcd(march, block.extents[3]);
    tile[3] = 2 * of_whole >= march ? of_whole : march;
    return tile;
  }
  constexpr std::int64_t large = 10000;
  const LaneGrid lanes = choose_lane_grid(decomposition, precision);
  std::int64_t slice = 1;
  for (int mu = 0; mu < 3; ++mu) slice *= block.extents[mu] / (lanes.splits(mu) ? 2 : 1);
  return tuning::is_gpu(block.owner) && slice >= large ? tuning::tile_zt8 : tuning::no_tile;
}

}  // namespace

void require_kappa(double kappa, const WilsonParameters& parameters) {
  constexpr double largest_kappa = 10;  // far beyond any use; the free critical value is 1/8
  if (!(kappa > 0) || kappa > largest_kappa)
    throw Error(ErrorKind::input, Parameter("kappa"), fmt::format("hopping parameter {}", kappa), "give a number between 0 and 10");
  const double space = parameters.spatial_hops(), diagonal = 0.5 / kappa - 3 * (1 - space);
  if (!(diagonal > 0))
    throw Error(ErrorKind::input, Parameter("kappa"), fmt::format("m0 + 1 + 3 nu / xi0 = {} with nu / xi0 = {}", diagonal, space),
                "give a smaller kappa (a larger mass), for which it is positive");
}

stencil::Subject tuning_subject(Precision precision, int link_reals, const BoundaryAngles& boundary, const Coord& unit) {
  return {.name = fmt::format("wilson hopping {}, links {}", kernel_version, link_reals),
          .precision = precision,
          .boundary = boundary,
          .layout = {.unit = unit},
          .components = spinor_components,
          .link_bytes = links_bytes(precision, link_reals),
          .make = [link_reals](const LatticePointer& lattice,
                               int vectors) { return tuning::on_links_of_its_own<Hopping, LinkField>(lattice, link_reals, vectors); },
          .usual_tile = [precision](const runtime::Decomposition& decomposition,
                                    int vectors_in_lanes) { return usual_tile(decomposition, precision, vectors_in_lanes); },
          .usual_launch = [](int) { return default_launch; },
          .most_block_threads = [](int) { return arch::most_block_threads + 1; }};
}

PreparedAction::PreparedAction(const runtime::Decomposition& decomposition, const HostGauge& gauge, const WilsonParameters& parameters,
                               const ActionRequest& request, double resident)
    : quarkstar::PreparedAction(decomposition,
                                tuning_subject(request.precision, request.link_reals, parameters.boundary,
                                               request.schwarz ? request.schwarz->domain : request.unit),
                                request.speed, resident),
      parameters_(parameters),
      schur_(request.schur),
      even_(lattice(), 0, request.link_reals),
      odd_(lattice(), 1, request.link_reals) {
  transfer::load_links(even_, odd_, gauge, parameters.link_factors(), wide_links_of(request));
  if (!request.schwarz) return;
  const EvenOdd::Coefficients of_action = EvenOdd::coefficients(parameters.kappa, parameters, schur_);
  schwarz_.emplace(even_, odd_, request.schwarz->domain, request.schwarz->steps, of_action.diagonal, of_action.scale);
}

void PreparedAction::require_odd(std::optional<int> parity) {
  if (parity.value_or(EvenOdd::solved_parity) != EvenOdd::solved_parity)
    throw Error(ErrorKind::input, Parameter("parity"), "this action's even-odd system is on odd sites", "solve on odd sites, or on both");
}

std::unique_ptr<quarkstar::EvenOdd> PreparedAction::system(int vectors, const PerVector& kappa, std::optional<int> parity) {
  require_odd(parity);
  return std::make_unique<EvenOdd>(static_cast<Hopping&>(stencil(vectors)), kappa, parameters_, schur_);
}

Preconditioner PreparedAction::preconditioner() {
  if (!schwarz_) return {};
  return [this](const Field& out, const Field& in, const runtime::Guard& guard) { schwarz_->apply(out, in, guard); };
}

}  // namespace quarkstar::wilson
