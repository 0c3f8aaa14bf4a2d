// The staggered kernels with vectors in lanes against those with sites in lanes, on the same made-up blocks: equal bits. No task, no
// runtime.
#include "codelets/actions/staggered/dslash_kernels.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/field/blas_kernels.hpp"
#include "tests/kernels/architectures.hpp"
#include "tests/kernels/staggered_case.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace quarkstar;
using namespace quarkstar::kernels;
using runtime::BinnedSum;

namespace {

constexpr int sites = 7;  // an odd one is done alone

/// A field of one lane, [site and vector][word], with `lanes` vectors in lanes; and back.
template <class T>
std::vector<T> regrouped(const std::vector<T>& field, int words, int lanes, bool back) {
  std::vector<T> result(field.size());
  const auto group = static_cast<std::size_t>(words * lanes);
  for (std::size_t i = 0; i < field.size(); ++i) {
    const std::size_t first = i / group * group, word = i % group % static_cast<std::size_t>(words),
                      lane = i % group / static_cast<std::size_t>(words), other = first + word * static_cast<std::size_t>(lanes) + lane;
    if (back) result[i] = field[other];
    else result[other] = field[i];
  }
  return result;
}

std::vector<int> groups_of(Precision precision) { return precision == Precision::double_ ? std::vector<int>{8} : std::vector<int>{16, 8}; }

std::vector<BinnedSum> zeros(int count) { return std::vector<BinnedSum>(static_cast<std::size_t>(count), BinnedSum::zero()); }

/// Some of so many vectors: none, one of three, all of the first eight and one more.
std::vector<std::vector<std::int32_t>> left_out_of(int vectors) {
  std::vector<std::vector<std::int32_t>> masks(3, std::vector<std::int32_t>(static_cast<std::size_t>(vectors), 0));
  for (std::size_t v = 0; v < masks[0].size(); ++v) {
    masks[1][v] = v % 3 == 1;
    masks[2][v] = v < 8 || v == 11;
  }
  return masks;
}

template <class F>
void check_dslash(int vectors, int reals, int lanes, bool special) {
  constexpr auto words = static_cast<std::size_t>(staggered::vector_words<F>);
  StaggeredCase<F> c(1, vectors, reals, sites, special);
  const auto regroup = [&](const auto& field) { return regrouped(field, words, lanes, false); };
  const std::vector<F> in = regroup(c.in.stored), x = regroup(c.x.stored), y = regroup(c.y.stored);
  std::vector<F> faces[8];
  staggered::DslashArguments<F> in_lanes = c.arguments;
  in_lanes.in = in.data();
  if (c.arguments.x != nullptr) in_lanes.x = x.data();
  in_lanes.y = y.data();
  for (int d = 0; d < 8; ++d) {
    faces[d] = regroup(c.faces[d]);
    in_lanes.faces[d] = reinterpret_cast<const Real<F>*>(faces[d].data());
  }
  const std::size_t bytes = c.out.size() * sizeof(F);
  const std::unique_ptr<F, void (*)(void*)> out(static_cast<F*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)), std::free);
  in_lanes.out = out.get();
  for (const std::vector<std::int32_t>& left_out : left_out_of(vectors)) {
    std::vector<BinnedSum> expected = zeros(2 * vectors);
    staggered::dslash_kernel<F>({.lanes = 1, .link_reals = reals})(c.arguments, 0, sites, left_out.data(), expected.data());
    for (const arch::MemoryAccess& memory : arch::memory_accesses) {
      std::vector<BinnedSum> sums = zeros(2 * vectors);
      in_lanes.stream_out = memory.stores == arch::Stores::streaming;
      const auto kernel =
          staggered::dslash_kernel<F>({.lanes = 1, .link_reals = reals, .launch = {.memory = memory}, .vectors_in_lanes = lanes});
      kernel(in_lanes, 0, 3, left_out.data(), sums.data());
      kernel(in_lanes, 3, sites, left_out.data(), sums.data());
      const std::vector<F> result = regrouped(std::vector<F>(out.get(), out.get() + c.out.size()), words, lanes, true);
      for (std::size_t i = 0; i < c.out.size() / words; ++i)
        if (left_out[i % left_out.size()] == 0) REQUIRE(same_bits(&result[i * words], &c.out[i * words], words));
      for (std::size_t s = 0; s < sums.size(); ++s) REQUIRE(same_bits(sums[s], expected[s]));
    }
  }
}

template <class F>
void check_pack(int vectors, int lanes) {
  const StaggeredCase<F> c(1, vectors, 0, sites, true);
  constexpr int words = staggered::vector_words<F>;
  const std::vector<F> in = regrouped(c.in.stored, words, lanes, false);
  std::vector<Real<F>> expected(static_cast<std::size_t>(sites * vectors * words)), face = expected;
  staggered::pack_kernel<F>(1, true)({c.list.data(), c.in.stored.data(), expected.data(), 0, vectors}, 0, sites);
  staggered::pack_kernel<F>(lanes, true)({c.list.data(), in.data(), face.data(), 0, vectors / lanes}, 0, sites);
  CHECK(same_bits(regrouped(face, words, lanes, true).data(), expected.data(), expected.size()));
}

template <class F, class Operation>
void check_operation(int vectors, int lanes) {
  INFO(Operation::name);
  constexpr int words = staggered::vector_words<F>;
  const arch::KernelTable<blas::Kernel<F> (*)(int)> of_sites = QUARKSTAR_KERNEL_TABLE(blas_kernel<F, colour_components, Operation>),
                                                    of_groups = QUARKSTAR_KERNEL_TABLE(blas_kernel_in_lanes<F, Operation>);
  for (const std::vector<std::int32_t>& left_out : left_out_of(vectors)) {
    Numbers numbers(4);
    std::vector<std::vector<F>> fields, in_lanes;
    blas::Numbers<F> coefficients{};
    for (int k = 0; k < Operation::coefficients; ++k)
      for (int v = 0; v < vectors; ++v) {
        coefficients.re[k][v] = static_cast<Real<F>>(numbers.real());
        coefficients.im[k][v] = static_cast<Real<F>>(numbers.real());
      }
    for (int i = 0; i < blas::field_count<Operation>; ++i) {
      fields.push_back(MadeUpField<F, 3>(numbers, sites * vectors, 1).stored);
      in_lanes.push_back(regrouped(fields.back(), words, lanes, false));
    }
    const auto run = [&](std::vector<std::vector<F>>& of, const auto& table, int in_a_group) {
      blas::Arguments<F> a{};
      a.vectors = vectors / in_a_group;
      a.lanes = in_a_group;
      a.left_out = left_out.data();
      for (std::size_t i = 0; i < of.size(); ++i) {
        a.fields[i] = of[i].data();
        a.vectors_of[i] = a.vectors;
      }
      std::vector<BinnedSum> sums = zeros(Operation::sums * vectors);
      table.current()(in_a_group)(a, coefficients, 0, sites, sums.data());
      return sums;
    };
    const std::vector<BinnedSum> expected = run(fields, of_sites, 1), sums = run(in_lanes, of_groups, lanes);
    for (std::size_t s = 0; s < sums.size(); ++s) CHECK(same_bits(sums[s], expected[s]));
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::vector<F> result = regrouped(in_lanes[i], words, lanes, true);
      CHECK(same_bits(result.data(), fields[i].data(), result.size()));
    }
  }
}

template <class F>
void check_all() {
  const Precision precision = NumberFormat<F>::precision;
  for (const int vectors : {8, 16, 24, 32})
    for (const int lanes : groups_of(precision)) {
      if (vectors % lanes != 0) continue;
      INFO(name_of(precision) << " right-hand sides " << vectors << ", " << lanes << " in lanes");
      for (const int reals : {0, 18})
        for (const bool special : {true, false}) check_dslash<F>(vectors, reals, lanes, special);
      check_pack<F>(vectors, lanes);
#define QUARKSTAR_OPERATION(operation) check_operation<F, blas::operation>(vectors, lanes);
      QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_OPERATION)
#undef QUARKSTAR_OPERATION
    }
}

}  // namespace

TEST_CASE("staggered kernels with vectors in lanes have the bits of those with sites in lanes") {
  for_architectures([] {
    check_all<double>();
    check_all<float>();
    check_all<Half>();
  });
}

TEST_CASE("a right-hand side that is not finite changes nothing of others in its lanes") {
  for_architectures([] {
    constexpr int vectors = 8;
    StaggeredCase<float> c(1, vectors, 18, sites, true);
    std::vector<float> in = c.in.stored, out(in.size());  // any numbers will do in any place
    c.arguments.in = in.data();
    c.arguments.out = out.data();
    const auto sums_of = [&](const std::vector<std::int32_t>& left_out) {
      std::vector<BinnedSum> sums = zeros(2 * vectors);
      staggered::dslash_kernel<float>({.lanes = 1, .link_reals = 18, .vectors_in_lanes = vectors})(c.arguments, 0, sites, left_out.data(),
                                                                                                   sums.data());
      return sums;
    };
    const std::vector<BinnedSum> expected = sums_of(std::vector<std::int32_t>(vectors, 0));
    for (std::size_t i = 3; i < in.size(); i += vectors) in[i] = NAN;
    std::vector<std::int32_t> left_out(vectors, 0);
    for (const bool out_of_it : {false, true}) {
      left_out[3] = out_of_it;
      const std::vector<BinnedSum> sums = sums_of(left_out);
      for (std::size_t s = 0; s < sums.size(); ++s) {
        if (s % vectors != 3) CHECK(same_bits(sums[s], expected[s]));
        else CHECK((sums[s].poisoned != 0) == !out_of_it);
      }
    }
  });
}
