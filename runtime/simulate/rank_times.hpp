#pragma once
// How long a batch takes on many ranks with a GPU each, on nodes of a machine. One process stands for all ranks, and the ranks of one node
// are computed for all nodes.
#include "runtime/cut/coord.hpp"
#include "runtime/simulate/lane_times.hpp"
#include "runtime/simulate/machine.hpp"
#include "runtime/simulate/simulate.hpp"

#include <cstddef>
#include <vector>

namespace quarkstar::runtime::simulate {

/// How ranks share nodes: in lexicographic order they fill one after the other.
struct RankNodes {
  Coord ranks{1, 1, 1, 1};  ///< grid of all
  Coord node{1, 1, 1, 1};   ///< grid of those of one node, which divides it
  int count() const { return static_cast<int>(volume(ranks) / volume(node)); }
};

/// Fewer ranks than a node has GPUs share one node. Throws Error(input) naming ranks where the last node would not be full, or those of a
/// node are no rectangle.
RankNodes nodes_of(const Coord& ranks, int gpus);

/// A face that a rank sends or receives.
struct RankFace {
  int step = 0;             ///< scheduled step that writes it last, or reads it first
  std::size_t mailbox = 0;  ///< the same number at both ends
  Coord towards{};          ///< to whom, or from whom: difference of places in the grid of ranks, 0 or more
  double bytes = 0;
};

/// What every rank does in a batch.
struct RankBatch {
  LaneSchedule schedule;        ///< of one device
  std::vector<StepTime> needs;  ///< of its steps, without what they exchange
  std::vector<bool> sums;       ///< which of them exchange sums over ranks
  std::vector<RankFace> sent, received;
};

/// Which exchanges take time.
struct Exchanges {
  bool inside = true, between = true, sums = true;  ///< faces inside a node, between nodes; sums
};

/// Intervals of the steps on the rank that ends last. All ranks are like the first; all nodes are alike, because the lattice is periodic
/// and nodes have equal rectangles of ranks: what a rank hears from another node is what its neighbour's image in its own node sends out of
/// it.
/// - Inside a node a pack writes into the reader's memory over the link between GPUs, which is known there `signal_us` after its end.
/// - Between nodes a face is copied into host memory after its pack (host_face_gbs()); `signal_us`, `flag_us` and `message_us` later it is
///   on the wire, on which the pieces of a GPU's faces (relay_piece()) follow each other, each for `message_us` and its bytes over
///   wire_gbs(); network_us, message_us and flag_us after the last it is known to the reader's GPU. That has copied the earlier pieces
///   meanwhile, each when it has come and the one before is copied; its step begins with what is left of that.
/// - A sum is a step that all ranks take together, `signal_us` after the last of their node is there. Between nodes it takes
///   host_sum_us() more.
/// Without an exchange none of these times is counted, but its steps keep their order.
std::vector<Interval> rank_times(const RankBatch& batch, const Machine& node, const RankNodes& nodes, const Exchanges& exchanges);

/// What a sum takes between nodes: GPU to thread and back (flag_us each), to add up within the host (message_us), and as many rounds
/// between hosts as their number has bits, each network_us and message_us.
double host_sum_us(const Machine& node, int nodes);

// ---- the process that stands for all ranks
/// From here on it is the first of so many ranks that are alike; `node`: what each node has. Nobody answers its messages.
void stand_for_ranks(const Machine& node, int count);
bool has_stood_for();
/// Whether it does. Real runs have no code for it.
inline bool stands_for_ranks() {
  if constexpr (active) return has_stood_for();
  else return false;
}
int ranks_stood_for();
const Machine& node_of_ranks();
/// The grid of the ranks, once it is known.
void set_rank_grid(const Coord& ranks);
RankNodes rank_nodes();

/// One end of a mailbox, which no message goes through.
struct FaceEnd {
  std::size_t mailbox = 0;
  int peer = 0;  ///< rank at the other end
  std::size_t bytes = 0;
};
/// An address for it that nothing else has and that stays.
FaceEnd* keep(const FaceEnd& end);

/// Microseconds of batches by what they are for: of kernels if nothing else took time, then what each exchange adds to those before it.
struct BatchParts {
  double kernels = 0, faces_inside = 0, faces_between = 0, sums = 0;
};
void count_batch(const BatchParts& parts);
/// Of all batches since it was asked last.
BatchParts take_batch_parts();

}  // namespace quarkstar::runtime::simulate
