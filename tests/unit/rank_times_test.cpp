// Times of batches on many ranks, computed from the ranks of one node: compared with all ranks written out, and with numbers by hand.
#include "runtime/simulate/rank_times.hpp"

#include "apps/simulation/simulated_ranks.hpp"
#include "runtime/system/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace rank_times_test {

using namespace quarkstar;
using namespace quarkstar::runtime::simulate;
using runtime::LaneSchedule;

namespace {

/// GPUs of 100 GB/s between each other and 10 to their host, which is 0.1 us a KB; links of 5 GB/s, one a GPU.
Machine node_of(int gpus) {
  Machine machine;
  machine.gpus = gpus;
  machine.peers = machine.proxy = true;
  machine.gpu_gpu_gbs = 100;
  machine.gpu_gpu_us = 0.5;
  machine.signal_us = 3;
  machine.join_us = 0.25;
  machine.host_gpu_gbs = 10;
  machine.host_gbs = 1000;
  machine.network_gbs = 5;
  machine.network_us = 7;
  machine.node_links = gpus;
  machine.flag_us = 2;
  machine.message_us = 1;
  return machine;
}

runtime::ScheduledStep step(int number, int lane, std::vector<int> waits = {}) { return {number, 0, lane, std::move(waits), {}, {}}; }

/// Two exchanges of faces with every neighbour of a grid that is cut, each behind an interior, and a sum behind each. Faces of 1000 (1 +
/// mu) bytes.
RankBatch batch_of(const Coord& ranks, const std::vector<double>& us) {
  RankBatch batch;
  for (int turn = 0; turn < 2; ++turn) {
    const int first = 4 * turn;
    const std::vector<int> after_sum = turn == 0 ? std::vector<int>{} : std::vector<int>{first - 1};
    batch.schedule.steps.push_back(step(first, 1, after_sum));        // packs
    batch.schedule.steps.push_back(step(first + 1, 0));               // interior
    batch.schedule.steps.push_back(step(first + 2, 1));               // boundary
    batch.schedule.steps.push_back(step(first + 3, 0, {first + 2}));  // sum
    for (int i = 0; i < 4; ++i) {
      batch.needs.push_back({1, us[static_cast<std::size_t>(first + i)]});
      batch.sums.push_back(i == 3);
    }
    for (std::size_t mu = 0; mu < 4; ++mu) {
      if (ranks[mu] == 1) continue;
      Coord forward{}, backward{};
      forward[mu] = 1;
      backward[mu] = ranks[mu] - 1;
      const double bytes = 1000 * (1 + static_cast<double>(mu));
      batch.sent.push_back({first, 2 * mu, backward, bytes});  // what is read from the front goes to the rank behind
      batch.sent.push_back({first, 2 * mu + 1, forward, bytes});
      batch.received.push_back({first + 2, 2 * mu, forward, bytes});
      batch.received.push_back({first + 2, 2 * mu + 1, backward, bytes});
    }
  }
  return batch;
}

double end_of(const std::vector<Interval>& times) {
  double last = 0;
  for (const Interval& interval : times) last = std::max(last, interval.end);
  return last;
}

/// The same with every rank a device of one schedule.
double written_out(const RankBatch& batch, const Machine& node, const RankNodes& nodes) {
  const int all = static_cast<int>(volume(nodes.ranks)), gpus = static_cast<int>(volume(nodes.node));
  LaneSchedule schedule;
  std::vector<StepTime> needs;
  std::vector<Message> messages;
  const auto steps = static_cast<int>(batch.schedule.steps.size());
  const auto at = [&](int s, int rank) { return s * all + rank; };
  for (int s = 0; s < steps; ++s)
    for (int rank = 0; rank < all; ++rank) {
      const runtime::ScheduledStep& one = batch.schedule.steps[static_cast<std::size_t>(s)];
      runtime::ScheduledStep copy{one.step, rank, 2 * rank + one.lane, {}, {}, {}};
      for (const int before : one.waits) copy.waits.push_back(at(before, rank));
      StepTime need = batch.needs[static_cast<std::size_t>(s)];
      if (batch.sums[static_cast<std::size_t>(s)]) {
        need.fixed += host_sum_us(node, nodes.count());
        for (int other = 0; other < all; ++other)
          if (other != rank) copy.meets.push_back(at(s, other));
      }
      schedule.steps.push_back(copy);
      needs.push_back(need);
    }
  const auto sender_of = [&](int rank, const Coord& towards) {
    Coord place = coordinates(rank, nodes.ranks);
    for (std::size_t mu = 0; mu < 4; ++mu) place[mu] = (place[mu] + towards[mu]) % nodes.ranks[mu];
    return static_cast<int>(lexicographic(place, nodes.ranks));
  };
  // Ranks fill nodes in their order.
  for (std::size_t i = 0; i < batch.received.size(); ++i)
    for (int rank = 0; rank < all; ++rank) {
      const RankFace& face = batch.received[i];
      const int sender = sender_of(rank, face.towards), sending = batch.sent[i].step;
      StepTime& pack = needs[static_cast<std::size_t>(at(sending, sender))];
      Message message{at(sending, sender), at(face.step, rank), 0, 0, node.signal_us};
      if (sender / gpus == rank / gpus) {
        pack.fixed += node.gpu_gpu_us + face.bytes / (1e3 * node.gpu_gpu_gbs);
      } else {
        pack.fixed += face.bytes / (1e3 * node.host_gpu_gbs);
        needs[static_cast<std::size_t>(at(face.step, rank))].fixed += face.bytes / (1e3 * node.host_gpu_gbs);
        message = {message.from, message.to, node.signal_us + node.flag_us + node.message_us,
                   node.message_us + face.bytes / (1e3 * node.network_gbs), node.network_us + node.message_us + node.flag_us};
      }
      messages.push_back(message);
    }
  return end_of(lane_times(schedule, needs, {.signal = node.signal_us, .join = node.join_us}, messages));
}

}  // namespace

TEST_CASE("consecutive ranks of a grid are the rectangle of a node") {
  CHECK(nodes_of({1, 1, 1, 8}, 4).node == Coord{1, 1, 1, 4});
  CHECK(nodes_of({1, 1, 2, 4}, 4).node == Coord{1, 1, 2, 2});
  CHECK(nodes_of({2, 2, 2, 2}, 4).node == Coord{2, 2, 1, 1});
  CHECK(nodes_of({1, 1, 1, 2}, 4).node == Coord{1, 1, 1, 2});
  CHECK(nodes_of({4, 4, 8, 8}, 4).count() == 256);
  CHECK_THROWS_WITH(nodes_of({1, 1, 1, 6}, 4),
                    doctest::Contains("ranks: 6 ranks leave a node of 4 GPUs partly empty; give a multiple of 4"));
  CHECK_THROWS_WITH(nodes_of({1, 1, 3, 4}, 4), doctest::Contains("4 consecutive ranks of a grid of 1x1x3x4 are no rectangle"));
}

TEST_CASE("parts of equal size make the lattice of a weak scaling") {
  CHECK(app::weak_lattice({32, 32, 32, 32}, 1, 4) == Coord{32, 32, 32, 32});
  CHECK(app::weak_lattice({32, 32, 32, 32}, 4, 4) == Coord{32, 32, 32, 128});
  CHECK(app::weak_lattice({32, 32, 32, 32}, 64, 4) == Coord{64, 64, 64, 256});
  CHECK(app::weak_lattice({16, 16, 16, 32}, 24, 4) == Coord{16, 48, 32, 128});
  for (const int ranks : {3, 12, 1024}) CHECK(volume(app::weak_lattice({8, 8, 8, 8}, ranks, 4)) == 4096 * std::int64_t{ranks});
}

TEST_CASE("a message goes over the wire of its device behind those before it") {
  LaneSchedule schedule;
  schedule.steps = {step(0, 0), {1, 1, 2, {}, {}, {}}, {2, 2, 4, {}, {}, {}}, {3, 1, 2, {}, {}, {}}};
  const std::vector<StepTime> needs{{5, 0}, {1, 0}, {1, 0}, {1, 0}};
  const std::vector<Interval> times = lane_times(schedule, needs, {.signal = 100}, {{0, 2, 1, 4, 2}, {0, 3, 1, 8, 2}});
  CHECK(times[1].begin == doctest::Approx(0));
  CHECK(times[2].begin == doctest::Approx(12));  // 5 + 1 + 4 + 2
  CHECK(times[3].begin == doctest::Approx(20));  // 8 more on the wire
}

TEST_CASE("a sum between nodes takes as many rounds as their number has bits") {
  const Machine node = node_of(4);
  CHECK(host_sum_us(node, 1) == 0);
  const double round = node.network_us + node.message_us, both_ends = 2 * node.flag_us + node.message_us;
  for (int bits = 1; bits <= 10; ++bits) CHECK(host_sum_us(node, 1 << bits) == doctest::Approx(both_ends + bits * round));
  CHECK(host_sum_us(node, 5) == host_sum_us(node, 8));
}

TEST_CASE("ranks of one node stand for those of all") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> length(0, 30);
  struct Case {
    Coord ranks;
    int gpus;
  };
  for (const auto& [ranks, gpus] : {Case{{1, 1, 1, 1}, 1}, Case{{1, 1, 1, 2}, 4}, Case{{1, 1, 1, 2}, 1}, Case{{1, 1, 1, 4}, 4},
                                    Case{{1, 1, 1, 8}, 4}, Case{{1, 1, 2, 4}, 4}, Case{{2, 2, 2, 2}, 4}, Case{{2, 1, 3, 2}, 2}}) {
    CAPTURE(ranks);
    CAPTURE(gpus);
    const Machine node = node_of(gpus);
    const RankNodes nodes = nodes_of(ranks, gpus);
    for (int repetition = 0; repetition < 4; ++repetition) {
      std::vector<double> us(8);
      for (double& one : us) one = length(engine);
      const RankBatch batch = batch_of(ranks, us);
      const double all = end_of(rank_times(batch, node, nodes, {}));
      CHECK(all == doctest::Approx(written_out(batch, node, nodes)));
      // Without exchanges it is what the two lanes of one device take; each exchange makes it longer or leaves it.
      const double alone = end_of(rank_times(batch, node, nodes, {false, false, false}));
      CHECK(alone == doctest::Approx(end_of(lane_times(batch.schedule, batch.needs, {}))));
      const double inside = end_of(rank_times(batch, node, nodes, {true, false, false})),
                   between = end_of(rank_times(batch, node, nodes, {true, true, false}));
      CHECK(alone <= inside + 1e-9);
      CHECK(inside <= between + 1e-9);
      CHECK(between <= all + 1e-9);
    }
  }
}

TEST_CASE("an exchange between two nodes, by hand") {
  // Two nodes with a GPU each, cut in t: faces of 4000 bytes both ways; packs of 1 + 5, an interior of 1 + 100 beside them, boundaries 1
  // + 10.
  const Machine node = node_of(1);
  RankBatch batch = batch_of({1, 1, 1, 2}, {5, 100, 10, 0, 0, 0, 0, 0});
  batch.schedule.steps.resize(4);
  batch.needs.resize(4);
  batch.sums = {false, false, false, true};
  batch.sent.resize(2);
  batch.received.resize(2);
  const std::vector<Interval> times = rank_times(batch, node, nodes_of({1, 1, 1, 2}, 1), {});
  REQUIRE(times.size() == 4);
  // Two faces into host memory, 0.4 us each; then 5 of the pack beside the interior, which begins 0.8 us earlier: 10.
  CHECK(times[0].end == doctest::Approx(1.8 + 10));
  // signal 3, flag 2, message 1; the second face is on the wire 1.8 us behind the first, for as long; network 7, message 1, flag 2.
  CHECK(times[2].begin == doctest::Approx(11.8 + 6 + 2 * 1.8 + 10));
  // Two faces are copied from the host, 0.8 us; then 10 of the boundary beside the interior.
  CHECK(times[2].end == doctest::Approx(31.4 + 1.8 + 20));
  CHECK(times[1].end == doctest::Approx(1 + 100 + 5 + 10));
  // The sum begins when the interior ends; to hear of the other 3, flags 4, adding up 1, one round 8, the kernel 1.
  CHECK(times[3].begin == doctest::Approx(116));
  CHECK(times[3].end == doctest::Approx(116 + 1 + 16));

  // Faces of 300000 bytes go in three pieces, of 131072, 131072 and 37856.
  for (auto* faces : {&batch.sent, &batch.received})
    for (RankFace& face : *faces) face.bytes = 300000;
  const std::vector<Interval> long_faces = rank_times(batch, node, nodes_of({1, 1, 1, 2}, 1), {});
  CHECK(long_faces[0].end == doctest::Approx(1 + 60 + 10));
  CHECK(long_faces[2].begin == doctest::Approx(71 + 6 + 2 * (3 + 60) + 10));
  // The second piece is copied for 13.1072 us, the third comes 1 + 7.5712 later and takes 3.7856 more.
  CHECK(long_faces[2].end == doctest::Approx(213 + 1 + 2 * (13.1072 - 8.5712 + 3.7856) + 10));
}

TEST_CASE("more latency and less bandwidth are never faster") {
  const std::vector<double> us{2, 20, 4, 1, 2, 20, 4, 1};
  const Coord ranks{1, 1, 4, 4};
  const RankBatch batch = batch_of(ranks, us);
  const Machine node = node_of(4);
  const double usual = end_of(rank_times(batch, node, nodes_of(ranks, 4), {}));
  const auto slower = [&](double Machine::*number, double factor) {
    Machine other = node;
    other.*number *= factor;
    return end_of(rank_times(batch, other, nodes_of(ranks, 4), {}));
  };
  for (double Machine::*latency :
       {&Machine::network_us, &Machine::flag_us, &Machine::message_us, &Machine::signal_us, &Machine::gpu_gpu_us})
    for (const double factor : {1.1, 2., 10.}) CHECK(slower(latency, factor) >= usual);
  for (double Machine::*bandwidth : {&Machine::network_gbs, &Machine::gpu_gpu_gbs, &Machine::host_gpu_gbs, &Machine::host_gbs})
    for (const double factor : {0.9, 0.5, 0.01}) CHECK(slower(bandwidth, factor) >= usual);
  CHECK(slower(&Machine::network_us, 2) > usual);
}

}  // namespace rank_times_test
