#pragma once
// What actions contract, and what comes out.
#include "codelets/field/host_field.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <string>
#include <utility>
#include <vector>

namespace quarkstar {

/// Columns from one source for one mass (Wilson: kappa): this rank's part of them.
struct Propagator {
  double mass = 0;
  std::vector<std::pair<std::string, double>> numbers = {};  ///< of the operator for this mass: RunOperator::numbers
  std::vector<HostField> columns = {};
};

/// Those of one source, in the order of its masses.
using Propagators = std::vector<Propagator>;

struct Correlator {
  std::string name;
  std::vector<double> values;               ///< t = 0..T-1 from the source
  std::vector<double> log_mass, cosh_mass;  ///< t = 0..T-2; not a number where undefined
};

/// A correlator, with its effective masses, of this rank's share of its time slices. Collective.
Correlator correlator_over_ranks(std::string name, std::vector<runtime::BinnedSum> sums);

}  // namespace quarkstar
