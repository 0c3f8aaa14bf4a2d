// Proxies between ranks that mpirun has started: a thread of each takes the part of its GPU. Faces of known words go between all pairs of
// ranks, in two buffers in turn, while the other thread makes MPI's calls. On one process there is nothing to send.
#include "runtime/gpu/gpu_messages.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/proxy.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

using namespace quarkstar::runtime;
using mpi::load_flag;
using mpi::store_flag;

namespace {

constexpr int iterations = 200, buffers = 2;
constexpr std::size_t most_words = 5000;

/// One end of a mailbox, as a GPU sees it.
struct End {
  std::vector<std::uint64_t> data = std::vector<std::uint64_t>(most_words);
  GpuFlag first = 0, second = 0;  ///< of a sender: written, room; of a reader: arrived, consumed
  GpuFlag count = 0;
  int other = 0;
};

/// Faces between two ranks have different lengths, some short enough for MPI to send them at once.
std::size_t words_between(int a, int b, int buffer) {
  return a + b + buffer == 1 ? 7 : most_words - static_cast<std::size_t>(100 * (a + b));
}

std::uint64_t seed_of(int from, int to, int iteration) { return static_cast<std::uint64_t>((from * 64 + to) * 1000 + iteration); }

}  // namespace

TEST_CASE("faces by proxies between ranks") {
  mpi::Job job;
  if (!job.is_distributed()) return;
  std::deque<End> sends, reads;  // [buffer][other]; before the proxy, which goes first
  std::atomic<std::int64_t> wrong{0};
  std::atomic<bool> done{false};
  {
    mpi::Proxy proxy(job);
    const int set = proxy.open_set();
    for (int buffer = 0; buffer < buffers; ++buffer)
      for (int other = 0; other < job.size(); ++other) {
        if (other == job.rank()) continue;
        const std::size_t bytes = words_between(job.rank(), other, buffer) * sizeof(std::uint64_t);
        End& sent = sends.emplace_back();
        End& read = reads.emplace_back();
        sent.other = read.other = other;
        proxy.add_send(set, sent.data.data(), bytes, other, buffer, &sent.first, &sent.second);
        proxy.add_receive(set, read.data.data(), bytes, other, buffer, &read.first, &read.second);
      }
    std::thread gpu([&] {
      std::mt19937 random(static_cast<unsigned>(job.rank()));
      const auto pair = static_cast<std::size_t>(job.size() - 1);
      for (int i = 0; i < iterations; ++i) {
        const int buffer = i % buffers;
        const std::size_t begin = static_cast<std::size_t>(buffer) * pair;
        if (random() % 20 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
        for (std::size_t e = begin; e < begin + pair; ++e) {
          End& end = sends[e];
          while (load_flag(&end.second) < end.count) std::this_thread::yield();
          for (std::size_t w = 0; w < words_between(job.rank(), end.other, buffer); ++w)
            end.data[w] = known_word(seed_of(job.rank(), end.other, i), w);
          store_flag(&end.first, ++end.count);
        }
        for (std::size_t e = begin; e < begin + pair; ++e) {
          End& end = reads[e];
          while (load_flag(&end.first) < end.count + 1) std::this_thread::yield();
          for (std::size_t w = 0; w < words_between(job.rank(), end.other, buffer); ++w)
            wrong += end.data[w] != known_word(seed_of(end.other, job.rank(), i), w) ? 1 : 0;
          store_flag(&end.second, ++end.count);
        }
      }
      done = true;
    });
    const auto all_sent = [&] {
      for (const End& end : sends)
        if (load_flag(&end.second) < end.count) return false;
      return true;
    };
    while (!done || !all_sent()) {
      bool moved = false;
      {
        const std::lock_guard lock(job.library());
        moved = proxy.advance();
      }
      if (!moved) std::this_thread::yield();
    }
    gpu.join();
    job.barrier();  // nothing is under way when the proxy goes
  }
  CHECK(wrong == 0);
  CHECK(job.combined(static_cast<std::uint64_t>(wrong), mpi::Combine::sum) == 0);
}
