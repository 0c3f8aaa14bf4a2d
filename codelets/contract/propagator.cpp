#include "codelets/contract/propagator.hpp"

#include "codelets/contract/effective_mass.hpp"

namespace quarkstar {

Correlator correlator_of(std::string name, std::vector<double> values, std::vector<double> imaginary) {
  Correlator correlator;
  correlator.name = std::move(name);
  if (!is_three_point(correlator.name)) {
    correlator.log_mass = log_effective_mass(values);
    correlator.cosh_mass = cosh_effective_mass(values);
  }
  correlator.values = std::move(values);
  correlator.imaginary = std::move(imaginary);
  return correlator;
}

}  // namespace quarkstar
