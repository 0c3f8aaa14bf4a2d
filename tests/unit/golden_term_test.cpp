// Clover and twisted mass against the numbers of golden-2.json and golden-milc.json (docs/conventions.md, section 12): the package's own
// operators and solves.
#include "codelets/actions/clover/prepared_action.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/graph/session.hpp"
#include "solvers/solver.hpp"
#include "tests/reference/correlator.hpp"
#include "tests/reference/field.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/unit/contract_testing.hpp"
#include "tests/unit/reference_golden.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <utility>

namespace golden_term_test {

using namespace quarkstar;

namespace {

using nlohmann::json;

HostGauge configuration(const std::filesystem::path& data, const json& known) {
  const std::string name = known["config"];
  const std::string file = name == "weak" ? "other/weak_field.lime" : (name.starts_with("jl.") ? "other/" : "milc/") + name;
  HostGauge gauge = format::read_gauge(data / file).gauge;
  if (known.value("reunitarised", false)) reference::reunitarize(gauge);
  return gauge;
}

HostField host_field(const reference::Field& field) {
  HostField host(spinor_components, field.extents);
  host.data = field.data;
  return host;
}
reference::Field restricted(const HostField& host, int parity) {
  reference::Field field(host.extents, 4);
  field.data = host.data;
  return reference::restrict_to_parity(field, parity);
}
/// Links or a field, moved by one site in x: what was on even sites is on odd ones. No boundary condition in x may tell.
template <class Sites>
Sites moved(const Sites& from) {
  Sites to = from;
  const std::size_t size = from.data.size() / static_cast<std::size_t>(volume(from.extents));
  for (std::size_t site = 0; site * size < from.data.size(); ++site) {
    Coord x = coordinates(static_cast<std::int64_t>(site), from.extents);
    x[0] = (x[0] + 1) % from.extents[0];
    const auto there = static_cast<std::size_t>(lexicographic(x, from.extents));
    std::copy_n(from.data.begin() + static_cast<std::ptrdiff_t>(site * size), size,
                to.data.begin() + static_cast<std::ptrdiff_t>(there * size));
  }
  return to;
}

/// One action on a configuration.
class Operator {
 public:
  Operator(const HostGauge& gauge, const WilsonParameters& parameters, const clover::Parameters& term)
      : gauge_(gauge),
        decomposition_(gauge.extents, {1, 1, 1, 1}, 1),
        source_(reference::golden_source(gauge.extents, 4)),
        parameters_(parameters),
        action_(std::make_unique<clover::Action>(gauge_, parameters_, term)) {}

  std::unique_ptr<PreparedAction> prepared(Schur schur) const {
    return action_->in_precision(decomposition_, {.schur = schur, .speed = {.measure = false}});
  }
  const reference::Field& source() const { return source_; }

  /// M source.
  reference::Field image() const {
    const auto made = prepared(Schur::asymmetric);
    const auto m = made->system(1, same_for_all(parameters_.kappa));
    const FullField x(m->lattice(), spinor_components);
    const HostField host = host_field(source_);
    reference::Field sum(source_.extents, 4);
    for (const int parity : {0, 1}) transfer::load(x.of(parity), {&host, 1});
    for (const int parity : {0, 1}) {
      const Field minus(m->lattice(), parity, spinor_components);
      m->times_m(minus, x, -1);
      sum = sum - restricted(stored(minus), parity);
    }
    return sum;
  }
  /// The Schur complement on the odd sites of a field.
  reference::Field even_odd(Schur schur, const reference::Field& of) const {
    const auto made = prepared(schur);
    const auto m = made->system(1, same_for_all(parameters_.kappa));
    const Field in = m->field(), out = m->field();
    const HostField host = host_field(of);
    transfer::load(in, {&host, 1});
    m->apply(out, in, {}, false, {});
    return restricted(stored(out), 1);
  }
  /// log |det| of the asymmetric one: dense, of its products with all unit vectors.
  double log_det_even_odd() const {
    const auto made = prepared(Schur::asymmetric);
    const auto m = made->system(most_vectors, same_for_all(parameters_.kappa));
    const Field in = m->field(), out = m->field();
    std::vector<std::size_t> odd;  // numbers of odd sites in a host field
    for (std::int64_t site = 0; site < volume(gauge_.extents); ++site)
      if (reference::parity(coordinates(site, gauge_.extents)) == 1)
        for (int c = 0; c < spinor_components; ++c) odd.push_back(static_cast<std::size_t>(site * spinor_components + c));
    const auto size = static_cast<Eigen::Index>(odd.size());
    Eigen::MatrixXcd dense(size, size);
    REQUIRE(size % most_vectors == 0);
    for (Eigen::Index first = 0; first < size; first += most_vectors) {
      std::vector<HostField> units(most_vectors, HostField(spinor_components, gauge_.extents)), images = units;
      for (Eigen::Index v = 0; v < most_vectors; ++v) units[static_cast<std::size_t>(v)].data[odd[static_cast<std::size_t>(first + v)]] = 1;
      transfer::load(in, units);
      m->apply(out, in, {}, false, {});
      transfer::store(images, out);
      runtime::Session::current().wait_all();
      for (Eigen::Index v = 0; v < most_vectors; ++v)
        for (Eigen::Index row = 0; row < size; ++row)
          dense(row, first + v) = images[static_cast<std::size_t>(v)].data[odd[static_cast<std::size_t>(row)]];
    }
    return dense.partialPivLu().matrixLU().diagonal().cwiseAbs().array().log().sum();
  }
  /// A source and A^-1 source, A the term per site: of M what does not hop.
  std::pair<reference::Field, reference::Field> term_and_inverse() const {
    const auto made = prepared(Schur::symmetric);
    const auto m = made->system(1, same_for_all(parameters_.kappa));
    const HostField host = host_field(source_), zero(spinor_components, source_.extents);
    std::pair<reference::Field, reference::Field> products{reference::Field(source_.extents, 4), reference::Field(source_.extents, 4)};
    for (const int parity : {0, 1}) {
      const FullField only(m->lattice(), spinor_components);  // the source on the sites of this parity alone
      transfer::load(only.of(parity), {&host, 1});
      transfer::load(only.of(1 - parity), {&zero, 1});
      const Field image(m->lattice(), parity, spinor_components), inverse(m->lattice(), parity, spinor_components);
      m->times_m(image, only, 1);
      products.first = products.first + restricted(stored(image), parity);
      if (parity == m->parity()) m->prepare(inverse, only);
      else m->reconstruct(inverse, only, only.of(1 - parity));
      products.second = products.second + restricted(stored(inverse), parity);
    }
    return products;
  }
  /// From the origin.
  reference::Propagator propagator() const {
    Solver solver(decomposition_, *action_, {.tolerance = 1e-14, .tune = false});
    std::vector<HostField> sources(12, HostField(spinor_components, gauge_.extents)), solutions = sources;
    for (int column = 0; column < 12; ++column) sources[static_cast<std::size_t>(column)].at(0, column) = 1;
    const std::vector<double> kappas(12, parameters_.kappa);
    solver.solve(sources, kappas, solutions);
    reference::Propagator columns;
    for (const HostField& solution : solutions) {
      columns.emplace_back(gauge_.extents, 4);
      columns.back().data = solution.data;
    }
    return columns;
  }

 private:
  HostField stored(const Field& field) const {
    HostField host(spinor_components, gauge_.extents);
    transfer::store({&host, 1}, field);
    runtime::Session::current().wait_all();
    return host;
  }

  const HostGauge& gauge_;
  runtime::Decomposition decomposition_;
  reference::Field source_;
  WilsonParameters parameters_;
  std::unique_ptr<Action> action_;
};

void check_relative(double actual, double expected, double tolerance = 1e-12) {
  CAPTURE(actual);
  CAPTURE(expected);
  CHECK(std::abs(actual / expected - 1) < tolerance);
}
void check_product(reference::Complex actual, const json& expected, double scale, double tolerance = 1e-12) {
  CAPTURE(actual);
  CHECK(std::abs(actual - reference::Complex{expected[0], expected[1]}) < tolerance * scale);
}

/// Of one correlator that the package contracts of columns from the origin; expected: a number for each time, or {re, im}, where the
/// imaginary part is 0 to rounding. The terms of its sum have the size of the pion's, and may cancel.
void check_meson(const reference::Propagator& propagator, const std::string& name, const json& expected) {
  INFO(name);
  std::vector<HostField> columns;
  for (const reference::Field& column : propagator) columns.push_back(host_field(column));
  const Correlator meson = testing::contracted(columns, "mesons", {.names = {name}}).front();
  const std::vector<double> pion = reference::pion(propagator);
  REQUIRE(expected.size() == meson.values.size());
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const double known = expected[t].is_array() ? expected[t][0] : expected[t];
    CAPTURE(t);
    CHECK(std::abs(meson.values[t] - known) < 1e-10 * std::abs(known) + 1e-13 * pion[t]);
  }
}

/// Tr S(0, 0), or Tr g_5 S(0, 0).
reference::Complex trace_at_origin(const reference::Propagator& propagator, bool with_gamma5) {
  reference::Complex trace = 0;
  for (int column = 0; column < spinor_components; ++column)
    trace += (with_gamma5 && column >= spinor_components / 2 ? -1.0 : 1.0) *
             propagator[static_cast<std::size_t>(column)](0, column / 3, column % 3);
  return trace;
}

/// sum over space of Tr[S_1 S_2^+] for each time, against pairs {re, im}.
void check_product_sums(const reference::Propagator& a, const reference::Propagator& b, const json& expected) {
  const Coord& extents = a.front().extents;
  const auto slice = static_cast<std::size_t>(12 * volume(extents) / extents[3]);
  std::vector<reference::Complex> sums(static_cast<std::size_t>(extents[3]), 0);
  for (std::size_t column = 0; column < a.size(); ++column)
    for (std::size_t i = 0; i < a[column].data.size(); ++i) sums[i / slice] += a[column].data[i] * std::conj(b[column].data[i]);
  REQUIRE(expected.size() == sums.size());
  for (std::size_t t = 0; t < sums.size(); ++t) {
    const reference::Complex known{expected[t][0], expected[t][1]};
    CHECK(std::abs(sums[t] - known) < 1e-10 * std::abs(known));
  }
}

/// The same of the contraction on the graph.
void check_contraction(const reference::Propagator& a, const reference::Propagator& b, const json& expected) {
  std::vector<HostField> columns;
  for (const reference::Propagator* propagator : {&a, &b})
    for (const reference::Field& column : *propagator) columns.push_back(host_field(column));
  for (const auto& [family, name] : {std::pair("neutral-mesons", "neutral_pion"), {"mesons-of-two", "pion"}}) {
    const Correlator pion = testing::contracted(columns, family, {.names = {name}}).front();
    for (std::size_t t = 0; t < expected.size(); ++t) {
      const reference::Complex known{expected[t][0], expected[t][1]};
      CHECK(std::abs(reference::Complex{pion.values[t], pion.imaginary[t]} - known) < 1e-10 * std::abs(known));
    }
  }
}

WilsonParameters parameters_of(const json& known) {
  WilsonParameters parameters{.kappa = known["kappa"]};
  for (std::size_t i = 0; i < 4; ++i) parameters.boundary[i] = known["boundary"][i] < 0 ? 1 : 0;
  return parameters;
}

/// The first rows of A's two blocks at the origin, and sum |A_ij|^2, from the term as it is packed.
void check_term(const clover::HostTerm& term, double c, const json& known) {
  const auto packed = [&](std::int64_t site, int block, int real) {
    const auto at =
        static_cast<std::size_t>(site) * HostGauge::reals_per_site + static_cast<std::size_t>(block * clover::block_reals + real);
    return term.reals.data[at];
  };
  for (int block = 0; block < 2; ++block) {
    const json& row = known[block == 0 ? "A_origin_upper_block_row0" : "A_origin_lower_block_row0"];
    check_product(1 - c * packed(0, block, 0), row[0], 1);
    for (int j = 1; j < 6; ++j)  // entry (0, j) is the conjugate of (j, 0)
      check_product({-c * packed(0, block, clover::packed_entry(j, 0)), c * packed(0, block, clover::packed_entry(j, 0) + 1)},
                    row[static_cast<std::size_t>(j)], 1);
  }
  double norm2 = 0;
  for (std::int64_t site = 0; site < volume(term.reals.extents); ++site)
    for (int block = 0; block < 2; ++block)
      for (int real = 0; real < clover::block_reals; ++real)
        norm2 += real < 6 ? std::pow(1 - c * packed(site, block, real), 2) : 2 * std::pow(c * packed(site, block, real), 2);
  check_relative(norm2, known["A_norm2"]);
}

}  // namespace

TEST_CASE("golden: clover and twisted mass") {
  const auto data = reference::data_directory("clover and twisted mass");
  if (!data || !std::filesystem::exists(*data / "golden-2.json")) return;
  const json golden = reference::read_json(*data / "golden-2.json");
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const auto& [key, known] : golden.items()) {
    if (!(key.starts_with("clover.") || key.starts_with("tm.")) || !known.contains("M_src_norm2")) continue;
    CAPTURE(key);
    const HostGauge gauge = configuration(*data, known);
    const WilsonParameters parameters = parameters_of(known);
    const double csw = known["csw"], mu = known.value("mu", 0.0);
    const Operator m(gauge, parameters, {csw, mu});
    const reference::Field image = m.image(), odd = reference::restrict_to_parity(m.source(), 1);
    const double scale = reference::norm2(m.source());
    check_relative(reference::norm2(image), known["M_src_norm2"]);
    check_product(reference::inner(m.source(), image), known["src_dot_M_src"], scale);
    const reference::Field asymmetric = m.even_odd(Schur::asymmetric, m.source()), symmetric = m.even_odd(Schur::symmetric, m.source());
    const reference::Propagator up = m.propagator();
    const auto check_rho = [&](const std::string& name) {
      for (int i = 0; i < 3; ++i) reference::check_correlator(reference::rho(up, i), known[name + "xyz"[i]], 1e-10);
    };
    if (known.contains("mu")) {
      check_relative(reference::norm2(asymmetric), known["schur_asym_odd_odd_norm2"]);
      check_relative(reference::norm2(symmetric), known["schur_sym_odd_odd_norm2"]);
      check_product(reference::inner(odd, asymmetric), known["schur_asym_dot"], scale);
      check_product(reference::inner(odd, symmetric), known["schur_sym_dot"], scale);
      reference::check_correlator(reference::pion(up), known["pion_charged_P"], 1e-10);
      check_rho("rho_charged_V");
      check_meson(up, "a0", known["charged_scalar"]);
      check_meson(up, "a4p", known["charged_A4P"]);
      for (const bool with_gamma5 : {false, true}) {
        const json& trace = known[with_gamma5 ? "tr_g5_S_origin" : "tr_S_origin"];
        check_product(trace_at_origin(up, with_gamma5), trace, std::hypot(trace[0].get<double>(), trace[1].get<double>()), 1e-10);
      }
      if (known.contains("logdet_abs_M")) {  // without clover: det (1 + 2 i kappa mu g_5) on every other site
        REQUIRE(csw == 0);
        const double of_site = 6 * std::log1p(std::pow(2 * parameters.kappa * mu, 2));
        check_relative(static_cast<double>(volume(gauge.extents)) / 2 * of_site + m.log_det_even_odd(), known["logdet_abs_M"], 1e-11);
      }
      const reference::Propagator down = Operator(gauge, parameters, {csw, -mu}).propagator();
      check_product_sums(up, down, known["neutral_connected_P"]);
      check_contraction(up, down, known["neutral_connected_P"]);
      continue;
    }
    check_relative(reference::norm2(asymmetric), known["asym_odd_odd"]["norm2"]);
    check_relative(reference::norm2(symmetric), known["sym_odd_odd"]["norm2"]);
    check_product(reference::inner(odd, asymmetric), known["asym_odd_odd"]["dot"], scale);
    check_product(reference::inner(odd, symmetric), known["sym_odd_odd"]["dot"], scale);
    // The package's systems are on odd sites: those on even sites are these of a lattice that is moved by one.
    const HostGauge moved_gauge = moved(gauge);
    const reference::Field moved_source = moved(m.source()), moved_odd = reference::restrict_to_parity(moved_source, 1);
    const Operator of_moved(moved_gauge, parameters, {csw, mu});
    for (const auto& [schur, name] : {std::pair{Schur::asymmetric, "asym_even_even"}, {Schur::symmetric, "sym_even_even"}}) {
      const reference::Field even = of_moved.even_odd(schur, moved_source);
      check_relative(reference::norm2(even), known[name]["norm2"]);
      check_product(reference::inner(moved_odd, even), known[name]["dot"], scale);
    }
    const auto [term, inverse] = m.term_and_inverse();
    check_product(reference::inner(m.source(), term), known["src_dot_A_src"], scale);
    check_product(reference::inner(m.source(), inverse), known["src_dot_Ainv_src"], scale);
    check_term(*clover::make_term({gauge.extents, {1, 1, 1, 1}, 1}, gauge), parameters.kappa * csw, known);
    const auto prepared = m.prepared(Schur::symmetric);
    const clover::SiteMatrices& matrices = static_cast<const clover::PreparedAction&>(*prepared).matrices();
    check_relative(matrices.log_det(0), known["logdet_A_even"], 1e-11);
    check_relative(matrices.log_det(1), known["logdet_A_odd"], 1e-11);
    if (known.contains("logdet_M")) check_relative(matrices.log_det(0) + m.log_det_even_odd(), known["logdet_M"], 1e-11);
    reference::check_correlator(reference::pion(up), known["pion"], 1e-10);
    check_rho("rho");
    check_meson(up, "a0", known["a0_identity"]);
  }
}

TEST_CASE("golden: MILC's clover correlators") {
  const auto data = reference::data_directory("MILC clover correlators");
  if (!data || !std::filesystem::exists(*data / "golden-milc.json")) return;
  const json golden = reference::read_json(*data / "golden-milc.json");
  const std::string prefix = "clover_l8888_antiperiodic_k0.12_c1.0";
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  HostGauge gauge = format::read_gauge(*data / "milc/lat.sample.l8888").gauge;
  reference::reunitarize(gauge);
  const reference::Propagator up = Operator(gauge, {.kappa = 0.12}, {.csw = 1}).propagator();
  reference::check_correlator(reference::pion(up), golden[prefix + "_pion"]["re"], 1e-10);
  reference::check_correlator(reference::rho(up, 1), golden[prefix + "_rhoy"]["re"], 1e-10);
}

TEST_CASE("golden: the free twisted-mass pion") {
  const auto data = reference::data_directory("free twisted mass");
  if (!data || !std::filesystem::exists(*data / "golden-2.json")) return;
  const json known = reference::read_json(*data / "golden-2.json")["tm.free_4^3x8.k0.12.mu0.3.ap"];
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  const HostGauge gauge = reference::unit_gauge({4, 4, 4, 8});
  const Operator m(gauge, {.kappa = 0.12}, {.mu = 0.3});
  reference::check_correlator(reference::pion(m.propagator()), known["pion_charged_P"], 1e-10);
}

}  // namespace golden_term_test
