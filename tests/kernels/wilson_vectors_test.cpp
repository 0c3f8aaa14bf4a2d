// Every right-hand side of the Wilson hopping term has the bits, of its result and of its sums, that it has alone.
#include "codelets/actions/wilson/hopping_kernels.hpp"
#include "tests/kernels/architectures.hpp"
#include "tests/kernels/wilson_case.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

using namespace quarkstar;
using namespace quarkstar::kernels;
using runtime::BinnedSum;

namespace {

constexpr int sites = 7;

/// Runs the kernel for all vectors and for each alone. left_out: those without a result, whose memory and sums must stay as they are.
template <class F>
void check_vectors(WilsonCase<F>& c, const wilson::KernelChoice& choice, const std::vector<std::int32_t>& left_out) {
  const wilson::HoppingKernel<F> kernel = wilson::hopping_kernel<F>(choice);
  const auto words = static_cast<std::size_t>(spinor_words<F> * c.lanes);
  const auto n = static_cast<std::size_t>(c.vectors);
  std::vector<BinnedSum> sums(3 * n, BinnedSum::zero());
  std::memset(static_cast<void*>(c.out.data()), 0x5a, c.out.size() * sizeof(F));
  const std::vector<F> untouched(c.out.begin(), c.out.begin() + static_cast<std::ptrdiff_t>(words));
  // In two parts, as threads take them.
  kernel(c.arguments, 0, 3, left_out.empty() ? nullptr : left_out.data(), sums.data());
  kernel(c.arguments, 3, sites, left_out.empty() ? nullptr : left_out.data(), sums.data());
  for (int v = 0; v < c.vectors; ++v) {
    INFO("right-hand side " << v);
    const bool wanted = left_out.empty() || left_out[static_cast<std::size_t>(v)] == 0;
    const auto alone = c.alone(v);
    BinnedSum own[3] = {BinnedSum::zero(), BinnedSum::zero(), BinnedSum::zero()};
    if (wanted) kernel(alone->arguments, 0, sites, nullptr, own);
    bool equal = true;
    for (int site = 0; site < sites; ++site)
      equal &= same_bits(c.out.data() + c.at(site, v),
                         wanted ? alone->out.data() + static_cast<std::size_t>(site) * words : untouched.data(), words);
    CHECK(equal);
    for (std::size_t s = 0; s < 3; ++s) CHECK(same_bits(sums[s * n + static_cast<std::size_t>(v)], own[s]));
  }
}

template <class F>
void check_hopping() {
  for (const int lanes : lane_counts(NumberFormat<F>::precision))
    for (const int reals : {18, 12, 8})
      for (const int sign : {1, -1})
        for (const int vectors : {2, 3, 8, 11})
          for (const bool special : {true, false}) {
            INFO(describe(NumberFormat<F>::precision, lanes)
                 << " links " << reals << " sign " << sign << " right-hand sides " << vectors << " special " << special);
            WilsonCase<F> c(lanes, reals, sites, special, vectors);
            for (const int prefetch : {0, 1}) {
              const wilson::KernelChoice choice{
                  .lanes = lanes, .link_reals = reals, .sign = sign, .launch = {.memory = {prefetch, arch::Stores::plain}}};
              check_vectors<F>(c, choice, {});
              std::vector<std::int32_t> left_out(static_cast<std::size_t>(vectors), 0);
              for (std::size_t v = 0; v < left_out.size(); ++v) left_out[v] = v % 3 == 1 ? 1 : 0;
              check_vectors<F>(c, choice, left_out);
            }
            check_vectors<F>(c, {lanes, reals, sign, wilson::default_launch},
                             std::vector<std::int32_t>(static_cast<std::size_t>(vectors), 1));
          }
}

template <class F>
void check_sums() {
  const int lanes = lane_counts(NumberFormat<F>::precision)[0];
  for (const auto& [norm, dot] : {std::pair(true, false), {false, true}}) {
    WilsonCase<F> c(lanes, 12, sites, true, 3);
    c.arguments.sums = {norm, dot, dot};
    std::vector<BinnedSum> all(9, BinnedSum::zero()), some(9, BinnedSum::zero());
    const wilson::HoppingKernel<F> kernel = wilson::hopping_kernel<F>({lanes, 12, 1, wilson::default_launch});
    kernel(c.arguments, 0, sites, nullptr, some.data());
    c.arguments.sums = {true, true, true};
    kernel(c.arguments, 0, sites, nullptr, all.data());
    const auto first = static_cast<std::size_t>(norm ? 0 : 3);
    for (std::size_t s = 0; s < 9; ++s)
      CHECK(same_bits(some[s], s < static_cast<std::size_t>(norm ? 3 : 6) ? all[first + s] : BinnedSum::zero()));
  }
}

template <class F>
void check_pack() {
  for (const int lanes : lane_counts(NumberFormat<F>::precision))
    for (const int vectors : {2, 8}) {
      const WilsonCase<F> c(lanes, 18, sites, true, vectors);
      for (int d = 0; d < 8; ++d)
        for (const int sign : {1, -1}) {
          INFO(describe(NumberFormat<F>::precision, lanes) << " direction " << d << " sign " << sign << " right-hand sides " << vectors);
          const int stride = c.stride[static_cast<std::size_t>(d / 2)];
          const auto place = static_cast<std::size_t>(wilson::face_words<F> * (stride == 0 ? lanes : lanes / 2));
          const wilson::PackKernel<F> kernel = wilson::pack_kernel<F>(lanes, d, sign);
          std::vector<Real<F>> face(place * static_cast<std::size_t>(sites * vectors)), own(place * sites);
          kernel({c.list.data(), c.in.stored.data(), face.data(), stride, vectors}, 0, sites);
          bool equal = true;
          for (int v = 0; v < vectors; ++v) {
            const auto alone = c.alone(v);
            kernel({c.list.data(), alone->in.data(), own.data(), stride, 1}, 0, sites);
            for (int i = 0; i < sites; ++i)
              equal &= same_bits(face.data() + static_cast<std::size_t>(i * vectors + v) * place,
                                 own.data() + static_cast<std::size_t>(i) * place, place);
          }
          CHECK(equal);
        }
    }
}

}  // namespace

TEST_CASE("a right-hand side of the Wilson hopping term has the same bits alone and among others") {
  for_architectures([] {
    check_hopping<double>();
    check_hopping<float>();
    check_hopping<Half>();
  });
}

TEST_CASE("sums of the Wilson hopping term lie one after the other, whichever are asked for") {
  for_architectures([] {
    check_sums<double>();
    check_sums<float>();
    check_sums<Half>();
  });
}

TEST_CASE("faces of the Wilson hopping term for several right-hand sides are those of each") {
  for_architectures([] {
    check_pack<double>();
    check_pack<float>();
    check_pack<Half>();
  });
}
