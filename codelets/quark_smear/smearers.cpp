#include "codelets/quark_smear/smearers.hpp"

#include "codelets/gauge/gauge_field.hpp"
#include "codelets/gauge/smear/smear.hpp"
#include "codelets/quark_smear/colours.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <utility>

namespace quarkstar {
namespace {

constexpr unsigned in_space = 0b111111;  // hops, forward and backward

/// The configuration on the graph, with a border in space, APE-smeared.
std::unique_ptr<gauge::GaugeField> smeared_links(const runtime::Decomposition& decomposition, const HostGauge& host, double alpha,
                                                 int steps) {
  const Coord border{1, 1, 1, 0};
  auto links = std::make_unique<gauge::GaugeField>(decomposition, border);
  gauge::load(*links, host);
  gauge::exchange_border(*links);
  std::unique_ptr<gauge::GaugeField> other;
  if (steps > 0) other = std::make_unique<gauge::GaugeField>(decomposition, border);
  for (int step = 0; step < steps; ++step) {
    smear::ape_links(*other, *links, alpha);
    gauge::exchange_border(*other);
    std::swap(links, other);
  }
  return links;
}

}  // namespace

QuarkSmearers::QuarkSmearers(const runtime::Decomposition& decomposition, const HostGauge& links, std::span<const QuarkSmearing> smearings)
    : lattice_(std::make_shared<Lattice>(decomposition, Precision::double_, periodic)) {
  for (const QuarkSmearing& smearing : smearings) {
    const auto same = [&](const auto& hops) { return hops->ape == smearing.ape && hops->ape_steps == smearing.ape_steps; };
    if (std::any_of(hops_.begin(), hops_.end(), same)) continue;
    const auto smeared = smeared_links(decomposition, links, smearing.ape, smearing.ape_steps);
    Hops& hops =
        *hops_.emplace_back(new Hops{smearing.ape, smearing.ape_steps, staggered::Links(lattice_, 0, 0), staggered::Links(lattice_, 1, 0)});
    quark_smear::write_links(hops.even, hops.odd, *smeared, in_space);
    runtime::Session::current().wait_all();
    hops.even.fat.freeze();
    hops.odd.fat.freeze();
  }
}

QuarkSmearers::Hops& QuarkSmearers::hops_of(const QuarkSmearing& smearing) const {
  for (const auto& hops : hops_)
    if (hops->ape == smearing.ape && hops->ape_steps == smearing.ape_steps) return *hops;
  throw ShapeError("QuarkSmearers", "a smearing that was not announced");
}

void QuarkSmearers::smear(const QuarkSmearing& smearing, const FullField& to, const FullField& from, std::span<const int> vectors) const {
  for (const FullField* field : {&to, &from}) {
    const Lattice& lattice = *field->even.lattice();
    if (lattice.precision() != Precision::double_ || lattice.decomposition().grid() != lattice_->decomposition().grid() ||
        lattice.decomposition().lattice() != lattice_->decomposition().lattice() || is_coarse(field->even.components()))
      throw ShapeError("QuarkSmearers", "fields of another decomposition or kind, or not of double precision");
  }
  const int n = static_cast<int>(vectors.size()), spins = to.even.components() / colour_components;
  if (from.even.components() != to.even.components() || to.even.vectors() != n ||
      std::any_of(vectors.begin(), vectors.end(), [&](int v) { return v < 0 || v >= from.even.vectors(); }))
    throw ShapeError("QuarkSmearers", "fields of two kinds, or another number of vectors than is smeared");
  Hops& hops = hops_of(smearing);
  const int most = most_vectors / spins, groups = (n + most - 1) / most, size = (n + groups - 1) / std::max(1, groups);
  const double weight = smearing.weight();
  for (int first = 0; first < n; first += size) {
    const int count = std::min(size, n - first), colours = count * spins;
    std::unique_ptr<staggered::Dslash>& dslash = hops.of_vectors[colours];
    if (!dslash) dslash = std::make_unique<staggered::Dslash>(hops.even, hops.odd, colours);
    FullField psi(lattice_, colour_components, colours), next(lattice_, colour_components, colours);
    quark_smear::spread(psi, from, vectors.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
    for (int step = 0; step < smearing.steps; ++step) {
      for (const int parity : {0, 1})
        dslash->apply(next.of(parity), psi.of(1 - parity),
                      {.x = &psi.of(parity), .diagonal = same_for_all(1 - 6 * weight), .scale = same_for_all(weight)});
      std::swap(psi, next);
    }
    std::vector<int> places;
    for (int i = first; i < first + count; ++i) places.push_back(i);
    quark_smear::gather(to, psi, places, first > 0 || &to == &from);
  }
}

}  // namespace quarkstar
