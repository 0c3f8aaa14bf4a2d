#pragma once
// R, to where the next level is.
#include "codelets/coarse/aggregates.hpp"
#include "runtime/cut/all_gather.hpp"

#include <optional>
#include <vector>

namespace quarkstar::coarse {

/// R = P^+ for n vectors. Where the next level is whole, its pieces go to every rank, and a task on its owner joins them: bits are those of
/// a level that is cut. Keeps its memory, so that a batch that applies it can be replayed.
class Restriction {
 public:
  /// aggregates outlive it. All ranks make theirs in the same order.
  Restriction(const Aggregates& aggregates, int vectors);
  /// Fields that it holds for each vector on a whole level, in units of one on both parities.
  static constexpr int fields = 1;

  /// Submits Aggregates::restrict(). out: on Aggregates::coarse().
  void apply(const FullField& out, const Aggregates::Fine& in, const runtime::Guard& guard = {}, const Layer& layer = {});
  /// Submits Aggregates::restrict_null_vectors().
  void null_vectors(const FullField& out, const FullField& before, int field);

 private:
  void make_lists();
  void join(const FullField& out, const runtime::Guard& guard);

  const Aggregates& aggregates_;
  std::optional<Field> pieces_;  ///< on both parities; none where the next level is cut
  std::optional<runtime::AllGather> of_all_;
  struct Part {  ///< what one task joins
    int first, pieces, sites;
    runtime::Handle lists;  ///< JoinArguments::from, then to
  };
  std::vector<Part> parts_;
};

}  // namespace quarkstar::coarse
