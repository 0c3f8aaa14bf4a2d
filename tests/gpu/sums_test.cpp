// Sums in tables on a GPU become partial sums, and the numbers of a scalar step, with the bits of the host's.
#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/gpu/sum_exchange.hpp"
#include "solvers/krylov/cg_steps.hpp"
#include "tests/gpu/support.hpp"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace sums_test {

using namespace quarkstar;
using namespace quarkstar::runtime;
using gpu_testing::OnGpu;
using gpu_testing::Stream;

namespace {

using cg_steps::Begin;
using cg_steps::State;

/// What the warps of a kernel do with a summand.
void add_to_table(SumTable& table, int place, double x) {
  SumTable::Place& at = table.place[place];
  if (!std::isfinite(x)) at.seen |= SumTable::poison;
  if (!std::isfinite(x) || x == 0) return;
  const int window = window_of(x);
  at.seen |= SumTable::bit_of(window);
  double y = x * power_of_window(-window);
  for (int i = 0; i < 3; ++i) {
    const double digit = nearest_integer(y);
    at.limb_of(window, i) += static_cast<unsigned long long>(static_cast<std::int64_t>(digit));
    y = (y - digit) * 4294967296.0;
  }
}

/// Random sums as tables and as sums: of numbers of any size and sign, some of which cancel; now and then none, or one
/// that is no number.
struct Case {
  std::vector<SumTable> tables;
  std::vector<BinnedSum> sums;

  Case(int count, std::mt19937_64& random) : tables(static_cast<std::size_t>(count)), sums(tables.size(), BinnedSum::zero()) {
    std::uniform_real_distribution<double> exponent(-1000, 1000), mantissa(-1, 1);
    for (std::size_t s = 0; s < sums.size(); ++s) {
      const double scale = exponent(random);
      const auto put = [&](double x) {
        add_to_table(tables[s], static_cast<int>(random() % SumTable::places), x);
        add(sums[s], x);
      };
      for (std::uint64_t i = random() % 100; i > 0; --i) {
        const double x = mantissa(random) * std::exp2(scale / (1 + static_cast<double>(random() % 4)));
        put(x);
        if (random() % 8 == 0) put(-x);
      }
      if (random() % 16 == 0) put(std::numeric_limits<double>::infinity());
    }
  }
};

bool same(const BinnedSum& a, const BinnedSum& b) { return std::memcmp(&a, &b, sizeof a) == 0; }
bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Whether the first `count` tables of the current lane are empty.
bool tables_are_empty(int count) {
  std::vector<SumTable> tables(static_cast<std::size_t>(count));
  const std::size_t bytes = tables.size() * sizeof(SumTable);
  REQUIRE(cudaMemcpy(tables.data(), sum_tables(), bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  const auto* words = reinterpret_cast<const unsigned long long*>(tables.data());
  return std::all_of(words, words + bytes / sizeof *words, [](unsigned long long word) { return word == 0; });
}

void fill_tables(const std::vector<SumTable>& tables) {
  REQUIRE(cudaMemcpy(sum_tables(), tables.data(), tables.size() * sizeof(SumTable), cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}
void clear_tables(int count) { fill_tables(std::vector<SumTable>(static_cast<std::size_t>(count))); }

/// Enqueues a scalar step on these partial sums; it exchanges its sums where there is an exchange.
void enqueue_step(const State* state, const OnGpu<double>& history, const std::vector<void*>& partials, int sums,
                  const SumExchange* exchange, cudaStream_t stream) {
  std::vector<void*> buffers{const_cast<State*>(state), history.get()};
  buffers.insert(buffers.end(), partials.begin(), partials.end());
  const runtime::detail::ScalarArguments arguments{static_cast<int>(partials.size()), sums, 4};
  Call call(buffers.data(), &arguments, nullptr, stream, 0);
  call.set_exchange(exchange);
  runtime::detail::run_scalar_step_on_cuda<State, Begin>(call);
}

/// Loads the kernel: later that might wait for one that waits for it.
void load_step(const OnGpu<double>& history, const Stream& stream) {
  const OnGpu<State> state({State{}});
  enqueue_step(state.get(), history, {}, 0, nullptr, stream.stream);
  REQUIRE(cudaStreamSynchronize(stream.stream) == cudaSuccess);
}

/// Where streams of one GPU that stand for devices exchange sums.
class Exchanges {
 public:
  Exchanges(int devices, int most_sums, GpuFlag so_far)
      : sizes_(of_sizes(devices, most_sums)),
        words_(std::vector<GpuFlag>(static_cast<std::size_t>(devices) * 2 * sizes_.turn_words(), 0)),
        counts_(std::vector<GpuFlag>(static_cast<std::size_t>(devices), so_far)) {}

  SumExchange on(int device) const {
    SumExchange exchange = sizes_;
    exchange.self = device;
    exchange.from = words_of(device);
    exchange.count = counts_.get() + device;
    for (int other = 0; other < exchange.devices; ++other)
      exchange.to[other] = words_of(other) + static_cast<std::size_t>(device) * exchange.place_words();
    return exchange;
  }
  std::vector<GpuFlag> counts() const { return counts_.read(); }

 private:
  static SumExchange of_sizes(int devices, int most_sums) {
    SumExchange exchange{};
    exchange.devices = devices;
    exchange.most_sums = most_sums;
    exchange.patience_ns = gpu_patience_ns;
    return exchange;
  }
  GpuFlag* words_of(int device) const { return words_.get() + static_cast<std::size_t>(device) * 2 * sizes_.turn_words(); }
  SumExchange sizes_;
  OnGpu<GpuFlag> words_, counts_;
};

}  // namespace

TEST_CASE("finished sums have the bits of the host's, and leave empty tables") {
  QUARKSTAR_NEEDS_GPU("gpu sums");
  const unsigned seed = 20261122;
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  const Stream s;
  for (const int count : {1, 2, 3, 7, 8, 9, 64, 100, 1024}) {
    INFO("sums " << count);
    const Case c(count, random);
    const std::vector<BinnedSum> before(c.sums.size(), BinnedSum{{1, 2, 3}, 4, 0});
    for (const int flag : {0, 1}) {
      const OnGpu<BinnedSum> partial(before);
      const OnGpu<std::int32_t> idle({flag});
      fill_tables(c.tables);
      finish_sums(partial.get(), count, idle.get(), s.stream);
      flush_sums(s.stream);
      CHECK(take_unfinished_sums(s.stream).count == 0);
      REQUIRE(cudaStreamSynchronize(s.stream) == cudaSuccess);
      const std::vector<BinnedSum> got = partial.read(), &expected = flag == 0 ? c.sums : before;
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(same(got[i], expected[i]));
      CHECK(tables_are_empty(count) == (flag == 0));
      clear_tables(count);
    }
  }
}

TEST_CASE("a scalar step finishes the sums of the kernel before it, wherever they are among its partial sums") {
  QUARKSTAR_NEEDS_GPU("gpu sums in a scalar step");
  const unsigned seed = 20261123;
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  const Stream s;
  constexpr int most = 32;
  enum class Idle { nobody, producer, step, both };
  for (int trial = 0; trial < 400; ++trial) {
    const auto below = [&random](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    // Mostly a few partial sums; now and then more than a launch takes.
    const int sums = 1 + trial % most, partials = trial % 20 == 19 ? 130 : 1 + below(4), unfinished = below(partials);
    const int first = below(3) == 0 ? below(sums) : 0, count = below(3) == 0 ? 1 + below(64) : sums - first;
    const auto idle = static_cast<Idle>(below(4));
    const bool elsewhere = below(8) == 0;  // the sums are of no partial of the step
    INFO("trial " << trial << ": sums " << sums << " partials " << partials << " unfinished " << unfinished << " from " << first
                  << " count " << count << " idle " << static_cast<int>(idle) << " elsewhere " << elsewhere);
    const Case c(count, random);
    std::vector<std::vector<BinnedSum>> host;
    for (int p = 0; p <= partials; ++p) {
      host.push_back(Case(most, random).sums);
      host.back().resize(most + 64, BinnedSum::zero());
    }
    std::vector<std::unique_ptr<OnGpu<BinnedSum>>> device;
    for (const auto& of_partial : host) device.push_back(std::make_unique<OnGpu<BinnedSum>>(of_partial));
    const auto target = static_cast<std::size_t>(elsewhere ? partials : unfinished);
    const OnGpu<std::int32_t> producer_idle({idle == Idle::producer || idle == Idle::both ? 1 : 0});
    State initial{};
    initial.vectors = sums;
    initial.status.stop = idle == Idle::step || idle == Idle::both ? 1 : 0;
    const OnGpu<State> state({initial});
    const OnGpu<double> history(std::vector<double>(4));
    fill_tables(c.tables);

    finish_sums(device[target]->get() + first, count, producer_idle.get(), s.stream);
    std::vector<void*> buffers{state.get(), history.get()};
    for (int p = 0; p < partials; ++p) buffers.push_back(device[static_cast<std::size_t>(p)]->get());
    const runtime::detail::ScalarArguments arguments{partials, sums, 4};
    Call call(buffers.data(), &arguments, nullptr, s.stream, 0);
    runtime::detail::run_scalar_step_on_cuda<State, Begin>(call);
    CHECK(take_unfinished_sums(s.stream).count == 0);
    REQUIRE(cudaStreamSynchronize(s.stream) == cudaSuccess);

    const bool produced = idle == Idle::nobody || idle == Idle::step;
    if (produced) std::copy(c.sums.begin(), c.sums.end(), host[target].begin() + first);
    CHECK(tables_are_empty(count) == produced);
    clear_tables(count);
    for (std::size_t p = 0; p < host.size(); ++p) {
      const std::vector<BinnedSum> got = device[p]->read();
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < got.size(); ++i) wrong += same(got[i], host[p][i]) ? 0 : 1;
      CHECK(wrong == 0);
    }
    State expected = initial;
    if (initial.status.stop == 0) {
      double values[most];
      for (int v = 0; v < sums; ++v) {
        BinnedSum total = BinnedSum::zero();
        for (int p = 0; p < partials; ++p) total.merge(host[static_cast<std::size_t>(p)][static_cast<std::size_t>(v)]);
        values[v] = value_of(total);
      }
      take_step<Begin>(expected, values, static_cast<double*>(nullptr), 4);
    }
    const State got = state.read()[0];
    for (int v = 0; v < most; ++v) {
      CHECK(same(got.rho[v], expected.rho[v]));
      CHECK(got.stopped[v] == expected.stopped[v]);
    }
    CHECK(got.status.steps_taken == expected.status.steps_taken);
    CHECK(got.status.stop == expected.status.stop);
  }
}

TEST_CASE("scalar steps that exchange their sums have the same bits on every device, run after run") {
  QUARKSTAR_NEEDS_GPU("gpu exchange of sums");
  const unsigned seed = 20261124;
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  // Streams of one GPU stand for devices, with tables of their own.
  constexpr int most_devices = 16, most_sums = 32, partials_a_device = 2;
  const Stream streams[most_devices];
  const OnGpu<double> history(std::vector<double>(4));
  load_step(history, streams[0]);
  for (const int devices : {2, 3, 16}) {
    const Exchanges places(devices, most_sums, 0);
    GpuFlag exchanged = 0;
    for (const int sums : {1, 2, 17, 32, 0}) {
      for (int round = 0; round < 3; ++round) {
        INFO("devices " << devices << " sums " << sums << " round " << round);
        ++exchanged;
        std::vector<std::unique_ptr<OnGpu<BinnedSum>>> partials;
        std::vector<BinnedSum> totals(most_sums, BinnedSum::zero());
        std::vector<std::unique_ptr<OnGpu<State>>> states;
        std::vector<SumExchange> exchanges;
        for (int device = 0; device < devices; ++device) {
          State initial{};
          initial.vectors = sums;
          states.push_back(std::make_unique<OnGpu<State>>(std::vector<State>{initial}));
          exchanges.push_back(places.on(device));
          use_worker_memory_of_lane(device);
          const Case unfinished(most_sums, random), finished(most_sums, random);
          fill_tables(unfinished.tables);
          partials.push_back(std::make_unique<OnGpu<BinnedSum>>(std::vector<BinnedSum>(most_sums, BinnedSum::zero())));
          partials.push_back(std::make_unique<OnGpu<BinnedSum>>(finished.sums));
          for (std::size_t s = 0; s < totals.size(); ++s) {
            totals[s].merge(unfinished.sums[s]);
            totals[s].merge(finished.sums[s]);
          }
        }
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        for (int device = 0; device < devices; ++device) {
          use_worker_memory_of_lane(device);
          std::vector<void*> own(static_cast<std::size_t>(devices * partials_a_device), nullptr);
          for (int p = 0; p < partials_a_device; ++p) {
            const auto number = static_cast<std::size_t>(device * partials_a_device + p);
            own[number] = partials[number]->get();
          }
          const auto first = static_cast<std::size_t>(device * partials_a_device);
          if (sums > 0) finish_sums(partials[first]->get(), sums, nullptr, streams[device].stream);
          enqueue_step(states[static_cast<std::size_t>(device)]->get(), history, own, sums, &exchanges[static_cast<std::size_t>(device)],
                       streams[device].stream);
        }
        for (const Stream& stream : streams) REQUIRE(cudaStreamSynchronize(stream.stream) == cudaSuccess);
        for (int device = 0; device < devices; ++device) {
          use_worker_memory_of_lane(device);
          clear_tables(most_sums);
          const State got = states[static_cast<std::size_t>(device)]->read()[0];
          for (int v = 0; v < sums; ++v) CHECK(same(got.rho[v], value_of(totals[static_cast<std::size_t>(v)])));
          CHECK(got.status.steps_taken == 1);
        }
        CHECK(places.counts() == std::vector<GpuFlag>(static_cast<std::size_t>(devices), exchanged));
        use_worker_memory_of_lane(0);
      }
    }
  }
}

TEST_CASE("exchanges of replayed graphs follow each other without the host, and no sum is overwritten unread") {
  QUARKSTAR_NEEDS_GPU("gpu exchanges in graphs");
  const unsigned seed = 20261125;
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  // Streams stand for ranks. An even number of rounds has a round's words in the same place in every replay.
  constexpr int devices = 3, most_sums = 32, rounds = 12, replays = 5;
  const Stream streams[devices];
  const OnGpu<double> history(std::vector<double>(4));
  load_step(history, streams[0]);
  constexpr GpuFlag so_far = (GpuFlag{1} << 32) - 40;  // the half that is sent begins again on the way
  const Exchanges places(devices, most_sums, so_far);
  std::vector<int> sums;
  std::vector<std::vector<BinnedSum>> totals(rounds, std::vector<BinnedSum>(most_sums, BinnedSum::zero()));
  std::vector<std::unique_ptr<OnGpu<BinnedSum>>> partials;
  std::vector<std::unique_ptr<OnGpu<State>>> states;
  for (std::vector<BinnedSum>& total : totals) {
    sums.push_back(1 + static_cast<int>(random() % most_sums));
    for (int device = 0; device < devices; ++device) {
      const Case c(most_sums, random);
      for (std::size_t s = 0; s < total.size(); ++s) total[s].merge(c.sums[s]);
      partials.push_back(std::make_unique<OnGpu<BinnedSum>>(c.sums));
      State initial{};
      initial.vectors = sums.back();
      std::fill(std::begin(initial.target), std::end(initial.target), -std::numeric_limits<double>::infinity());
      states.push_back(std::make_unique<OnGpu<State>>(std::vector<State>{initial}));
    }
  }
  std::vector<cudaGraphExec_t> graphs;
  for (int device = 0; device < devices; ++device) {
    const SumExchange exchange = places.on(device);
    const cudaStream_t stream = streams[device].stream;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    for (int round = 0; round < rounds; ++round) {
      const auto of_device = static_cast<std::size_t>(round * devices + device);
      enqueue_step(states[of_device]->get(), history, {partials[of_device]->get()}, sums[static_cast<std::size_t>(round)], &exchange,
                   stream);
    }
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&graphs.emplace_back(), graph, 0) == cudaSuccess);
    REQUIRE(cudaGraphUpload(graphs.back(), stream) == cudaSuccess);
    cudaGraphDestroy(graph);
  }
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  // Each device's replays at once: the first is ahead of the others as far as it can be.
  for (int device = 0; device < devices; ++device)
    for (int replay = 0; replay < replays; ++replay)
      REQUIRE(cudaGraphLaunch(graphs[static_cast<std::size_t>(device)], streams[device].stream) == cudaSuccess);
  for (const Stream& stream : streams) REQUIRE(cudaStreamSynchronize(stream.stream) == cudaSuccess);
  for (cudaGraphExec_t graph : graphs) cudaGraphExecDestroy(graph);
  CHECK(places.counts() == std::vector<GpuFlag>(devices, so_far + rounds * replays));
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::size_t round = i / devices;
    INFO("round " << round << " device " << i % devices);
    const State got = states[i]->read()[0];
    for (std::size_t v = 0; v < static_cast<std::size_t>(sums[round]); ++v) CHECK(same(got.rho[v], value_of(totals[round][v])));
  }
}

TEST_CASE("sums that are put off are finished before the tables are used again") {
  QUARKSTAR_NEEDS_GPU("gpu sums put off");
  std::mt19937_64 random(1);
  const Stream s;
  const Case one(5, random), two(3, random);
  const OnGpu<BinnedSum> first(std::vector<BinnedSum>(5, BinnedSum::zero())), second(std::vector<BinnedSum>(3, BinnedSum::zero()));
  fill_tables(one.tables);
  finish_sums(first.get(), 5, nullptr, s.stream);
  (void)sum_tables();
  REQUIRE(cudaStreamSynchronize(s.stream) == cudaSuccess);
  fill_tables(two.tables);
  finish_sums(second.get(), 3, nullptr, s.stream);
  finish_sums(first.get(), 0, nullptr, s.stream);  // nothing
  flush_sums(s.stream);
  REQUIRE(cudaStreamSynchronize(s.stream) == cudaSuccess);
  const std::vector<BinnedSum> a = first.read(), b = second.read();
  for (std::size_t i = 0; i < 5; ++i) CHECK(same(a[i], one.sums[i]));
  for (std::size_t i = 0; i < 3; ++i) CHECK(same(b[i], two.sums[i]));
}

}  // namespace sums_test
#endif
