// Prefetch and streaming stores change no bit of what kernels of any architecture make of made-up blocks.
#include "codelets/actions/staggered/dslash_kernels.hpp"
#include "codelets/actions/wilson/hopping_kernels.hpp"
#include "tests/kernels/architectures.hpp"
#include "tests/kernels/staggered_case.hpp"
#include "tests/kernels/wilson_case.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

using namespace quarkstar;
using namespace quarkstar::kernels;
using runtime::BinnedSum;

namespace {

constexpr int sites = 6;

/// A field on whole lines, as streaming stores need it, between two lines, with a pattern everywhere.
template <class F>
class Lines {
 public:
  explicit Lines(std::size_t words)
      : words_(words),
        bytes_((words * sizeof(F) + line - 1) / line * line + 2 * line),
        memory_(static_cast<unsigned char*>(std::aligned_alloc(line, bytes_)), std::free) {
    std::memset(memory_.get(), pattern, bytes_);
  }
  F* get() const { return reinterpret_cast<F*>(memory_.get() + line); }
  std::span<const F> words() const { return {get(), words_}; }
  /// Whether nothing was written before the words or behind them.
  bool within() const {
    const unsigned char *const first = memory_.get(), *const last = first + bytes_;
    const auto kept = [](unsigned char byte) { return byte == pattern; };
    return std::all_of(first, first + line, kept) && std::all_of(first + line + words_ * sizeof(F), last, kept);
  }

 private:
  static constexpr std::size_t line = 64;
  static constexpr unsigned char pattern = 0x5a;
  std::size_t words_, bytes_;
  std::unique_ptr<unsigned char, void (*)(void*)> memory_;
};

/// Runs a kernel with every kind of memory access; the first one's result is what the others must give. run: kernel of an access, its sums.
template <class F, class Case, class Run>
void check_all(Case& c, int sums, Run&& run) {
  std::uint64_t first = 0;
  for (const arch::MemoryAccess& memory : arch::memory_accesses) {
    const Lines<F> out(c.out.size());
    c.arguments.out = out.get();
    std::vector<BinnedSum> taken(static_cast<std::size_t>(sums), BinnedSum::zero());
    run(memory, taken.data());
    Checksum checksum;
    checksum.add(out.words());
    for (const BinnedSum& sum : taken) checksum.add(sum);
    if (memory == arch::memory_accesses[0]) first = checksum.value();
    INFO("prefetch " << memory.prefetch << " stores " << std::string(arch::name_of(memory.stores)));
    CHECK(checksum.value() == first);
    CHECK(out.within());
  }
}

/// Whether a component of so many lanes fills a register of the architecture in use.
template <class F>
bool fills_registers(int lanes) {
  const std::string_view name = arch::name_of(arch::current());
  const int bytes = name == "avx512" ? 64 : name == "avx2" ? 32 : name == "vsx" ? 16 : 0;
  return bytes > 0 && lanes * static_cast<int>(sizeof(Real<F>)) >= bytes;
}

/// The settings are other kernels where lanes fill registers, and there are stores past the cache and sites fill lines.
template <class F>
void check_wilson_choice(int lanes) {
  const auto kernel = [lanes](const arch::MemoryAccess& memory) {
    return wilson::hopping_kernel<F>({.lanes = lanes, .link_reals = 18, .sign = 1, .launch = {.memory = memory}});
  };
  const bool streams = arch::name_of(arch::current()).starts_with("avx") && spinor_words<F> * lanes * sizeof(Real<F>) % 64 == 0;
  CHECK((kernel({0, arch::Stores::plain}) != kernel({1, arch::Stores::plain})) == fills_registers<F>(lanes));
  CHECK((kernel({1, arch::Stores::plain}) != kernel({1, arch::Stores::streaming})) == (streams && fills_registers<F>(lanes)));
}

/// Of the staggered kernels prefetch makes others; stores are a question to each.
template <class F>
void check_staggered_choice(int lanes) {
  const auto kernel = [lanes](int prefetch) {
    return staggered::dslash_kernel<F>({.lanes = lanes, .link_reals = 18, .launch = {.memory = {prefetch, arch::Stores::plain}}});
  };
  CHECK((kernel(0) != kernel(1)) == fills_registers<F>(lanes));
}

template <class F>
void check_wilson() {
  for (const int lanes : lane_counts(NumberFormat<F>::precision)) check_wilson_choice<F>(lanes);
  for (const int lanes : lane_counts(NumberFormat<F>::precision))
    for (const int reals : {18, 12, 8})
      for (const int sign : {1, -1})
        for (const int vectors : {1, 2, 3, 8})
          for (const bool special : {true, false}) {
            INFO("wilson " << describe(NumberFormat<F>::precision, lanes) << " links " << reals << " sign " << sign << " right-hand sides "
                           << vectors);
            WilsonCase<F> c(lanes, reals, sites, special, vectors);
            check_all<F>(c, 3 * vectors, [&](const arch::MemoryAccess& memory, BinnedSum* sums) {
              wilson::hopping_kernel<F>({.lanes = lanes, .link_reals = reals, .sign = sign, .launch = {.memory = memory}})(
                  c.arguments, 0, sites, nullptr, sums);
            });
          }
}

template <class F>
void check_staggered() {
  for (const int lanes : lane_counts(NumberFormat<F>::precision)) check_staggered_choice<F>(lanes);
  for (const int lanes : lane_counts(NumberFormat<F>::precision))
    for (const int reals : {0, 18, 14, 13, 9})
      for (const int vectors : {1, 2, 3, 7, 17})
        for (const bool special : {true, false}) {
          INFO("staggered " << describe(NumberFormat<F>::precision, lanes) << " long links " << reals << " right-hand sides " << vectors);
          StaggeredCase<F> c(lanes, vectors, reals, sites, special);
          // What nobody needs may be left as it was, but must not become another thing with another kind of store.
          std::vector<std::int32_t> left_out(static_cast<std::size_t>(vectors), 0);
          for (std::size_t v = 0; v < left_out.size(); ++v) left_out[v] = v % 3 == 1 ? 1 : 0;
          for (const std::int32_t* stopped : {static_cast<const std::int32_t*>(nullptr), static_cast<const std::int32_t*>(left_out.data())})
            check_all<F>(c, 2 * vectors, [&](const arch::MemoryAccess& memory, BinnedSum* sums) {
              c.arguments.stream_out = memory.stores == arch::Stores::streaming;
              staggered::dslash_kernel<F>({.lanes = lanes, .link_reals = reals, .launch = {.memory = memory}})(c.arguments, 0, sites,
                                                                                                               stopped, sums);
            });
        }
}

/// Vectors that are computed beside others have the bits that they have alone.
template <class F>
void check_left_out(int vectors) {
  for (const int lanes : lane_counts(NumberFormat<F>::precision)) {
    StaggeredCase<F> c(lanes, vectors, 18, sites, true);
    const auto kernel = staggered::dslash_kernel<F>({.lanes = lanes, .link_reals = 18});
    const auto bits_of = [&](int vector, const std::int32_t* left_out) {
      std::vector<BinnedSum> sums(static_cast<std::size_t>(2 * vectors), BinnedSum::zero());
      kernel(c.arguments, 0, sites, left_out, sums.data());
      const auto words = static_cast<std::size_t>(staggered::vector_words<F> * lanes);
      Checksum checksum;
      for (int site = 0; site < sites; ++site)
        checksum.add(std::span<const F>(c.out.data() + static_cast<std::size_t>(site * vectors + vector) * words, words));
      checksum.add(sums[static_cast<std::size_t>(vector)]);
      checksum.add(sums[static_cast<std::size_t>(vectors + vector)]);
      return checksum.value();
    };
    for (int vector = 0; vector < vectors; ++vector) {
      INFO(describe(NumberFormat<F>::precision, lanes) << " right-hand side " << vector << " of " << vectors);
      std::vector<std::int32_t> others(static_cast<std::size_t>(vectors), 1);
      others[static_cast<std::size_t>(vector)] = 0;
      CHECK(bits_of(vector, nullptr) == bits_of(vector, others.data()));
    }
  }
}

}  // namespace

TEST_CASE("prefetch and streaming stores change no bit of the Wilson hopping term") {
  for_architectures([] {
    check_wilson<double>();
    check_wilson<float>();
    check_wilson<Half>();
  });
}

TEST_CASE("prefetch and streaming stores change no bit of the staggered Dslash") {
  for_architectures([] {
    check_staggered<double>();
    check_staggered<float>();
    check_staggered<Half>();
  });
}

TEST_CASE("a right-hand side of the staggered Dslash has the same bits alone and among others") {
  for_architectures([] {
    for (const int vectors : {2, 5, 18}) {
      check_left_out<double>(vectors);
      check_left_out<float>(vectors);
      check_left_out<Half>(vectors);
    }
  });
}
