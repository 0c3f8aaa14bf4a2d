#pragma once
// What the heatbath's tests share: short sessions and chains with a binned error.
#include "codelets/gauge/heatbath/heatbath.hpp"
#include "codelets/gauge/heatbath/start.hpp"
#include "codelets/gauge/observables.hpp"
#include "tests/unit/runtime_support.hpp"

#include <cmath>
#include <string>

namespace quarkstar::heatbath_testing {

using runtime_testing::options;

struct Estimate {
  double mean, error;
};

/// Mean plaquette of a chain: `bins` bins of `length` sweeps after thermalisation, the error from the scatter of the
/// bins.
inline Estimate mean_plaquette(const HostGauge& field, const heatbath::HeatbathSettings& settings, int thermalisation, int bins,
                               int length) {
  const runtime::Session session(options(1, 1));
  const runtime::Decomposition decomposition(field.extents, {1, 1, 1, 1}, 1);
  gauge::GaugeField links(decomposition, 1);
  load(links, field);
  heatbath::Heatbath chain(links, settings);
  int sweep = 0;
  while (sweep < thermalisation) chain.sweep(sweep++);
  double mean = 0, square = 0;
  for (int bin = 0; bin < bins; ++bin) {
    double average = 0;
    for (int n = 0; n < length; ++n) {
      chain.sweep(sweep++);
      average += gauge::plaquettes(links).mean() / length;
    }
    mean += average / bins;
    square += average * average / bins;
  }
  return {mean, std::sqrt((square - mean * mean) / (bins - 1))};
}

}  // namespace quarkstar::heatbath_testing
