// What holds of every action that there is: M^+ is the adjoint of M, and M^+ = G M G with G = gamma_5 or, staggered, the sign of the
// parity; of twisted mass with the other flavour's M.
#include "codelets/actions/action_kind.hpp"
#include "tests/battery/support.hpp"

#include <complex>

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 141421;
constexpr Coord extents{4, 4, 4, 8};

/// On each slice of the fifth dimension, where there is one.
std::vector<HostField> random_vector(int components, int slices, std::uint64_t number) {
  std::vector<HostField> host(static_cast<std::size_t>(slices), HostField(components, extents));
  for (std::size_t s = 0; s < host.size(); ++s)
    host[s].data = reference::random_field(extents, components / 3, seed + number + 10 * s).data;
  return host;
}

/// M psi, or M^+ psi.
std::vector<HostField> product(EvenOdd& m, const std::vector<HostField>& psi, bool adjoint) {
  const int components = psi.front().components;
  const FullField x(m.lattice(), components);
  std::vector<HostField> result(psi.size(), HostField(components, extents));
  for (const int parity : {0, 1}) transfer::load(x.of(parity), psi);
  for (const int parity : {0, 1}) {
    const Field out(m.lattice(), parity, components);
    m.times_m(out, x, 1, adjoint);
    transfer::store(result, out);
  }
  runtime::Session::current().wait_all();
  return result;
}

/// gamma_5 psi, or (-1)^(x+y+z+t) psi.
std::vector<HostField> turned(std::vector<HostField> slices) {
  HostField& psi = slices.front();
  for (std::int64_t site = 0; site < volume(extents); ++site)
    for (int c = 0; c < psi.components; ++c) {
      const bool minus = psi.components == spinor_components ? c >= 6 : parity_of(coordinates(site, extents)) == 1;
      if (minus) psi.at(site, c) = -psi.at(site, c);
    }
  return slices;
}

std::complex<double> inner(const std::vector<HostField>& a, const std::vector<HostField>& b) {
  std::complex<double> sum = 0;
  for (std::size_t s = 0; s < a.size(); ++s)
    for (std::size_t i = 0; i < a[s].data.size(); ++i) sum += std::conj(a[s].data[i]) * b[s].data[i];
  return sum;
}

double distance(const HostField& a, const HostField& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.data.size(); ++i) largest = std::max(largest, std::abs(a.data[i] - b.data[i]));
  return largest;
}

}  // namespace

TEST_CASE("every action: M^+ is the adjoint of M, and G M G") {
  MESSAGE("seed " << seed);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  for (const ActionKind* kind : action_kinds()) {
    const RunOperator made = kind->with_any_links(reference::random_gauge(extents, seed), {});
    const auto prepared = made.action->in_precision(runtime::Decomposition(extents, {1, 1, 1, 2}, 2), {.speed = {.measure = false}});
    const double mass = prepared->own_mass().value_or(0.2);
    const bool has_flavours = kind->masses_shift && kind->components == spinor_components;
    const std::unique_ptr<EvenOdd> m = prepared->system(1, {mass}), other = prepared->system(1, {has_flavours ? -mass : mass});
    const int slices = kind->slices({});
    const std::vector<HostField> a = random_vector(kind->components, slices, 1), b = random_vector(kind->components, slices, 2);
    const std::vector<HostField> m_a = product(*m, a, false), adjoint_a = product(*m, a, true);
    INFO(std::string(kind->name));
    CHECK(std::abs(inner(b, m_a) - inner(product(*m, b, true), a)) < 1e-10);
    if (slices == 1) CHECK(distance(turned(product(*other, turned(a), false))[0], adjoint_a[0]) < 1e-12);  // else tests of its own
  }
}
