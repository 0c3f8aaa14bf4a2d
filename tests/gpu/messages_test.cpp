// Mailboxes in GPU memory, between streams of one process that stand for ranks: what was sent arrives, in order, and
// nothing is overwritten before it has been read.
#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/gpu_messages.hpp"
#include "tests/gpu/support.hpp"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <vector>

namespace messages_test {

using namespace quarkstar;
using namespace quarkstar::runtime;
using gpu_testing::Stream;
using gpu_testing::Zeroed;

namespace {

constexpr std::uint64_t patience_ns = 20'000'000'000;

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
    from.push_back(
        {memory + m * words, flags + m, flags + (mailboxes + m), flags + (3 * mailboxes + m), late + (mailboxes + m), patience_ns});
  }
  const Stream sender, receiver;
  const auto send = [&](std::size_t round) {
    enqueue_room(to, sender);
    for (std::size_t m = 0; m < mailboxes; ++m) enqueue_known_words(memory + m * words, 1 + round * mailboxes + m, words, sender);
    enqueue_sent(to, sender);
  };
  const auto receive = [&](std::size_t round) {
    enqueue_arrival(from, receiver);
    cudaMemcpyAsync(seen + round * mailboxes * words, memory + 0, mailboxes * words * sizeof(std::uint64_t), cudaMemcpyDeviceToDevice,
                    receiver);
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

}  // namespace messages_test
#endif
