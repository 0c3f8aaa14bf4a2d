// What holds of every action that there is: M^+ is the adjoint of M, and M^+ = G M G with G = gamma_5 or, staggered, the sign of the
// parity; of twisted mass with the other flavour's M.
#include "codelets/actions/action_kind.hpp"
#include "tests/battery/support.hpp"

#include <array>
#include <complex>

namespace actions_test {

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

/// (rhs of the system of M^+ x = b, the other parity of x from x, Mh^+ x) on the whole lattice, slice by slice.
std::array<std::vector<HostField>, 3> adjoint_system(EvenOdd& m, const std::vector<HostField>& b, const std::vector<HostField>& x) {
  const int components = b.front().components;
  const FullField on_graph(m.lattice(), components);
  const Field solution = m.field(), rhs = m.field(), image = m.field(), other(m.lattice(), 1 - m.parity(), components);
  for (const int parity : {0, 1}) transfer::load(on_graph.of(parity), b);
  transfer::load(solution, x);
  m.prepare(rhs, on_graph, true);
  m.reconstruct(other, on_graph, solution, true);
  m.apply(image, solution, {}, true, {});
  std::array<std::vector<HostField>, 3> results;
  results.fill(std::vector<HostField>(b.size(), HostField(components, extents)));
  transfer::store(results[0], rhs);
  transfer::store(results[1], other);
  transfer::store(results[2], image);
  runtime::Session::current().wait_all();
  return results;
}

/// On the sites of one parity, zero elsewhere.
std::vector<HostField> on_parity(std::vector<HostField> slices, int parity) {
  for (HostField& psi : slices)
    for (std::int64_t site = 0; site < volume(extents); ++site)
      for (int c = 0; c < psi.components; ++c)
        if (parity_of(coordinates(site, extents)) != parity) psi.at(site, c) = 0;
  return slices;
}

}  // namespace

TEST_CASE("every action: the even-odd system of M^+") {
  MESSAGE("seed " << seed);
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0});
  for (const ActionKind* kind : action_kinds())
    for (const Schur schur : {Schur::asymmetric, Schur::symmetric}) {
      if (kind->is_hermitian && schur == Schur::symmetric) continue;
      INFO(std::string(kind->name) << (schur == Schur::symmetric ? " symmetric" : ""));
      const RunOperator made = kind->with_any_links(reference::random_gauge(extents, seed), {});
      const auto prepared =
          made.action->in_precision(runtime::Decomposition(extents, {1, 1, 1, 2}, 2), {.schur = schur, .speed = {.measure = false}});
      const std::unique_ptr<EvenOdd> m = prepared->system(1, {prepared->own_mass().value_or(0.2)});
      const int p = m->parity();
      const std::vector<HostField> x = random_vector(kind->components, kind->slices({}), 1), b = product(*m, x, true);
      const auto [rhs, other, image] = adjoint_system(*m, b, x);
      for (std::size_t s = 0; s < x.size(); ++s) CHECK(distance(other[s], on_parity(x, 1 - p)[s]) < 1e-11);
      if (schur == Schur::asymmetric)  // the other order of factors is not that of apply()
        for (std::size_t s = 0; s < x.size(); ++s) CHECK(distance(rhs[s], image[s]) < 1e-11);
      // M^+ y = (rhs' of the parity, 0) has the solution y: then M^+ of it on the other parity is zero.
      const std::vector<HostField> zero(x.size(), HostField(kind->components, extents));
      std::vector<HostField> y = adjoint_system(*m, zero, x)[1];
      const std::vector<HostField> own = on_parity(x, p);
      for (std::size_t s = 0; s < y.size(); ++s)
        for (std::size_t i = 0; i < y[s].data.size(); ++i) y[s].data[i] += own[s].data[i];
      const std::vector<HostField> of_y = product(*m, y, true), system_of_y = adjoint_system(*m, of_y, x)[0];
      for (std::size_t s = 0; s < y.size(); ++s) CHECK(distance(on_parity(of_y, 1 - p)[s], zero[s]) < 1e-11);
      // Of x and of y, which differ on the other parity alone, the system has the same right-hand side.
      for (std::size_t s = 0; s < y.size(); ++s) CHECK(distance(rhs[s], system_of_y[s]) < 1e-11);
    }
}

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

}  // namespace actions_test
