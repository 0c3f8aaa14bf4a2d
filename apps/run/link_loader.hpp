#pragma once
// The links of one gauge configuration of a run.
#include "apps/run/gauge_io.hpp"

#include <future>
#include <optional>

namespace quarkstar::app {

/// Loads the links that this rank needs: its part of them, or all where the decomposition knows no other ranks. Reunitarized where the
/// configuration says so. Is a LinksOfPart, and must outlive the use of what it gives.
class LinkLoader {
 public:
  /// Of config.gauge.
  explicit LinkLoader(const RunConfig& config) : config_(config) {}

  /// From now on a thread of its own reads the whole configuration, and checks it with a team. Only for a job of one rank.
  void read_beside(const runtime::Team& team);
  /// Waits for that thread. Throws what load_gauge() throws.
  void wait();

  /// Reads what it does not have yet. Collective.
  const HostGauge& operator()(const runtime::Decomposition& decomposition, GaugeSummary& summary);

 private:
  /// Whether every rank has loaded its part. Collective.
  bool has(const runtime::Decomposition& decomposition) const;

  RunConfig config_;
  std::optional<LoadedGauge> loaded_;
  std::future<LoadedGauge> coming_;  ///< the last one: its end is waited for
};

}  // namespace quarkstar::app
