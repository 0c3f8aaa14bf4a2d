#include "codelets/contract/propagator.hpp"

#include "codelets/contract/effective_mass.hpp"
#include "codelets/contract/time_slices.hpp"
#include "runtime/mpi/job.hpp"

namespace quarkstar {

Correlator correlator_over_ranks(std::string name, std::vector<runtime::BinnedSum> sums) {
  runtime::mpi::Job::current().combine(sums);
  Correlator correlator;
  correlator.name = std::move(name);
  correlator.values = values_of(sums);
  correlator.log_mass = log_effective_mass(correlator.values);
  correlator.cosh_mass = cosh_effective_mass(correlator.values);
  return correlator;
}

}  // namespace quarkstar
