#include "runtime/simulate/rank_times.hpp"

#include "runtime/gpu/gpu_messages.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace quarkstar::runtime::simulate {

RankNodes nodes_of(const Coord& ranks, int gpus) {
  RankNodes nodes{ranks, ranks};
  const std::int64_t all = volume(ranks);
  if (all <= gpus) return nodes;
  if (all % gpus != 0)
    throw Error(ErrorKind::input, Parameter("ranks"), fmt::format("{} ranks leave a node of {} GPUs partly empty", all, gpus),
                fmt::format("give a multiple of {}", gpus));
  int left = gpus;
  for (std::size_t mu = 0; mu < 4; ++mu) {
    nodes.node[mu] = left % ranks[mu] == 0 ? ranks[mu] : left;
    if (ranks[mu] % nodes.node[mu] != 0)
      throw Error(ErrorKind::input, Parameter("ranks"),
                  fmt::format("{} consecutive ranks of a grid of {} are no rectangle", gpus, fmt::join(ranks, "x")),
                  "give a power of two times the GPUs of a node");
    left /= nodes.node[mu];
  }
  return nodes;
}

double host_sum_us(const Machine& node, int nodes) {
  if (nodes < 2) return 0;
  const int rounds = std::bit_width(static_cast<unsigned>(nodes - 1));
  return 2 * node.flag_us + node.message_us + rounds * (node.network_us + node.message_us);
}

namespace {

/// The ranks of one node, as devices of one schedule: step s of rank r is number s * ranks + r.
class Node {
 public:
  Node(const RankBatch& batch, const Machine& node, const RankNodes& nodes, const Exchanges& exchanges)
      : batch_(batch), machine_(node), nodes_(nodes), exchanges_(exchanges), ranks_(static_cast<int>(volume(nodes.node))) {
    for (std::size_t step = 0; step < batch.schedule.steps.size(); ++step)
      for (int rank = 0; rank < ranks_; ++rank) add_step(step, rank);
    for (const RankFace& face : batch.sent) add_sent(face);
    for (const RankFace& face : batch.received) add_received(face);
  }

  std::vector<Interval> of_last_rank() const {
    const bool faces = exchanges_.between || (exchanges_.inside && has_inside_);
    const std::vector<Interval> all = lane_times(
        schedule_, needs_,
        {.signal = faces ? machine_.signal_us : 0, .join = faces ? machine_.join_us : 0, .meet = exchanges_.sums ? machine_.signal_us : 0},
        messages_);
    const auto last = std::max_element(all.begin(), all.end(), [](const Interval& a, const Interval& b) { return a.end < b.end; });
    std::vector<Interval> times;
    const auto ranks = static_cast<std::size_t>(ranks_);
    if (all.empty()) return times;
    for (std::size_t i = static_cast<std::size_t>(last - all.begin()) % ranks; i < all.size(); i += ranks) times.push_back(all[i]);
    return times;
  }

 private:
  std::size_t number(int step, int rank) const { return static_cast<std::size_t>(step * ranks_ + rank); }

  void add_step(std::size_t step, int rank) {
    const ScheduledStep& one = batch_.schedule.steps[step];
    ScheduledStep scheduled{one.step, rank, rank * LaneSchedule::lanes_a_device + one.lane, {}, {}, {}};
    for (const int before : one.waits) scheduled.waits.push_back(before * ranks_ + rank);
    StepTime need = batch_.needs[step];
    if (batch_.sums[step]) {
      for (int other = 0; other < ranks_; ++other)
        if (other != rank) scheduled.meets.push_back(static_cast<int>(number(static_cast<int>(step), other)));
      if (exchanges_.sums)
        need.fixed += host_sum_us(machine_, nodes_.count()) + (ranks_ == 1 && nodes_.count() > 1 ? machine_.signal_us : 0);
    }
    schedule_.steps.push_back(std::move(scheduled));
    needs_.push_back(need);
  }

  /// Who sits in that direction: a rank of this node, or in its place the one that stands there in the next node.
  struct Neighbour {
    int rank;
    bool inside;
  };
  Neighbour neighbour(int rank, const Coord& towards) const {
    Coord place = coordinates(rank, nodes_.node);
    bool inside = true;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      const int there = (place[mu] + towards[mu]) % nodes_.ranks[mu];
      inside = inside && there < nodes_.node[mu];
      place[mu] = there % nodes_.node[mu];
    }
    return {static_cast<int>(lexicographic(place, nodes_.node)), inside};
  }

  double host_us(double bytes) const { return bytes / machine_.host_face_gbs() * 1e-3; }

  /// What a face between nodes takes on the wire, and what then is left of copying it from host memory.
  struct Relayed {
    double wire = 0, copies_left = 0;
  };
  Relayed relayed(double bytes) const {
    const auto piece = static_cast<double>(relay_piece(static_cast<std::size_t>(bytes)));
    Relayed face;
    for (double left = bytes; left > 0; left -= piece) {
      const double now = std::min(left, piece), wire = machine_.message_us + now / machine_.wire_gbs() * 1e-3;
      face.wire += wire;
      face.copies_left = std::max(face.copies_left - wire, 0.) + host_us(now);
    }
    return face;
  }

  void add_sent(const RankFace& face) {
    for (int rank = 0; rank < ranks_; ++rank) {
      StepTime& need = needs_[number(face.step, rank)];
      if (!neighbour(rank, face.towards).inside) need.fixed += exchanges_.between ? host_us(face.bytes) : 0;
      else if (exchanges_.inside) need.fixed += machine_.gpu_gpu_us + face.bytes / machine_.gpu_gpu_gbs * 1e-3;
    }
    senders_[face.mailbox].push_back(face.step);
  }

  void add_received(const RankFace& face) {
    const std::vector<int>& of_mailbox = senders_[face.mailbox];
    const std::size_t turn = turns_[face.mailbox]++;
    if (turn >= of_mailbox.size()) throw Error(ErrorKind::internal, "rank_times", "a face is received that nobody sends", "report it");
    for (int rank = 0; rank < ranks_; ++rank) {
      const Neighbour sender = neighbour(rank, face.towards);
      Message message{static_cast<int>(number(of_mailbox[turn], sender.rank)), static_cast<int>(number(face.step, rank))};
      has_inside_ = has_inside_ || sender.inside;
      if (sender.inside) {
        if (exchanges_.inside) message.after = machine_.signal_us;
      } else if (exchanges_.between) {
        const Relayed pieces = relayed(face.bytes);
        needs_[number(face.step, rank)].fixed += pieces.copies_left;
        message.before = machine_.signal_us + machine_.flag_us + machine_.message_us;
        message.wire = pieces.wire;
        message.after = machine_.network_us + machine_.message_us + machine_.flag_us;
      }
      messages_.push_back(message);
    }
  }

  const RankBatch& batch_;
  const Machine& machine_;
  const RankNodes& nodes_;
  Exchanges exchanges_;
  int ranks_;
  LaneSchedule schedule_;
  std::vector<StepTime> needs_;
  std::vector<Message> messages_;
  std::map<std::size_t, std::vector<int>> senders_;  ///< steps, by mailbox, in their order
  std::map<std::size_t, std::size_t> turns_;
  bool has_inside_ = false;
};

struct StoodFor {
  Machine node;
  int count;
  Coord grid;
};
std::optional<StoodFor> stood_for;
BatchParts counted;

}  // namespace

std::vector<Interval> rank_times(const RankBatch& batch, const Machine& node, const RankNodes& nodes, const Exchanges& exchanges) {
  return Node(batch, node, nodes, exchanges).of_last_rank();
}

void stand_for_ranks(const Machine& node, int count) { stood_for = {node, count, {1, 1, 1, count}}; }
bool has_stood_for() { return stood_for.has_value(); }
int ranks_stood_for() { return stood_for.value().count; }
const Machine& node_of_ranks() { return stood_for.value().node; }
void set_rank_grid(const Coord& ranks) { stood_for.value().grid = ranks; }
RankNodes rank_nodes() { return nodes_of(stood_for.value().grid, node_of_ranks().gpus); }

FaceEnd* keep(const FaceEnd& end) {
  static std::deque<FaceEnd> all;
  return &all.emplace_back(end);
}

void count_batch(const BatchParts& parts) {
  counted.kernels += parts.kernels;
  counted.faces_inside += parts.faces_inside;
  counted.faces_between += parts.faces_between;
  counted.sums += parts.sums;
}

BatchParts take_batch_parts() { return std::exchange(counted, {}); }

}  // namespace quarkstar::runtime::simulate
