// What ranks compare at a look: no flipped bit goes unseen, states are all numbers, and the message names the right ranks.
#include "runtime/mpi/agreement.hpp"

#include "solvers/krylov/bicgstab_steps.hpp"
#include "solvers/krylov/block_cg_steps.hpp"
#include "solvers/krylov/cg_steps.hpp"
#include "solvers/krylov/cgnr_steps.hpp"
#include "solvers/krylov/gcr_steps.hpp"
#include "solvers/krylov/multishift_cg_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace agreement_test {

using namespace quarkstar;
using namespace quarkstar::runtime::mpi;

TEST_CASE("every flipped bit changes a fingerprint, and so does every other length") {
  constexpr unsigned seed = 20261127;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::vector<std::byte> text(101);
  for (std::byte& byte : text) byte = static_cast<std::byte>(random());
  const std::uint64_t whole = fingerprint(text);
  std::set<std::uint64_t> seen{whole};
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    text[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    CHECK(seen.insert(fingerprint(text)).second);
    text[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
  CHECK(fingerprint(text) == whole);
  CHECK(fingerprint(text, 1) != whole);
  for (std::size_t length = 0; length < text.size(); ++length) CHECK(seen.insert(fingerprint(std::span(text).first(length))).second);
}

namespace {

/// Bytes of an object that its members do not have.
template <class State>
std::size_t gaps_of() {
  const auto made_over = [](std::byte filling) {
    alignas(State) static std::byte memory[sizeof(State)];
    std::fill_n(memory, sizeof memory, filling);
    new (memory) State;
    return std::vector<std::byte>(memory, memory + sizeof memory);
  };
  const std::vector<std::byte> a = made_over(std::byte{0x5a}), b = made_over(std::byte{0xa5});
  std::size_t gaps = 0;
  for (std::size_t i = 0; i < a.size(); ++i) gaps += a[i] != b[i] ? 1 : 0;
  return gaps;
}

struct WithGap {
  std::int32_t first = 0;
  double second = 0;
};

}  // namespace

TEST_CASE("states of solvers have no bytes that are nobody's") {
  CHECK(gaps_of<WithGap>() == 4);
  CHECK(gaps_of<KrylovState>() == 0);
  CHECK(gaps_of<cg_steps::State>() == 0);
  CHECK(gaps_of<cgnr_steps::State>() == 0);
  CHECK(gaps_of<bicgstab_steps::State>() == 0);
  CHECK(gaps_of<gcr_steps::State>() == 0);
  CHECK(gaps_of<multishift_cg_steps::State>() == 0);
  CHECK(gaps_of<block_cg_steps::State>() == 0);
}

TEST_CASE("those are named which differ from most") {
  const auto difference = [](const std::vector<std::uint64_t>& prints) {
    return describe_difference(prints, [](int rank) { return "rank " + std::to_string(rank); });
  };
  CHECK(difference({7, 7, 8, 7}) == "rank 2 has other numbers than 3 other ranks");
  CHECK(difference({1, 7, 7, 2, 7}) == "rank 0, rank 3 have other numbers than 3 other ranks");
  CHECK(difference({1, 2}) == "rank 0, rank 1 do not have the same numbers");
  CHECK(difference({1, 1, 2, 2}) == "rank 0, rank 1, rank 2, rank 3 do not have the same numbers");
}

TEST_CASE("one rank alone looks at itself") {
  Job& job = Job::current();
  const std::vector<std::byte> state(16);
  const Look look = look_together(job, state, 3, {true, 0.25});
  CHECK(look.ends);
  CHECK(look.seconds == 0.25);
}

}  // namespace agreement_test
