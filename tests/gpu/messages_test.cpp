// Mailboxes between streams of one process that stand for ranks, in GPU memory or relayed by a thread of the host: what was sent arrives,
// in order, and nothing is overwritten before it has been read.
#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/gpu_messages.hpp"
#include "tests/gpu/support.hpp"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace messages_test {

using namespace quarkstar;
using namespace quarkstar::runtime;
using gpu_testing::Stream;
using gpu_testing::Zeroed;

namespace {

constexpr std::uint64_t patience_ns = 20'000'000'000;

/// send(round) and receive(round) of all rounds, each on its stream.
template <class Send, class Receive>
void exchange(std::size_t rounds, const Stream& sender, const Send& send, const Stream& receiver, const Receive& receive) {
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
}

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
  exchange(rounds, sender, send, receiver, receive);
  std::vector<std::uint64_t> got(rounds * mailboxes * words);
  REQUIRE(cudaMemcpy(got.data(), seen + 0, got.size() * sizeof got[0], cudaMemcpyDeviceToHost) == cudaSuccess);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != known_word(1 + i / words, i % words) ? 1 : 0;
  CHECK(wrong == 0);
}

TEST_CASE("messages relayed through host memory arrive whole and in order") {
  QUARKSTAR_NEEDS_GPU("messages");
  // One piece, two with a short one, as many as there can be; lengths that are no multiple of 16 bytes; more mailboxes than a kernel takes;
  // one that is not relayed among them.
  std::vector<std::size_t> words{1, 1001, (std::size_t{128} << 10) / 8 + 1, 400'001, 300};
  while (words.size() < 18) words.push_back(10 + words.size());
  constexpr std::size_t direct = 4, rounds = 8, aligned = 256;
  std::vector<std::size_t> at{0};  // in words
  for (const std::size_t count : words) at.push_back(at.back() + (8 * count + aligned - 1) / aligned * aligned / 8);
  const std::size_t all = at.back(), mailboxes = words.size(), lines = mailboxes * flag_stride;
  const Zeroed<std::uint64_t> packed(all), read(all), seen(rounds * all), relay_out(all, true), relay_in(all, true);
  const Zeroed<GpuFlag> counts(2 * lines), flags(4 * lines, true);
  const Zeroed<std::uint32_t> late(2 * mailboxes, true);
  std::vector<Mailbox> to, from;
  for (std::size_t m = 0; m < mailboxes; ++m) {
    const auto end = [&](std::uint64_t* data, std::uint64_t* relay, std::size_t side) {
      const std::size_t line = m * flag_stride, of = m == direct ? 0 : side;
      Mailbox mailbox{data,
                      flags + (2 * of * lines + line),
                      flags + ((2 * of + 1) * lines + line),
                      counts + (side * lines + line),
                      late + (side * mailboxes + m),
                      patience_ns};
      if (m == direct) return mailbox;
      mailbox.relay = reinterpret_cast<std::byte*>(relay + at[m]);
      mailbox.bytes = 8 * words[m];
      mailbox.piece = relay_piece(mailbox.bytes);
      return mailbox;
    };
    to.push_back(end(m == direct ? read + at[m] : packed + at[m], relay_out + 0, 0));
    from.push_back(end(read + at[m], relay_in + 0, 1));
  }
  REQUIRE(relay_pieces(8 * words[3]) == most_relay_pieces);
  const Stream sender, receiver;
  const auto send = [&](std::size_t round) {
    enqueue_room(to, sender);
    for (std::size_t m = 0; m < mailboxes; ++m)
      enqueue_known_words(static_cast<std::uint64_t*>(to[m].data), 1 + round * mailboxes + m, words[m], sender);
    enqueue_sent(to, sender);
  };
  const auto receive = [&](std::size_t round) {
    enqueue_arrival(from, receiver);
    cudaMemcpyAsync(seen + round * all, read + 0, all * sizeof(std::uint64_t), cudaMemcpyDeviceToDevice, receiver);
    enqueue_consumed(from, receiver);
  };
  const std::jthread carrier([&](const std::stop_token& stop) {  // the threads of messages at both ends
    while (!stop.stop_requested())
      for (std::size_t m = 0; m < mailboxes; ++m)
        for (std::size_t p = 0; m != direct && p < static_cast<std::size_t>(relay_pieces(to[m].bytes)); ++p) {
          using Word = std::atomic_ref<GpuFlag>;
          const GpuFlag left = Word(to[m].consumed[p]).load(std::memory_order_relaxed);
          if (Word(to[m].arrived[p]).load(std::memory_order_acquire) == left) continue;
          if (Word(from[m].consumed[p]).load(std::memory_order_acquire) < left) continue;
          const std::size_t begin = p * to[m].piece;
          std::memcpy(from[m].relay + begin, to[m].relay + begin, std::min(to[m].piece, to[m].bytes - begin));
          Word(from[m].arrived[p]).store(left + 1, std::memory_order_release);
          Word(to[m].consumed[p]).store(left + 1, std::memory_order_release);
        }
  });
  exchange(rounds, sender, send, receiver, receive);
  std::vector<std::uint64_t> got(rounds * all);
  REQUIRE(cudaMemcpy(got.data(), seen + 0, got.size() * sizeof got[0], cudaMemcpyDeviceToHost) == cudaSuccess);
  std::size_t wrong = 0;
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t m = 0; m < mailboxes; ++m)
      for (std::size_t i = 0; i < words[m]; ++i) wrong += got[round * all + at[m] + i] != known_word(1 + round * mailboxes + m, i) ? 1 : 0;
  CHECK(wrong == 0);
}

}  // namespace messages_test
#endif
