// Mailboxes and sums over GPU memory, between streams of one process that stand for ranks: what was sent arrives, in order, and nothing is
// overwritten before it has been read.
#include "runtime/gpu_messages.hpp"
#include "tests/gpu/support.hpp"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::runtime;

namespace {

constexpr std::uint64_t patience_ns = 20'000'000'000;

/// Zeroed memory of the GPU, or host memory that it writes.
template <class T>
class Zeroed {
 public:
  explicit Zeroed(std::size_t count, bool host = false) : host_(host) {
    void* memory = nullptr;
    REQUIRE((host ? cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocMapped) : cudaMalloc(&memory, count * sizeof(T))) == cudaSuccess);
    REQUIRE(cudaMemset(memory, 0, count * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    memory_ = static_cast<T*>(memory);
  }
  ~Zeroed() { host_ ? cudaFreeHost(memory_) : cudaFree(memory_); }
  Zeroed(const Zeroed&) = delete;
  Zeroed& operator=(const Zeroed&) = delete;
  T* operator+(std::size_t i) const { return memory_ + i; }

 private:
  T* memory_ = nullptr;
  bool host_;
};

class Stream {
 public:
  Stream() { REQUIRE(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) == cudaSuccess); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator CudaStream() const { return stream_; }
  void wait() const { REQUIRE(cudaStreamSynchronize(stream_) == cudaSuccess); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace

TEST_CASE("messages through mailboxes arrive whole and in order") {
  QUARKSTAR_NEEDS_GPU("messages");
  constexpr std::size_t mailboxes = 18, words = 1000, rounds = 12;  // more mailboxes than a kernel takes
  const Zeroed<std::uint64_t> memory(mailboxes * words), seen(rounds * mailboxes * words);
  const Zeroed<GpuFlag> flags(4 * mailboxes);
  const Zeroed<std::uint32_t> late(2 * mailboxes, true);
  std::vector<Mailbox> to, from;
  for (std::size_t m = 0; m < mailboxes; ++m) {
    to.push_back({memory + m * words, flags + m, flags + (mailboxes + m), flags + (2 * mailboxes + m), late + m, patience_ns});
    from.push_back({memory + m * words, flags + m, flags + (mailboxes + m), flags + (3 * mailboxes + m), late + (mailboxes + m), patience_ns});
  }
  const Stream sender, receiver;
  const auto send = [&](std::size_t round) {
    enqueue_room(to, sender);
    for (std::size_t m = 0; m < mailboxes; ++m) enqueue_known_words(memory + m * words, 1 + round * mailboxes + m, words, sender);
    enqueue_sent(to, sender);
  };
  const auto receive = [&](std::size_t round) {
    enqueue_arrival(from, receiver);
    cudaMemcpyAsync(seen + round * mailboxes * words, memory + 0, mailboxes * words * sizeof(std::uint64_t), cudaMemcpyDeviceToDevice, receiver);
    enqueue_consumed(from, receiver);
  };
  // One after the other first: loading a kernel may wait for those that run.
  send(0);
  sender.wait();
  receive(0);
  receiver.wait();
  for (std::size_t round = 1; round < rounds; ++round) {
    send(round);
    receive(round);
  }
  sender.wait();
  receiver.wait();
  std::vector<std::uint64_t> got(rounds * mailboxes * words);
  REQUIRE(cudaMemcpy(got.data(), seen + 0, got.size() * sizeof got[0], cudaMemcpyDeviceToHost) == cudaSuccess);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != known_word(1 + i / words, i % words) ? 1 : 0;
  CHECK(wrong == 0);
}

TEST_CASE("sums over ranks in GPU memory have the bits of the host's, round after round") {
  QUARKSTAR_NEEDS_GPU("sums over ranks");
  const unsigned seed = 20261121;
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-200, 200), mantissa(-1, 1);
  constexpr int ranks = 3, partials = 5, sums = 70, rounds = 7;
  constexpr std::size_t slots = 2 * ranks * SumBoard::most_sums;
  const Zeroed<BinnedSum> boards(ranks * slots), numbers(ranks * partials * sums), totals(rounds * ranks * sums);
  const Zeroed<GpuFlag> flags((ranks * ranks + ranks) * flag_stride);
  const Zeroed<std::uint32_t> late(ranks * ranks, true);
  const Zeroed<std::int32_t> idle(1);
  constexpr std::int32_t stopped = 1;
  REQUIRE(cudaMemcpy(idle + 0, &stopped, sizeof stopped, cudaMemcpyHostToDevice) == cudaSuccess);

  std::vector<BinnedSum> host(ranks * partials * sums);
  for (BinnedSum& sum : host) {
    sum = BinnedSum::zero();
    for (int i = 0; i < 4; ++i) add(sum, mantissa(random) * std::exp2(exponent(random)));
  }
  REQUIRE(cudaMemcpy(numbers + 0, host.data(), host.size() * sizeof host[0], cudaMemcpyHostToDevice) == cudaSuccess);

  std::vector<SumBoard> board(ranks);
  std::vector<GpuPartials> mine(ranks);
  for (std::size_t me = 0; me < ranks; ++me) {
    for (std::size_t other = 0; other < ranks; ++other) {
      board[me].to[other] = boards + (other * slots + me * SumBoard::most_sums);
      board[me].arrived_at[other] = flags + (other * ranks + me) * flag_stride;
    }
    board[me].from = boards + me * slots;
    board[me].arrived = flags + me * ranks * flag_stride;
    board[me].count = flags + (ranks * ranks + me) * flag_stride;
    board[me].late = late + me * ranks;
    board[me].patience_ns = patience_ns;
    board[me].ranks = ranks;
    for (std::size_t p = 0; p < partials; ++p) mine[me].of[p] = numbers + (me * partials + p) * sums;
    mine[me].count = partials;
  }
  // In the last round everyone has stopped.
  const Stream streams[ranks];
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t me = 0; me < ranks; ++me)
      enqueue_sum(board[me], mine[me], totals + (round * ranks + me) * sums, sums, round + 1 == rounds ? idle + 0 : nullptr, streams[me]);
  for (const Stream& stream : streams) stream.wait();

  std::vector<BinnedSum> got(rounds * ranks * sums);
  REQUIRE(cudaMemcpy(got.data(), totals + 0, got.size() * sizeof got[0], cudaMemcpyDeviceToHost) == cudaSuccess);
  std::size_t wrong = 0;
  for (std::size_t s = 0; s < sums; ++s) {
    BinnedSum all = BinnedSum::zero();
    for (std::size_t p = ranks * partials; p-- > 0;) all.merge(host[p * sums + s]);
    for (std::size_t copy = 0; copy < rounds * ranks; ++copy) {
      const BinnedSum expected = copy / ranks + 1 == rounds ? BinnedSum::zero() : all;
      wrong += std::memcmp(&got[copy * sums + s], &expected, sizeof expected) != 0 ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}
