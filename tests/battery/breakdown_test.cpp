// Every way in which a solver can fail to converge, provoked on the graph by an operator made for it.
#include "solvers/krylov/krylov.hpp"
#include "tests/battery/support.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace breakdown_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 271828;
constexpr Coord extents{4, 4, 4, 4};
constexpr int components = 12;
using Factors = std::array<std::complex<double>, components>;

struct DiagonalArguments {
  Factors factors;
  std::int64_t sites;
  int lanes;
  bool norm, dot, guarded;
};

/// Buffers: out, partial sums, in, and as asked y, state.
void run_diagonal(runtime::Call& call) {
  const auto& a = call.arguments<DiagonalArguments>();
  if (a.guarded && call.buffer<runtime::GraphStatus>(a.dot ? 4 : 3)->stop != 0) return call.skip();
  double* out = call.buffer<double>(0);
  const double* in = call.buffer<double>(2);
  runtime::BinnedSum norm = runtime::BinnedSum::zero(), re = norm, im = norm;
  for (std::int64_t site = 0; site < a.sites; ++site)
    for (std::size_t c = 0; c < components; ++c)
      for (int lane = 0; lane < a.lanes; ++lane) {
        const auto i = static_cast<std::size_t>(((site * components + static_cast<std::int64_t>(c)) * 2) * a.lanes + lane);
        const auto j = i + static_cast<std::size_t>(a.lanes);
        const std::complex<double> value = a.factors[c] * std::complex<double>(in[i], in[j]);
        out[i] = value.real();
        out[j] = value.imag();
        runtime::add(norm, std::norm(value));
        if (!a.dot) continue;
        const double* y = call.buffer<double>(3);
        const std::complex<double> product = std::conj(std::complex<double>(y[i], y[j])) * value;
        runtime::add(re, product.real());
        runtime::add(im, product.imag());
      }
  runtime::BinnedSum* sums = call.buffer<runtime::BinnedSum>(1);
  if (a.norm) *sums++ = norm;
  if (a.dot) {
    sums[0] = re;
    sums[1] = im;
  }
}

/// Multiplies each of a site's 12 complex components by a factor of its own.
class Diagonal : public LinearOperator {
 public:
  Diagonal(LatticePointer lattice, const Factors& factors)
      : lattice_(std::move(lattice)), factors_(factors), sums_(lattice_->block_count(), 3) {}

  void apply(const Field& out, const Field& in, const ApplySums& sums, bool adjoint, const runtime::Guard& guard) override {
    static const runtime::Codelet codelet("test.diagonal", run_diagonal);
    DiagonalArguments arguments{factors_, 0, lattice_->lanes().lanes, sums.norm, sums.y != nullptr, guard.state != nullptr};
    if (adjoint)
      for (auto& factor : arguments.factors) factor = std::conj(factor);
    for (int b = 0; b < lattice_->block_count(); ++b) {
      arguments.sites = lattice_->block(b).outer_sites();
      runtime::AccessList accesses{runtime::out(out.block(b)), runtime::out(sums_.task(b)), runtime::in(in.block(b))};
      if (sums.y != nullptr) accesses.push_back(runtime::in(sums.y->block(b)));
      if (guard.state != nullptr) accesses.push_back(runtime::in(*guard.state));
      runtime::submit(codelet, arguments, accesses);
    }
  }
  const runtime::PartialSums& sums() const override { return sums_; }
  const LatticePointer& lattice() const override { return lattice_; }
  int parity() const override { return 1; }
  int components() const override { return spinor_components; }
  int vectors() const override { return 1; }

 private:
  LatticePointer lattice_;
  Factors factors_;
  runtime::PartialSums sums_;
};

/// Factors by the number of the component.
template <class Function>
Factors factors(Function&& function) {
  Factors values;
  for (std::size_t c = 0; c < components; ++c) values[c] = function(static_cast<int>(c));
  return values;
}

/// Solves with the named solver; checks that whatever was not said to converge has not.
KrylovResult solve(std::string_view name, const Factors& diagonal, const HostField& source, KrylovLimits limits,
                   HostField* solution = nullptr) {
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  const auto lattice = std::make_shared<Lattice>(runtime::Decomposition(extents, {1, 1, 1, 2}, 2), Precision::double_, periodic);
  Diagonal a(lattice, diagonal);
  const Field x = a.field(), r = a.field(), ax = a.field();
  transfer::load(r, source);
  KrylovResult result = solve_by(find_krylov_solver(name)->make, a, x, r, limits, {}).of_vectors.front();
  a.apply(ax, x, {}, false, {});
  HostField image(spinor_components, extents);
  transfer::store(image, ax);
  if (solution != nullptr) transfer::store(*solution, x);
  session.wait_all();
  const reference::Field difference = reference::restrict_to_parity(battery::to_reference(source) - battery::to_reference(image), 1);
  const double left = reference::norm2(difference);
  CHECK((result.reason == StopReason::converged) == (left <= 1.01 * limits.target_norm2[0]));
  return result;
}

HostField random_source() { return battery::to_host(reference::random_field(extents, 4, seed)); }

}  // namespace

TEST_CASE("breakdown: every solver converges where nothing is wrong") {
  MESSAGE("seed " << seed);
  for (const char* name : {"bicgstab", "cgnr", "gcr", "cg"}) {
    INFO(name);
    const KrylovResult result =
        solve(name, factors([](int c) { return 1 + 0.2 * c; }), random_source(),
              {.target_norm2 = same_for_all(1e-20), .most_iterations = iterations_for_all(100), .restart = components + 1});
    CHECK(result.reason == StopReason::converged);
    CHECK(result.iterations <= components + 2);
  }
}

TEST_CASE("breakdown: a denominator that is exactly zero ends a solve at once") {
  MESSAGE("seed " << seed);
  HostField source = random_source();
  for (std::int64_t site = 0; site < volume(extents); ++site)
    for (int spin = 0; spin < 2; ++spin)
      for (int colour = 0; colour < 3; ++colour) source.at(site, spin + 2, colour) = source.at(site, spin, colour);
  const auto gamma5 = factors([](int c) { return c < 6 ? 1.0 : -1.0; });  // <r, gamma5 r> = 0 for equal upper and lower halves
  for (const char* name : {"bicgstab", "gcr", "cg"}) {
    INFO(name);
    HostField x(spinor_components, extents);
    const KrylovResult result =
        solve(name, gamma5, source, {.target_norm2 = same_for_all(1e-20), .most_iterations = iterations_for_all(100)}, &x);
    CHECK(result.reason == StopReason::zero_denominator);
    for (const auto& value : x.data) CHECK(value == 0.0);
  }
  HostField lower = source;
  for (std::int64_t site = 0; site < volume(extents); ++site)
    for (int spin = 0; spin < 2; ++spin)
      for (int colour = 0; colour < 3; ++colour) lower.at(site, spin, colour) = 0;
  const auto upper = factors([](int c) { return c < 6 ? 1.0 : 0.0; });  // A^+ r = 0
  CHECK(solve("cgnr", upper, lower, {.target_norm2 = same_for_all(1e-20), .most_iterations = iterations_for_all(100)}).reason ==
        StopReason::zero_denominator);
}

TEST_CASE("breakdown: NaN and infinity") {
  MESSAGE("seed " << seed);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (const char* name : {"bicgstab", "cgnr", "gcr", "cg"}) {
      INFO(name << " " << bad);
      const auto diagonal = factors([bad](int c) { return c == 5 ? bad : 1.0; });
      CHECK(solve(name, diagonal, random_source(), {.target_norm2 = same_for_all(1e-20), .most_iterations = iterations_for_all(100)})
                .reason == StopReason::not_finite);
    }
}

TEST_CASE("breakdown: stagnation on a system that has no solution") {
  MESSAGE("seed " << seed);
  const auto singular = factors([](int c) { return c < 9 ? 1 + 0.2 * c : 0.0; });  // the last three components cannot be reached
  for (const char* name : {"bicgstab", "cgnr"}) {
    INFO(name);
    const KrylovResult result =
        solve(name, singular, random_source(),
              {.target_norm2 = same_for_all(1e-20), .most_iterations = iterations_for_all(1000), .patience = iterations_for_all(4)});
    CHECK(result.reason == StopReason::stagnation);
    CHECK(result.iterations < 100);
  }
  // What GCR has left is orthogonal to everything that A can make, which it sees at once.
  HostField x(spinor_components, extents);
  const KrylovResult result =
      solve("gcr", singular, random_source(),
            {.target_norm2 = same_for_all(1e-20), .most_iterations = iterations_for_all(1000), .patience = iterations_for_all(4)}, &x);
  CHECK(result.reason != StopReason::converged);
  CHECK(result.iterations < 100);
  for (const auto& value : x.data) CHECK(std::isfinite(std::abs(value)));
}

TEST_CASE("breakdown: the iteration limit is kept exactly") {
  MESSAGE("seed " << seed);
  for (const char* name : {"bicgstab", "cgnr", "gcr", "cg"}) {
    INFO(name);
    const KrylovResult result = solve(name, factors([](int c) { return 1 + 0.5 * c; }), random_source(),
                                      {.target_norm2 = same_for_all(1e-20), .most_iterations = iterations_for_all(3)});
    CHECK(result.reason == StopReason::iteration_limit);
    CHECK(result.iterations == 3);
    CHECK(result.norm2.size() == 3);
  }
}

TEST_CASE("breakdown: sources whose norm cannot be squared twice") {
  MESSAGE("seed " << seed);
  for (const double size : {1e-120, 1e120})
    for (const char* name : {"bicgstab", "cgnr", "gcr", "cg"}) {
      INFO(name << " " << size);
      HostField source = random_source();
      for (auto& value : source.data) value *= size;
      const KrylovResult result = solve(name, factors([](int c) { return 1 + 0.2 * c; }), source,
                                        {.target_norm2 = same_for_all(1e-20 * size * size), .most_iterations = iterations_for_all(100)});
      CHECK(result.reason == StopReason::converged);
    }
}

}  // namespace breakdown_test
