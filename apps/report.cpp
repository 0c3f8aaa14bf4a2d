#include "apps/report.hpp"

#include "codelets/contract/effective_mass.hpp"
#include "codelets/contract/meson.hpp"
#include "quarkstar_version.hpp"
#include "runtime/topology.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

namespace quarkstar::app {

std::string version_line() {
  return fmt::format("quarkstar {} ({}), {}, compiler {}", version, revision, runtime::runtime_version(), __VERSION__);
}

void describe_machine(RunReport& report) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  report.host = host;
  report.cpu_model = runtime::Topology::discover().cpu_model();
  report.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                               fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

std::vector<CorrelatorReport> contract(const Propagator& propagator, int source_time) {
  std::vector<CorrelatorReport> correlators;
  for (const Meson meson : all_mesons) {
    CorrelatorReport correlator;
    correlator.name = name_of(meson);
    correlator.values = meson_correlator(meson, propagator.fields, source_time);
    correlator.log_mass = log_effective_mass(correlator.values);
    correlator.cosh_mass = cosh_effective_mass(correlator.values);
    correlators.push_back(std::move(correlator));
  }
  return correlators;
}

}  // namespace quarkstar::app
