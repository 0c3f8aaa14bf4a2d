// Sums in tables on a GPU become partial sums, and the numbers of a scalar step, with the bits of the host's.
#include "runtime/gpu_sums.hpp"
#include "runtime/sum_exchange.hpp"
#include "solvers/vector_cg_steps.hpp"
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

using namespace quarkstar;
using namespace quarkstar::runtime;

namespace {

using vector_cg_steps::Begin;
using vector_cg_steps::State;

/// Memory of the GPU with the bytes of some host objects.
template <class T>
class OnGpu {
 public:
  explicit OnGpu(const std::vector<T>& host) : count_(host.size()) {
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, count_ * sizeof(T)) == cudaSuccess);
    memory_ = static_cast<T*>(memory);
    set(host);
  }
  ~OnGpu() { cudaFree(memory_); }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  T* get() const { return memory_; }
  void set(const std::vector<T>& host) const {
    REQUIRE(cudaMemcpy(memory_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);  // it may return before the bytes are there
  }
  std::vector<T> read() const {
    std::vector<T> host(count_);
    REQUIRE(cudaMemcpy(host.data(), memory_, count_ * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return host;
  }

 private:
  T* memory_ = nullptr;
  std::size_t count_;
};

struct Stream {
  Stream() { REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess); }
  ~Stream() { cudaStreamDestroy(stream); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t stream = nullptr;
};

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

  Case(int count, std::mt19937_64& random)
      : tables(static_cast<std::size_t>(count)), sums(tables.size(), BinnedSum::zero()) {
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
  REQUIRE(cudaMemcpy(sum_tables(), tables.data(), tables.size() * sizeof(SumTable), cudaMemcpyHostToDevice) ==
          cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}
void clear_tables(int count) { fill_tables(std::vector<SumTable>(static_cast<std::size_t>(count))); }

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
    INFO("trial " << trial << ": sums " << sums << " partials " << partials << " unfinished " << unfinished << " from "
                  << first << " count " << count << " idle " << static_cast<int>(idle) << " elsewhere " << elsewhere);
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
  const auto take_step_on = [&](int device, const State* state, void* history, const std::vector<void*>& partials,
                                int sums, const SumExchange* exchange) {
    std::vector<void*> buffers{const_cast<State*>(state), history};
    buffers.insert(buffers.end(), partials.begin(), partials.end());
    const runtime::detail::ScalarArguments arguments{static_cast<int>(partials.size()), sums, 4};
    Call call(buffers.data(), &arguments, nullptr, streams[device].stream, 0);
    call.set_exchange(exchange);
    runtime::detail::run_scalar_step_on_cuda<State, Begin>(call);
  };
  const OnGpu<double> history(std::vector<double>(4));
  {
    // Loads the kernel: later that might wait for one that waits for it.
    const OnGpu<State> state({State{}});
    take_step_on(0, state.get(), history.get(), {}, 0, nullptr);
    REQUIRE(cudaStreamSynchronize(streams[0].stream) == cudaSuccess);
  }
  std::uint64_t epoch = 0;
  const OnGpu<GpuFlag> epoch_on_gpu(std::vector<GpuFlag>(1, epoch));
  for (const int devices : {2, 3, 16}) {
    const auto words = static_cast<std::size_t>(devices) * devices * most_sums * SumExchange::words_a_sum;
    const OnGpu<GpuFlag> places(std::vector<GpuFlag>(words, 0));
    for (const int sums : {1, 2, 17, 32, 0}) {
      for (int round = 0; round < 3; ++round) {
        INFO("devices " << devices << " sums " << sums << " round " << round);
        epoch_on_gpu.set({++epoch});
        std::vector<std::unique_ptr<OnGpu<BinnedSum>>> partials;
        std::vector<BinnedSum> totals(most_sums, BinnedSum::zero());
        std::vector<std::unique_ptr<OnGpu<State>>> states;
        std::vector<SumExchange> exchanges;
        for (int device = 0; device < devices; ++device) {
          State initial{};
          initial.vectors = sums;
          states.push_back(std::make_unique<OnGpu<State>>(std::vector<State>{initial}));
          SumExchange exchange{};
          exchange.devices = devices;
          exchange.self = device;
          exchange.most_sums = most_sums;
          exchange.epoch = epoch_on_gpu.get();
          exchange.from = places.get() + static_cast<std::size_t>(device * devices) * exchange.place_words();
          for (int other = 0; other < devices; ++other)
            exchange.to[other] =
                places.get() + static_cast<std::size_t>(other * devices + device) * exchange.place_words();
          exchanges.push_back(exchange);
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
          take_step_on(device, states[static_cast<std::size_t>(device)]->get(), history.get(), own, sums,
                       &exchanges[static_cast<std::size_t>(device)]);
        }
        for (const Stream& stream : streams) REQUIRE(cudaStreamSynchronize(stream.stream) == cudaSuccess);
        for (int device = 0; device < devices; ++device) {
          use_worker_memory_of_lane(device);
          clear_tables(most_sums);
          const State got = states[static_cast<std::size_t>(device)]->read()[0];
          for (int v = 0; v < sums; ++v) CHECK(same(got.rho[v], value_of(totals[static_cast<std::size_t>(v)])));
          CHECK(got.status.steps_taken == 1);
        }
        use_worker_memory_of_lane(0);
      }
    }
  }
}

TEST_CASE("sums that are put off are finished before the tables are used again") {
  QUARKSTAR_NEEDS_GPU("gpu sums put off");
  std::mt19937_64 random(1);
  const Stream s;
  const Case one(5, random), two(3, random);
  const OnGpu<BinnedSum> first(std::vector<BinnedSum>(5, BinnedSum::zero())),
      second(std::vector<BinnedSum>(3, BinnedSum::zero()));
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
