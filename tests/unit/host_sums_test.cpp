// Exact sums of the ranks of a host in shared memory: threads take the parts of processes. All find the sum, whoever is early or late.
#include "runtime/mpi/host_sums.hpp"

#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace host_sums_test {

using namespace quarkstar::runtime;
using mpi::HostSums;
using quarkstar::runtime_testing::same_sum;

namespace {

constexpr unsigned seed = 20261127;
constexpr int sums = 300;

double summand(int member, int number, int i) {
  std::mt19937 random(seed + static_cast<unsigned>(member * 1000003 + number * 131 + i));
  return std::ldexp(static_cast<double>(random()) - 0x1p31, static_cast<int>(random() % 80) - 40);
}
int count_of(int number) { return 1 + number * 37 % HostSums::most_sums; }
std::vector<BinnedSum> contribution(int member, int number) {
  std::vector<BinnedSum> list(static_cast<std::size_t>(count_of(number)), BinnedSum::zero());
  for (std::size_t i = 0; i < list.size(); ++i) add(list[i], summand(member, number, static_cast<int>(i)));
  return list;
}

/// Sums of one member: those that it has contributed to and not left are under way.
class Member {
 public:
  Member(std::byte* memory, int member, int members, bool first_tells) : host_(memory, member, members), first_tells_(first_tells) {}

  /// Whether anything moved; each call does one thing at most.
  bool step() {
    if (started_ < sums && host_.has_room(started_)) {
      const std::vector<BinnedSum> mine = contribution(host_.member(), started_);
      host_.contribute(started_++, mine.data(), static_cast<int>(mine.size()));
      return true;
    }
    if (done() || ended_ == started_) return false;
    std::vector<BinnedSum> total(static_cast<std::size_t>(count_of(ended_)));
    const int count = static_cast<int>(total.size());
    if (first_tells_ && host_.member() != 0) {
      if (!host_.is_published(ended_)) return false;
      host_.read(ended_, total.data(), count);
    } else {
      if (!host_.has_all(ended_)) return false;
      host_.merge(ended_, total.data(), count);
      if (first_tells_) host_.publish(ended_, total.data(), count);
    }
    host_.leave(ended_++);
    totals_.push_back(std::move(total));
    return true;
  }
  bool done() const { return ended_ == sums; }
  const std::vector<std::vector<BinnedSum>>& totals() const { return totals_; }

 private:
  HostSums host_;
  bool first_tells_;
  int started_ = 0, ended_ = 0;
  std::vector<std::vector<BinnedSum>> totals_;
};

struct Aligned {
  explicit Aligned(std::size_t bytes) : data(static_cast<std::byte*>(std::aligned_alloc(64, bytes))) {
    std::fill_n(data.get(), bytes, std::byte{});
  }
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> data;
};

void check_totals(const std::vector<Member>& members) {
  bool all_right = true;
  for (int n = 0; n < sums; ++n) {
    std::vector<BinnedSum> expected(static_cast<std::size_t>(count_of(n)), BinnedSum::zero());
    for (int m = 0; m < static_cast<int>(members.size()); ++m) {
      const std::vector<BinnedSum> mine = contribution(m, n);
      for (std::size_t i = 0; i < mine.size(); ++i) expected[i].merge(mine[i]);
    }
    for (const Member& member : members)
      for (std::size_t i = 0; i < expected.size(); ++i)
        all_right = all_right && same_sum(member.totals()[static_cast<std::size_t>(n)][i], expected[i]);
  }
  CHECK(all_right);
}

std::vector<Member> make_members(std::byte* memory, int count, bool first_tells) {
  std::vector<Member> members;
  for (int m = 0; m < count; ++m) members.emplace_back(memory, m, count, first_tells);
  return members;
}

}  // namespace

TEST_CASE("sums of a host in any order of its ranks") {
  std::mt19937 random(seed);
  INFO("seed " << seed);
  for (const int count : {1, 2, 5})
    for (const bool first_tells : {false, true}) {
      const Aligned memory(HostSums::bytes(count));
      std::vector<Member> members = make_members(memory.data.get(), count, first_tells);
      // One member at a time, some for long: others then find no room and must wait for it.
      std::size_t steps = 0;
      while (!std::all_of(members.begin(), members.end(), [](const Member& m) { return m.done(); })) {
        Member& member = members[random() % members.size()];
        for (unsigned left = random() % 30; left > 0 && member.step(); --left) {
        }
        REQUIRE(++steps < 1000000);
      }
      check_totals(members);
    }
}

TEST_CASE("sums of a host on as many threads") {
  for (const int count : {2, 4})
    for (const bool first_tells : {false, true}) {
      const Aligned memory(HostSums::bytes(count));
      std::vector<Member> members = make_members(memory.data.get(), count, first_tells);
      std::vector<std::thread> threads;
      for (Member& member : members)
        threads.emplace_back([&member] {
          while (!member.done())
            if (!member.step()) std::this_thread::yield();
        });
      for (std::thread& thread : threads) thread.join();
      check_totals(members);
    }
}

TEST_CASE("a member that is ahead waits for those that have not left") {
  constexpr int count = 2;
  const Aligned memory(HostSums::bytes(count));
  HostSums first(memory.data.get(), 0, count), second(memory.data.get(), 1, count);
  const BinnedSum one = [] {
    BinnedSum sum = BinnedSum::zero();
    add(sum, 1.0);
    return sum;
  }();
  for (int n = 0; n < HostSums::depth; ++n) {
    REQUIRE(first.has_room(n));
    first.contribute(n, &one, 1);
    CHECK(!first.has_all(n));
  }
  CHECK(!first.has_room(HostSums::depth));
  second.contribute(0, &one, 1);
  CHECK(first.has_all(0));
  first.leave(0);
  CHECK(!first.has_room(HostSums::depth));  // the other may still read
  second.leave(0);
  CHECK(first.has_room(HostSums::depth));
  CHECK(!first.has_room(HostSums::depth + 1));
}

}  // namespace host_sums_test
