#include "codelets/contract/three_point.hpp"

#include "codelets/contract/currents.hpp"
#include "codelets/quark_smear/colours.hpp"
#include "runtime/graph/binned_sum.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace quarkstar::contract {
namespace {

constexpr int spins = 4;

/// Of the family of a conserved current; -1 for others.
int direction_of(const Family& family) {
  constexpr std::string_view names[4] = {ConservedX::name, ConservedY::name, ConservedZ::name, ConservedT::name};
  const auto* found = std::find(std::begin(names), std::end(names), family.name);
  return found == std::end(names) ? -1 : static_cast<int>(found - std::begin(names));
}

/// Phases of two-point functions are exp(-i p.(x - x0)).
Request request_of(const std::vector<Momentum>& momenta) {
  Request request{.names = {}, .momenta = {}};
  for (const Momentum& q : momenta) request.momenta.push_back({-q[0], -q[1], -q[2]});
  return request;
}

}  // namespace

/// Hops forward: (S', G')(y) = factor U_mu(y) (S, G)(y + mu) of one column.
struct ThreePoint::Hops {
  Hops(const LatticePointer& lattice, const HopLinks& links)
      : factors(links.factors),
        gauge(lattice->decomposition(), Coord{0, 0, 0, 0}),
        even(lattice, 0, 0),
        odd(lattice, 1, 0),
        dslash(even, odd, 2 * spins),
        hopped(lattice, colour_components, 2 * spins),
        both(lattice, colour_components, 4 * spins) {
    gauge::load(gauge, links.gauge, links.boundary);
  }

  std::array<double, 4> factors;
  gauge::GaugeField gauge;
  staggered::Links even, odd;  ///< of the direction that was last
  staggered::Dslash dslash;
  FullField hopped, both;  ///< a column hopped, and with it as it is
};

ThreePoint::~ThreePoint() = default;

ThreePoint::ThreePoint(const runtime::Decomposition& decomposition, const std::vector<Choice>& currents,
                       const std::vector<Momentum>& momenta, const Source& source, const HopLinks* links)
    : lattice_(std::make_shared<Lattice>(decomposition, Precision::double_, periodic)),
      momenta_(momenta),
      column_(lattice_, colour_components, 2 * spins) {
  for (const Choice& choice : currents) {
    const int direction = direction_of(*choice.family);
    parts_.push_back({choice, direction, Contraction({choice}, request_of(momenta), lattice_, source)});
    if (direction < 0 || hops_) continue;
    if (links == nullptr) throw ShapeError("ThreePoint", "a conserved current without links");
    hops_ = std::make_unique<Hops>(lattice_, *links);
  }
}

void ThreePoint::add(const FullField& s, std::span<const int> forward, const FullField& g, std::span<const int> backward) {
  for (const FullField* field : {&s, &g}) {
    const Lattice& lattice = *field->even.lattice();
    if (field->even.components() != spinor_components || lattice.precision() != Precision::double_ || lattice.slices() != 1 ||
        lattice.decomposition().grid() != lattice_->decomposition().grid() ||
        lattice.decomposition().lattice() != lattice_->decomposition().lattice())
      throw ShapeError("ThreePoint", "fields of another decomposition or kind, or not of double precision");
  }
  if (forward.size() != backward.size()) throw ShapeError("ThreePoint", "another number of columns of one propagator than of the other");
  std::vector<int> all(static_cast<std::size_t>(4 * spins));
  std::iota(all.begin(), all.end(), 0);
  const std::span<const int> here = std::span(all).first(2 * spins);
  for (Part& part : parts_) {
    const bool conserved = part.direction >= 0;
    if (conserved)
      quark_smear::write_links(hops_->even, hops_->odd, hops_->gauge, quark_smear::forward(part.direction),
                               hops_->factors[static_cast<std::size_t>(part.direction)]);
    for (std::size_t c = 0; c < forward.size(); ++c) {
      quark_smear::spread(column_, s, forward.subspan(c, 1));
      quark_smear::spread(column_, g, backward.subspan(c, 1), spins);
      if (!conserved) {
        part.contraction.add(column_, here);
        continue;
      }
      for (const int parity : {0, 1}) hops_->dslash.apply(hops_->hopped.of(parity), column_.of(1 - parity));
      quark_smear::spread(hops_->both, column_, here);
      quark_smear::spread(hops_->both, hops_->hopped, here, 2 * spins);
      part.contraction.add(hops_->both, all);
    }
  }
}

std::vector<Correlator> ThreePoint::correlators(const HadronSink& sink) const {
  const auto text = [](std::string_view letter, const Momentum& momentum) {
    return momentum == Momentum{0, 0, 0} ? "" : fmt::format("_{}{}", letter, fmt::join(momentum, ","));
  };
  std::vector<Correlator> all;
  for (const Part& part : parts_) {
    std::vector<Correlator> of_part = part.contraction.correlators();
    auto next = of_part.begin();
    for (const Momentum& q : momenta_)
      for (const int channel : part.choice.channels) {
        const std::string_view current = part.choice.family->channels[static_cast<std::size_t>(channel)].name;
        std::string name = fmt::format("{}{}{}_{}{}{}", sink.hadron->name, three_point_mark, sink.separation, current,
                                       text("p", sink.momentum), text("q", q));
        all.push_back(correlator_of(std::move(name), std::move(next->values), std::move(next->imaginary)));
        ++next;
      }
  }
  return all;
}

bool has_conserved(const std::vector<Choice>& currents) {
  return std::any_of(currents.begin(), currents.end(), [](const Choice& choice) { return direction_of(*choice.family) >= 0; });
}

double three_point_bytes(const std::vector<Choice>& currents) {
  constexpr double column = 2.0 * spins * colour_components * sizeof(std::complex<double>), links = (4 + 8) * 18 * sizeof(double);
  return has_conserved(currents) ? 4 * column + links : column;
}

double three_point_sums(const std::vector<Choice>& currents, std::size_t momenta) {
  std::size_t channels = 0;
  for (const Choice& choice : currents) channels += choice.channels.size();
  return 2.0 * spinor_components * static_cast<double>(channels * momenta) * sizeof(runtime::BinnedSum);
}

int separation_of(std::string_view correlator) {
  const std::size_t at = correlator.find(three_point_mark);
  int separation = 0;
  if (at != std::string_view::npos) {
    const std::string_view digits = correlator.substr(at + three_point_mark.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), separation);
  }
  if (separation < 1) throw ShapeError("separation_of", fmt::format("'{}' is no three-point function", correlator));
  return separation;
}

}  // namespace quarkstar::contract
