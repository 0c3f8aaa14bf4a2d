#pragma once
// Between the reference's staggered links and fields and the package's, and the cases that the staggered batteries run over.
#include "codelets/actions/staggered/dslash.hpp"
#include "codelets/field/transfer.hpp"
#include "tests/battery/support.hpp"
#include "tests/reference/random.hpp"
#include "tests/reference/staggered.hpp"

#include <span>

namespace quarkstar::battery {

inline HostField to_colour(const reference::Field& field) {
  HostField host(colour_components, field.extents);
  host.data = field.data;
  return host;
}

/// The reference's links with MILC's phases folded in. long_scale: of the long links; 0: leave them out.
inline smear::StaggeredLinks with_phases(const reference::StaggeredLinks& links, double long_scale) {
  smear::StaggeredLinks host{links.fat, {}, false, 0, long_scale};
  const auto fold = [](HostGauge& field) {
    for (std::int64_t site = 0; site < volume(field.extents); ++site)
      for (int mu = 0; mu < 4; ++mu)
        if (reference::staggered_phase(coordinates(site, field.extents), mu) < 0)
          for (double& real : field.link(site, mu)) real = -real;
  };
  fold(host.fat);
  host.has_long = long_scale != 0;
  if (host.has_long) {
    host.long_links = links.naik;
    fold(host.long_links);
  }
  return host;
}

/// Fat links that are any matrices, long links that are scale times any U(3) matrices.
inline reference::StaggeredLinks random_links(const Coord& extents, std::uint64_t seed, double scale) {
  reference::StaggeredLinks links{reference::random_gauge(extents, seed), reference::random_gauge(extents, seed + 1)};
  reference::Random random(seed + 2);
  for (std::int64_t site = 0; site < volume(extents); ++site)
    for (int mu = 0; mu < 4; ++mu) {
      const reference::Complex phase = scale * std::polar(1.0, 2 * M_PI * random.uniform());
      reference::set_link(links.naik, site, mu, phase * reference::link(links.naik, site, mu));
      reference::set_link(
          links.fat, site, mu,
          reference::Complex{0.9} * reference::link(links.fat, site, mu) + reference::Complex{0.2} * random.normal_matrix());
    }
  return links;
}

inline std::vector<HostField> random_vectors(const Coord& extents, int count, std::uint64_t seed) {
  std::vector<HostField> vectors;
  for (int v = 0; v < count; ++v) vectors.push_back(to_colour(reference::random_field(extents, 1, seed + static_cast<std::uint64_t>(v))));
  return vectors;
}

/// One layout and kernel choice of the staggered Dslash. long_reals = 0: without long links.
struct DslashCase {
  Coord lattice, blocks;
  Precision precision = Precision::double_;
  int long_reals = 18;
  int most_lanes = 16;
  Coord tile{};
  stencil::Launch launch{};
  int vectors_in_lanes = 1;
  std::string text() const {
    return HoppingCase{lattice, blocks, precision, long_reals, most_lanes}.text() + " vectors in lanes " + std::to_string(vectors_in_lanes);
  }
};

/// The package's Dslash on both parities, from host fields and back. Needs a session.
class DslashHarness {
 public:
  DslashHarness(const DslashCase& c, const smear::StaggeredLinks& links)
      : DslashHarness(runtime::Decomposition(c.lattice, c.blocks, runtime::Session::current().block_owners()), c, links) {}
  DslashHarness(const runtime::Decomposition& decomposition, const DslashCase& c, const smear::StaggeredLinks& links)
      : lattice_(std::make_shared<Lattice>(
            decomposition, c.precision, periodic,
            LayoutRequest{.most_lanes = c.most_lanes, .reach = links.reach(), .tile = c.tile, .vectors_in_lanes = c.vectors_in_lanes})),
        launch_(c.launch),
        even_(lattice_, 0, c.long_reals),
        odd_(lattice_, 1, c.long_reals) {
    staggered::load(even_, odd_, links);
  }

  /// D chi for every vector on the whole lattice.
  std::vector<HostField> apply(std::span<const HostField> chi) {
    staggered::Dslash dslash(even_, odd_, static_cast<int>(chi.size()));
    dslash.set_launch(launch_);
    std::vector<HostField> result(chi.size(), HostField(colour_components, chi[0].extents));
    for (int parity = 0; parity < 2; ++parity) {
      const Field in(lattice_, 1 - parity, colour_components, dslash.vectors()), out(lattice_, parity, colour_components, dslash.vectors());
      transfer::load(in, chi);
      dslash.apply(out, in);
      transfer::store(result, out);
      runtime::Session::current().wait_all();
    }
    return result;
  }

  const LatticePointer& lattice() const { return lattice_; }
  const staggered::Links& even() const { return even_; }
  const staggered::Links& odd() const { return odd_; }

 private:
  LatticePointer lattice_;
  stencil::Launch launch_;
  staggered::Links even_, odd_;
};

}  // namespace quarkstar::battery
