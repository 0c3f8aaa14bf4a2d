#include "codelets/field/coefficient.hpp"

#include <doctest/doctest.h>

#include <array>

namespace coefficient_test {

using namespace quarkstar;
using blas::Coefficient;

TEST_CASE("a coefficient is a constant of each vector or an array of the state") {
  struct Numbers : VectorStatus {
    double alpha[most_vectors]{};
    runtime::ComplexScalar beta[most_vectors]{};
  } state;
  for (int v = 0; v < most_vectors; ++v) {
    state.alpha[v] = 2.0 + v;
    state.beta[v] = {-5.0 * v, 7};
  }
  using Pair = std::array<double, 2>;
  const auto resolved = [&](const Coefficient& c, int v) {
    const runtime::ComplexScalar z = c.resolve(&state, v);
    return Pair{z.re, z.im};
  };
  PerVector constants{};
  constants[3] = 4;
  const Coefficient alpha = Coefficient::of(&Numbers::alpha), beta = Coefficient::of(&Numbers::beta);
  for (const int v : {0, 3, most_vectors - 1}) {
    INFO("vector " << v);
    CHECK(resolved({4, -2}, v) == Pair{4, -2});
    CHECK(resolved(-Coefficient{4, -2}, v) == Pair{-4, 2});
    CHECK(resolved(constants, v) == Pair{v == 3 ? 4.0 : 0.0, 0});
    CHECK(resolved(alpha, v) == Pair{2.0 + v, 0});
    CHECK(resolved(-beta, v) == Pair{5.0 * v, -7});
    CHECK(resolved(-(-beta), v) == Pair{-5.0 * v, 7});
  }
  Coefficient constant{4, -2};
  constant.factor = 0.5;
  const runtime::ComplexScalar z = constant.resolve(nullptr, 0);
  CHECK(Pair{z.re, z.im} == Pair{2, -1});
}

}  // namespace coefficient_test
