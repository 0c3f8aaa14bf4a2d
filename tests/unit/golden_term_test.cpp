// Clover and twisted mass against the numbers of golden-2.json (docs/conventions.md, section 12): the package's own operators and solves.
#include "codelets/actions/clover/prepared_action.hpp"
#include "codelets/actions/twisted_mass/action.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/graph/session.hpp"
#include "solvers/solver.hpp"
#include "tests/reference/field.hpp"
#include "tests/reference/gauge.hpp"
#include "tests/unit/reference_golden.hpp"

#include <cmath>

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

/// One action on the configuration of an entry.
class Operator {
 public:
  Operator(const HostGauge& gauge, const json& known)
      : gauge_(gauge), decomposition_(gauge.extents, {1, 1, 1, 1}, 1), source_(reference::golden_source(gauge.extents, 4)) {
    const double csw = known["csw"], mu = known.value("mu", 0.0);
    parameters_.kappa = known["kappa"];
    for (std::size_t i = 0; i < 4; ++i) parameters_.boundary[i] = known["boundary"][i] < 0 ? 1 : 0;
    if (csw == 0) action_ = std::make_unique<twisted_mass::Action>(gauge_, parameters_, mu);
    else action_ = std::make_unique<clover::Action>(gauge_, parameters_, clover::Parameters{csw, mu});
  }

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
      m->minus_m(minus, x);
      sum = sum - restricted(stored(minus), parity);
    }
    return sum;
  }
  /// The Schur complement on the odd sites.
  reference::Field even_odd(Schur schur) const {
    const auto made = prepared(schur);
    const auto m = made->system(1, same_for_all(parameters_.kappa));
    const Field in = m->field(), out = m->field();
    const HostField host = host_field(source_);
    transfer::load(in, {&host, 1});
    m->apply(out, in, {}, false, {});
    return restricted(stored(out), 1);
  }
  /// sum over space of |S|^2 from the origin.
  std::vector<double> pion() const {
    Solver solver(decomposition_, *action_, {.tolerance = 1e-14, .tune = false});
    std::vector<HostField> sources(12, HostField(spinor_components, gauge_.extents)), solutions = sources;
    for (int column = 0; column < 12; ++column) sources[static_cast<std::size_t>(column)].at(0, column) = 1;
    const std::vector<double> kappas(12, parameters_.kappa);
    solver.solve(sources, kappas, solutions);
    std::vector<double> sums(static_cast<std::size_t>(gauge_.extents[3]), 0);
    for (const HostField& solution : solutions)
      for (std::size_t i = 0; i < solution.data.size(); ++i) {
        const auto time = i / 12 / static_cast<std::size_t>(volume(gauge_.extents) / gauge_.extents[3]);
        sums[time] += std::norm(solution.data[i]);
      }
    return sums;
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
void check_product(reference::Complex actual, const json& expected, double scale) {
  CHECK(std::abs(actual - reference::Complex{expected[0], expected[1]}) < 1e-12 * scale);
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
    const Operator m(gauge, known);
    const reference::Field image = m.image(), odd = reference::restrict_to_parity(m.source(), 1);
    const double scale = reference::norm2(m.source());
    check_relative(reference::norm2(image), known["M_src_norm2"]);
    check_product(reference::inner(m.source(), image), known["src_dot_M_src"], scale);
    const reference::Field asymmetric = m.even_odd(Schur::asymmetric), symmetric = m.even_odd(Schur::symmetric);
    if (known.contains("mu")) {
      check_relative(reference::norm2(asymmetric), known["schur_asym_odd_odd_norm2"]);
      check_relative(reference::norm2(symmetric), known["schur_sym_odd_odd_norm2"]);
      check_product(reference::inner(odd, asymmetric), known["schur_asym_dot"], scale);
      check_product(reference::inner(odd, symmetric), known["schur_sym_dot"], scale);
      reference::check_correlator(m.pion(), known["pion_charged_P"], 1e-10);
      continue;
    }
    check_relative(reference::norm2(asymmetric), known["asym_odd_odd"]["norm2"]);
    check_relative(reference::norm2(symmetric), known["sym_odd_odd"]["norm2"]);
    check_product(reference::inner(odd, asymmetric), known["asym_odd_odd"]["dot"], scale);
    check_product(reference::inner(odd, symmetric), known["sym_odd_odd"]["dot"], scale);
    const auto prepared = m.prepared(Schur::symmetric);
    const clover::SiteMatrices& matrices = static_cast<const clover::PreparedAction&>(*prepared).matrices();
    check_relative(matrices.log_det(0), known["logdet_A_even"], 1e-11);
    check_relative(matrices.log_det(1), known["logdet_A_odd"], 1e-11);
    reference::check_correlator(m.pion(), known["pion"], 1e-10);
  }
}
