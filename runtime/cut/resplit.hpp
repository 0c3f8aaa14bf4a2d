#pragma once
// Blocks cut anew between solves, from how fast their owners were: the decision, for the `adaptive` policy.
#include "runtime/cut/decomposition.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>

namespace quarkstar::runtime {

/// A new cut and what it promises.
struct Resplit {
  Decomposition decomposition;
  double seconds_before = 0, seconds_after = 0;  ///< of a solve: the last one, and as predicted
};

/// Learns the speeds of owners from solve to solve. For one rank.
class Resplitter {
 public:
  /// thinnest: least extent of a block where it is cut. most: thickest part along a direction that a worker's memory holds.
  /// domain: extents of what no cut may divide (the domains of a Schwarz preconditioner); they divide the lattice.
  Resplitter(int thinnest, std::function<int(int worker, int direction)> most, const Coord& domain = {1, 1, 1, 1})
      : thinnest_(thinnest), most_(std::move(most)), domain_(domain) {}

  /// A solve on `now` took that long; busy_seconds: time in tasks, by worker.
  void solved(const Decomposition& now, std::span<const double> busy_seconds, double seconds);

  /// The cut with which the owner that takes longest takes least, if `remaining` more solves win back what changing over to it costs, and
  /// that owner gains 3 % (less is noise). A solve is predicted to take what it did less what its slowest owner gains: the rest, waiting
  /// and messages, is taken to stay. Where one direction is cut, extents change: in multiples of 4 or 2 where that is as good within 3 %,
  /// because such parts keep the direction for the lanes, and always of whole domains; an owner may lose its block, and get one again.
  /// Where several are cut, blocks stay and change owners.
  std::optional<Resplit> propose(const Decomposition& now, int remaining, double migration_seconds) const;

 private:
  double slowest(const Decomposition& decomposition) const;
  std::optional<Decomposition> best_extents(const Decomposition& now, int direction) const;
  std::optional<Decomposition> best_owners(const Decomposition& now) const;

  int thinnest_;
  std::function<int(int, int)> most_;
  Coord domain_;
  std::map<int, double> speeds_;  ///< of workers that have owned a block: sites of a solve per second in tasks
  double seconds_ = 0;
  int direction_ = -1;  ///< the only one that was cut; -1: none yet
};

}  // namespace quarkstar::runtime
