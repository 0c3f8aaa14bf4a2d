#pragma once
// Islands: what solves a group of right-hand sides. One, whose devices cut the lattice, or several, which share the groups.
#include "apps/run/config.hpp"
#include "runtime/cut/decomposition.hpp"

#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app {

struct IslandPlan {
  std::vector<runtime::Decomposition> islands;  ///< the whole lattice on the workers of each; none: all of them cut it
  std::string reason;                           ///< why; "" where there was no choice
};

/// Whether the devices of a session cut the lattice or are islands that share the right-hand sides of `config`, as its `share` says. Each
/// island holds the links, and takes the next group once its own is solved (GroupPool), so nothing but the groups' own vectors moves. Left
/// to choice, where all devices are alike: every number of islands with as many devices each, the one first that forecast() has end first;
/// several must gain 3 %, since a cut has the memory of one. A cut is taken to be in t, and sequential solves are not counted. What comes
/// behind that is for where memory does not hold it; the last one cuts. Throws Error(input) naming `share` where islands are asked for and
/// cannot be: more than there are devices, on several ranks, for masses with an operator each, with the policy `adaptive`, or CPUs and GPUs
/// in one.
std::vector<IslandPlan> plan_islands(const runtime::Session& session, const Coord& lattice, const RunConfig& config);

/// Iterations that a solve of this run takes, roughly: usual_iterations() of its operator and solver.
double usual_iterations_of(const RunConfig& config, double mass);

/// How many right-hand sides are solved together on so many islands: config.nrhs, or, where that was not given and bits do not depend on
/// it, so few that every island has a group.
int nrhs_on_islands(const RunConfig& config, int islands);

/// Groups of right-hand sides for islands of different speeds. Not for several threads at once.
class GroupPool {
 public:
  GroupPool(int islands, int groups)
      : seconds_(static_cast<std::size_t>(islands), 0), left_(static_cast<std::size_t>(islands), false), groups_(groups) {}

  /// The next group for an island that has nothing to do; none where there is no more, or where the others, at the speeds that they have
  /// shown, would have solved all that is left before this one has solved one: it is then not asked again. An island that has solved
  /// nothing takes one.
  std::optional<int> take(int island);
  /// An island has solved a group in so many seconds.
  void ended(int island, double seconds) { seconds_[static_cast<std::size_t>(island)] = seconds; }

 private:
  /// When the other islands, each at its latest speed, will have solved all that is left; none where no other is known.
  std::optional<double> seconds_without(std::size_t island) const;

  std::vector<double> seconds_;  ///< of an island's latest group; 0: none yet
  std::vector<bool> left_;       ///< islands that take no more
  int groups_, next_ = 0;
};

}  // namespace quarkstar::app
