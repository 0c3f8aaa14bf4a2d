// Sums of GPUs on several hosts: threads take the part of the GPUs, doing what the kernel does, and find the bits of the whole sum.
#include "runtime/mpi/host_exchange.hpp"

#include "runtime/mpi/proxy.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <thread>
#include <vector>

namespace host_exchange_test {

using namespace quarkstar::runtime;
using mpi::HostExchange;
using quarkstar::runtime_testing::same_sum;

namespace {

constexpr unsigned seed = 20261127;

BinnedSum random_sum(std::mt19937& random) {
  BinnedSum sum = BinnedSum::zero();
  const int kind = static_cast<int>(random() % 8);
  for (int left = kind == 0 ? 0 : static_cast<int>(random() % 5); left > 0; --left)
    add(sum, std::ldexp(static_cast<double>(random()) - 0x1p31, static_cast<int>(random() % 200) - 100));
  if (kind == 1) add(sum, NAN);
  return sum;
}

/// What BlockExchange does (runtime/gpu/sum_exchange.cuh), in one thread and in any order of words.
class FakeGpu {
 public:
  FakeGpu(GpuFlag* memory, unsigned its_seed) : e_(HostExchange::for_gpu(memory)), random_(its_seed) {}

  void send(std::span<const BinnedSum> sums) {
    ++number_;
    GpuFlag* place = e_.to[1] + number_ % 2 * e_.turn_words();
    std::vector<std::uint32_t> data(sums.size() * SumExchange::words_a_sum);
    std::memcpy(data.data(), sums.data(), sums.size_bytes());
    const auto tag = (number_ & 0xffffffffu) << 32;
    const bool count_first = random_() % 2 == 0;
    const auto count = [&] { mpi::store_flag(place + e_.place_words() - 1, tag | sums.size()); };
    if (count_first) count();
    for (std::size_t i = data.size(); i-- > 0;) mpi::store_flag(place + i, tag | data[i]);
    if (!count_first) count();
  }
  /// Whether the answer is there; merged into sums then.
  bool receive(std::span<BinnedSum> sums) {
    const GpuFlag* place = e_.from + number_ % 2 * e_.turn_words() + e_.place_words();
    std::vector<std::uint32_t> data(sums.size() * SumExchange::words_a_sum);
    for (std::size_t i = 0; i < data.size(); ++i) {
      const GpuFlag word = mpi::load_flag(place + i);
      if (word >> 32 != (number_ & 0xffffffffu)) return false;
      data[i] = static_cast<std::uint32_t>(word);
    }
    std::vector<BinnedSum> others(sums.size());
    std::memcpy(others.data(), data.data(), sums.size_bytes());
    for (std::size_t s = 0; s < sums.size(); ++s) sums[s].merge(others[s]);
    return true;
  }

 private:
  SumExchange e_;
  std::mt19937 random_;
  GpuFlag number_ = 0;
};

}  // namespace

TEST_CASE("a sum is the sum of a part and of what is beside it") {
  std::mt19937 random(seed);
  INFO("seed " << seed);
  for (int round = 0; round < 20000; ++round) {
    const BinnedSum mine = random_sum(random), other = random_sum(random);
    BinnedSum total = mine;
    total.merge(other);
    BinnedSum again = mine;
    again.merge(mpi::difference(total, mine));
    CHECK(same_sum(again, total));
  }
}

TEST_CASE("a GPU whose host stands in for the other ranks finds the whole sum") {
  std::mt19937 random(seed);
  INFO("seed " << seed);
  constexpr int rounds = 300;
  std::vector<GpuFlag> memory(HostExchange::words());
  HostExchange host(memory.data());
  FakeGpu gpu(memory.data(), seed);
  for (int round = 0; round < rounds; ++round) {
    const std::size_t count = 1 + random() % detail::most_sums_on_cuda;
    std::vector<BinnedSum> mine, whole;
    for (std::size_t s = 0; s < count; ++s) {
      mine.push_back(random_sum(random));
      whole.push_back(mine.back());
      whole.back().merge(random_sum(random));
    }
    const auto nothing = [](std::int64_t, const BinnedSum*, BinnedSum*, int) { CHECK(false); };
    CHECK(!host.take(nothing));
    gpu.send(mine);
    CHECK(!gpu.receive(mine));
    CHECK(host.take([&](std::int64_t number, const BinnedSum* of_gpu, BinnedSum* total, int sums) {
      CHECK(number == round);
      REQUIRE(sums == static_cast<int>(count));
      for (std::size_t s = 0; s < count; ++s) {
        CHECK(same_sum(of_gpu[s], mine[s]));
        total[s] = whole[s];
      }
    }));
    CHECK(!host.take(nothing));
    host.answer();
    REQUIRE(gpu.receive(mine));
    for (std::size_t s = 0; s < count; ++s) CHECK(same_sum(mine[s], whole[s]));
  }
}

TEST_CASE("a GPU and its host on two threads") {
  constexpr int rounds = 2000;
  std::vector<GpuFlag> memory(HostExchange::words());
  std::thread host([&memory] {
    HostExchange exchange(memory.data());
    for (int round = 0; round < rounds;) {
      const bool taken = exchange.take([](std::int64_t, const BinnedSum* mine, BinnedSum* total, int count) {
        for (int s = 0; s < count; ++s) {
          total[s] = mine[s];
          add(total[s], 0x1p70);  // of the others
        }
      });
      if (!taken) {
        std::this_thread::yield();
        continue;
      }
      exchange.answer();
      ++round;
    }
  });
  FakeGpu gpu(memory.data(), seed);
  std::mt19937 random(seed);
  bool all_right = true;
  for (int round = 0; round < rounds; ++round) {
    std::vector<BinnedSum> sums(1 + random() % 8), whole;
    for (BinnedSum& sum : sums) {
      sum = random_sum(random);
      whole.push_back(sum);
      add(whole.back(), 0x1p70);
    }
    gpu.send(sums);
    while (!gpu.receive(sums)) std::this_thread::yield();
    for (std::size_t s = 0; s < sums.size(); ++s) all_right = all_right && same_sum(sums[s], whole[s]);
  }
  host.join();
  CHECK(all_right);
}

}  // namespace host_exchange_test
