// The random streams: Random123's published answers, ranges, moments, and independence of what the key tells apart.
#include "codelets/lattice/random.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

namespace random_stream_test {

using namespace quarkstar;

namespace {

using Words = std::array<std::uint64_t, 4>;

Words philox(const Words& counter, const std::array<std::uint64_t, 2>& key) {
  const auto group = r123::Philox4x64()({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
  return {group[0], group[1], group[2], group[3]};
}

}  // namespace

TEST_CASE("random: Philox4x64-10 gives the known answers that come with Random123 (kat_vectors)") {
  const std::uint64_t ones = ~std::uint64_t{0};
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b});
  CHECK(philox({ones, ones, ones, ones}, {ones, ones}) ==
        Words{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0});
  CHECK(
      philox({0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89}, {0x452821e638d01377, 0xbe5466cf34e90c6c}) ==
      Words{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6});
}

TEST_CASE("random: the n-th group of a stream is Philox of key (seed, purpose) and counter (site, index, n, 0)") {
  RandomStream stream(77, RandomPurpose::hot_start, 123456789012, 5);
  for (std::uint64_t n = 0; n < 3; ++n) CHECK(stream.words() == philox({123456789012, 5, n, 0}, {77, 2}));
}

TEST_CASE("random: streams that differ in one part of their name share no word") {
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  const auto draw = [&](RandomStream stream) {
    for (int n = 0; n < 25; ++n)
      for (const std::uint64_t word : stream.words()) {
        seen.insert(word);
        ++drawn;
      }
  };
  draw(RandomStream(1, RandomPurpose::heatbath, 0, 0));
  draw(RandomStream(2, RandomPurpose::heatbath, 0, 0));
  draw(RandomStream(1, RandomPurpose::noise_source, 0, 0));
  draw(RandomStream(1, RandomPurpose::heatbath, 1, 0));
  draw(RandomStream(1, RandomPurpose::heatbath, 0, 1));
  CHECK(seen.size() == drawn);
}

TEST_CASE("random: uniform and normal numbers have the right range and moments") {
  const std::uint64_t seed = 2024;
  CAPTURE(seed);
  const int groups = 50000;
  RandomStream stream(seed, RandomPurpose::noise_source, 0, 0);
  double sum = 0, squares = 0, lowest = 1, highest = 0;
  for (int n = 0; n < groups; ++n)
    for (const double u : stream.uniforms()) {
      sum += u;
      squares += u * u;
      lowest = std::min(lowest, u);
      highest = std::max(highest, u);
    }
  const double count = 4.0 * groups;
  CHECK(lowest > 0.0);
  CHECK(highest < 1.0);
  // Five standard errors of the mean of u and of u^2.
  CHECK(std::abs(sum / count - 1.0 / 2) < 5 * std::sqrt(1.0 / 12 / count));
  CHECK(std::abs(squares / count - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / count));

  double moments[4] = {}, within_pair = 0;
  for (int n = 0; n < groups; ++n) {
    const auto g = stream.gaussians();
    for (const double x : g)
      for (int k = 0; k < 4; ++k) moments[k] += std::pow(x, k + 1) / count;
    within_pair += (g[0] * g[1] + g[2] * g[3]) / (2.0 * groups);
  }
  const double exact[4] = {0, 1, 0, 3}, variance[4] = {1, 2, 15, 96};
  for (int k = 0; k < 4; ++k) {
    CAPTURE(k);
    CHECK(std::abs(moments[k] - exact[k]) < 5 * std::sqrt(variance[k] / count));
  }
  CHECK(std::abs(within_pair) < 5 * std::sqrt(1.0 / (2.0 * groups)));
}

}  // namespace random_stream_test
