#pragma once
// Exact sums of processes of one host, in memory that they share: no message, no call of the system.
#include "runtime/graph/binned_sum.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quarkstar::runtime::mpi {

/// One process's view of the sums of all `members` processes. Sums are numbered 0, 1, 2 ... alike by all; each process contributes to every
/// one of them, in this order. A number has one of `depth` places:
///
///     contribute(n)  ->  has_all(n) on each member, which merges all contributions  ->  leave(n)
///
/// and where the hosts of a job add their totals, the first member does that and tells the others:
///
///     contribute(n)  ->  has_all(n) and merge on the first  ->  publish(n)  ->  is_published(n) on the others, read  ->  leave(n)
///
/// A place is written again, for n + depth, when every member has left n (has_room()). No call waits; each is for one thread of the
/// process. Merging exact sums is free of order, so every member finds the same bits.
///
/// *Why nobody waits for ever*: let n be the least number that some member has not left. All have left what came before, so there is room
/// for n, and every member, whatever else it waits for, can contribute to n; then has_all(n) holds on all, and each can leave.
/// tests/protocol goes through all interleavings.
class HostSums {
 public:
  static constexpr int depth = 8;        ///< sums under way at a time
  static constexpr int most_sums = 128;  ///< BinnedSum of one number

  /// Bytes of memory, zero at first and aligned to a cache line: [member] counter, [depth][member] flags and sums.
  static std::size_t bytes(int members);
  HostSums(std::byte* memory, int member, int members) : memory_(memory), member_(member), members_(members) {}

  int member() const { return member_; }
  int members() const { return members_; }

  bool has_room(std::int64_t n) const;
  /// Where there is room; count <= most_sums.
  void contribute(std::int64_t n, const BinnedSum* sums, int count);
  /// Whether all members have contributed to n.
  bool has_all(std::int64_t n) const;
  /// total[i] <- sum of all members' sums[i], i < count.
  void merge(std::int64_t n, BinnedSum* total, int count) const;
  /// By the first member, over its own contribution, which it has merged.
  void publish(std::int64_t n, const BinnedSum* total, int count);
  bool is_published(std::int64_t n) const;
  void read(std::int64_t n, BinnedSum* total, int count) const;
  /// This member has done with all sums up to n.
  void leave(std::int64_t n);

 private:
  static constexpr std::size_t line = 64;
  using Word = std::uint64_t;
  /// What a member says of one place: numbers from 1 on, so that zeroed memory says nothing.
  struct alignas(line) Place {
    Word contributed, published;
    alignas(line) BinnedSum sums[most_sums];
  };
  struct alignas(line) Counter {
    Word left;  ///< sums that the member has done with
  };

  Counter& counter(int member) const { return reinterpret_cast<Counter*>(memory_)[member]; }
  Place& place(std::int64_t n, int member) const {
    auto* places = reinterpret_cast<Place*>(memory_ + static_cast<std::size_t>(members_) * sizeof(Counter));
    return places[static_cast<std::size_t>(n % depth) * static_cast<std::size_t>(members_) + static_cast<std::size_t>(member)];
  }
  static Word load(Word& word) { return std::atomic_ref<Word>(word).load(std::memory_order_acquire); }
  static void store(Word& word, std::int64_t value) {
    std::atomic_ref<Word>(word).store(static_cast<Word>(value), std::memory_order_release);
  }

  std::byte* memory_;
  int member_, members_;
  mutable Word room_ = 0;  ///< sums that all members had left when this was last looked up
};

}  // namespace quarkstar::runtime::mpi
