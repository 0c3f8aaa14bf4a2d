// Domain wall and Moebius against golden-2.json: the operator, its Schur complements and adjoint on a source of five dimensions, pions, rho
// mesons, midpoints and residual masses.
#include "apps/run/gauge_io.hpp"
#include "apps/run/solve_run.hpp"
#include "apps/verify/verify.hpp"
#include "apps/verify/verify_solve.hpp"
#include "codelets/actions/action_kind.hpp"
#include "codelets/field/transfer.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>

namespace quarkstar::app {
namespace {

using nlohmann::json;
using Complex = std::complex<double>;
using Slices = std::vector<HostField>;

/// (1 + 0.1 s) times the deterministic source of docs/conventions.md, section 12, on slice s.
Slices source_of(const Coord& extents, int slices) {
  Slices source(static_cast<std::size_t>(slices), HostField(spinor_components, extents));
  for (int s = 0; s < slices; ++s)
    for (std::int64_t i = 0; i < volume(extents); ++i)
      for (int c = 0; c < spinor_components; ++c) {
        const auto site = static_cast<double>(i);
        source[static_cast<std::size_t>(s)].at(i, c) =
            (1 + 0.1 * s) * Complex(std::sin(0.37 * site + 1.1 * c + 0.2), std::cos(0.23 * site - 0.7 * c + 0.5));
      }
  return source;
}

/// <a, b> on the sites of a parity, or on all of them.
Complex inner(const Slices& a, const Slices& b, int parity = both_parities) {
  Complex sum = 0;
  for (std::size_t s = 0; s < a.size(); ++s)
    for (std::int64_t i = 0; i < volume(a[s].extents); ++i)
      if (parity == both_parities || parity_of(coordinates(i, a[s].extents)) == parity)
        for (int c = 0; c < spinor_components; ++c) sum += std::conj(a[s].at(i, c)) * b[s].at(i, c);
  return sum;
}

ActionRun run_of(const json& entry) {
  ActionRun run;
  run.settings = {{"m5", entry.at("M5").get<double>()}, {"ls", entry.at("Ls").get<int>()}, {"mass", entry.at("mass").get<double>()}};
  for (const char* key : {"b5", "c5"}) run.settings[key] = std::vector{entry.at(key).get<double>()};
  return run;
}

void check_operator(const std::string& name, const json& entry, const ActionRun& run, const HostGauge& gauge, const VerifyConfig& config,
                    std::vector<Check>& checks) {
  const runtime::Session session(config.session);
  const RunOperator made = moebius_kind().with_any_links(gauge, run);
  const Slices source = source_of(gauge.extents, entry.at("Ls"));
  const double norm2 = inner(source, source).real();
  const auto check = [&](const char* what, double expected, double got, double scale) {
    checks.push_back(compare(fmt::format("{} {}", name, what), {expected / scale}, {got / scale}, correlator_limit, false));
  };
  const auto check_product = [&](const char* what, const json& expected, const Complex& got) {
    checks.push_back(compare(fmt::format("{} {}", name, what), {expected.at(0).get<double>() / norm2, expected.at(1).get<double>() / norm2},
                             {got.real() / norm2, got.imag() / norm2}, correlator_limit, false));
  };
  for (const Schur schur : {Schur::asymmetric, Schur::symmetric}) {
    const runtime::Decomposition whole(gauge.extents, {1, 1, 1, 1}, session.block_owners());
    const auto prepared = made.action->in_precision(whole, {.schur = schur, .speed = {.measure = false}});
    const auto m = prepared->system(1, same_for_all(entry.at("mass")));
    const FullField x(m->lattice(), spinor_components), image(m->lattice(), spinor_components);
    Slices got = source;
    const auto store = [&](const Field& part) {
      transfer::store(got, part);
      runtime::Session::current().wait_all();
    };
    for (const int parity : {0, 1}) transfer::load(x.of(parity), source);
    const bool symmetric = schur == Schur::symmetric;
    if (!symmetric)
      for (const bool adjoint : {false, true}) {
        for (const int parity : {0, 1}) m->times_m(image.of(parity), x, 1, adjoint);
        for (const int parity : {0, 1}) store(image.of(parity));
        const double known = entry.at(adjoint ? "Mdag_src_norm2" : "M_src_norm2");
        check(adjoint ? "|M^+ b|^2" : "|M b|^2", known, inner(got, got).real(), known);
        if (!adjoint) check_product("<b, M b>", entry.at("src_dot_M_src"), inner(source, got));
      }
    m->apply(image.odd, x.odd, {}, false, {});
    store(image.odd);  // nothing has written the even sites
    const double known = entry.at(symmetric ? "schur_sym_odd_odd_norm2" : "schur_asym_odd_odd_norm2");
    check(symmetric ? "|Mh b|^2, symmetric" : "|Mh b|^2", known, inner(got, got, 1).real(), known);
    check_product(symmetric ? "<b, Mh b>, symmetric" : "<b, Mh b>", entry.at(symmetric ? "schur_sym_dot" : "schur_asym_dot"),
                  inner(source, got, 1));
  }
}

void check_solve(const std::string& name, const json& entry, const ActionRun& run, const HostGauge& gauge, const VerifyConfig& config,
                 std::vector<Check>& checks) {
  RunReport report;
  report.config.action = &moebius_kind();
  report.config.settings = run.settings;
  report.config.session = config.session;
  report.config.solver.tolerance = 1e-13;
  complete(report.config);
  solve_source(links_at_hand(gauge), gauge.extents, report, *config.watch);
  for (const auto& [correlator, key] :
       {std::pair{"pion", "pion"}, {"rho_x", "rhox"}, {"pion_midpoint", "midpoint"}, {"pion_residual_mass", "mres_t"}})
    checks.push_back(compare(fmt::format("{} {}", name, correlator), entry.at(key).get<std::vector<double>>(),
                             correlator_named(report.correlators, correlator).values, correlator_limit, true));
  checks.push_back(compare(name + " residual mass", {entry.at("mres_sum_t1_to_Tm1").get<double>()},
                           {report.operators.back().numbers.front().second}, correlator_limit, true));
}

}  // namespace

std::vector<Check> check_domain_wall(const VerifyConfig& config) {
  std::vector<Check> checks;
  const std::string file = config.data + "/golden-2.json";
  const auto golden = read_golden(file);
  if (!golden) return {skipped("golden domain wall", "no file " + file)};
  for (const auto& [key, entry] : golden->items()) {
    if (!key.starts_with("dwf.")) continue;
    const std::string configuration = entry.at("config"),
                      path = fmt::format("{}/other/{}", config.data, configuration == "weak" ? "weak_field.lime" : configuration);
    if (!std::filesystem::exists(path)) {
      checks.push_back(skipped("golden " + key, "no file " + path));
      continue;
    }
    const HostGauge gauge = load_gauge(path, {}).gauge;
    const ActionRun run = run_of(entry);
    check_operator("golden " + key, entry, run, gauge, config, checks);
    check_solve("golden " + key, entry, run, gauge, config, checks);
  }
  return checks;
}

}  // namespace quarkstar::app
