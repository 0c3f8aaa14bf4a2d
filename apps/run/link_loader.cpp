#include "apps/run/link_loader.hpp"

#include "codelets/gauge/observables.hpp"
#include "runtime/mpi/job.hpp"

namespace quarkstar::app {

void LinkLoader::read_beside(const runtime::Team& team) {
  coming_ = std::async(std::launch::async, [this, team] {
    LoadedGauge loaded = load_gauge(config_.gauge, config_.lattice, team);
    if (config_.reunitarize) gauge::reunitarize(loaded.gauge, team);
    return loaded;
  });
}

void LinkLoader::wait() {
  if (coming_.valid()) loaded_ = coming_.get();
}

const HostGauge& LinkLoader::operator()(const runtime::Decomposition& decomposition, GaugeSummary& summary) {
  wait();
  if (!loaded_ || decomposition.is_distributed()) {
    loaded_ = decomposition.is_distributed() ? load_gauge_part(config_.gauge, config_.lattice, decomposition)
                                             : load_gauge(config_.gauge, config_.lattice);
    const runtime::Team team = host_team();
    runtime::mpi::Job::current().together([&] {
      if (config_.reunitarize) gauge::reunitarize(loaded_->gauge, team);
    });
  }
  summary = loaded_->summary();
  summary.reunitarized = config_.reunitarize;
  return loaded_->gauge;
}

}  // namespace quarkstar::app
