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

bool LinkLoader::has(const runtime::Decomposition& decomposition) const {
  if (!decomposition.is_distributed()) return loaded_.has_value();
  const Box part = decomposition.part();
  const bool mine = loaded_ && loaded_->part.sites.origin == part.origin && loaded_->part.sites.extents == part.extents;
  return !runtime::mpi::Job::current().any(!mine);
}

const HostGauge& LinkLoader::operator()(const runtime::Decomposition& decomposition, GaugeSummary& summary) {
  wait();
  if (!has(decomposition)) {
    loaded_.reset();  // two would need the memory of both
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
