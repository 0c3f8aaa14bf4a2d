// Lowest and highest eigenvalues, and traces, against the numbers of golden-2.json (docs/conventions.md, section 12), for the package's own
// links and operators.
#include "codelets/actions/action_kind.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/graph/session.hpp"
#include "solvers/eigen/lanczos.hpp"
#include "solvers/eigen/reflected_operator.hpp"
#include "solvers/gamma5_operator.hpp"
#include "solvers/squared_system.hpp"
#include "tests/unit/reference_golden.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

namespace golden_eigen_test {

using namespace quarkstar;

namespace {

using nlohmann::json;

/// The trace of an operator: what it makes of unit vectors.
double trace_of(LinearOperator& a, int block) {
  const runtime::Decomposition& whole = a.lattice()->decomposition();
  const Field v(a.lattice(), a.parity(), a.components(), block), image(a.lattice(), a.parity(), a.components(), block);
  std::vector<HostField> units(static_cast<std::size_t>(block), HostField(a.components(), whole.lattice())), images = units;
  std::vector<std::pair<std::int64_t, int>> places;
  for (std::int64_t site = 0; site < volume(whole.lattice()); ++site)
    for (int c = 0; c < a.components(); ++c)
      if (parity_of(coordinates(site, whole.lattice())) == a.parity()) places.emplace_back(site, c);
  double trace = 0;
  for (std::size_t first = 0; first < places.size(); first += units.size()) {
    const std::span<const std::pair<std::int64_t, int>> some =
        std::span(places).subspan(first, std::min(units.size(), places.size() - first));
    for (std::size_t i = 0; i < some.size(); ++i) units[i].at(some[i].first, some[i].second) = 1;
    transfer::load(v, units);
    a.apply(image, v, {}, false, {});
    transfer::store(images, image);
    runtime::Session::current().wait_all();
    for (std::size_t i = 0; i < some.size(); ++i) {
      trace += images[i].at(some[i].first, some[i].second).real();
      units[i].at(some[i].first, some[i].second) = 0;
    }
  }
  return trace;
}

/// Of an action's even-odd operator on a configuration, or of gamma_5 M, which has neither upper end nor trace here.
struct Spectrum {
  std::vector<double> lowest;  ///< eight, of gamma_5 M twelve
  double highest = 0, trace = 0;
};

Spectrum spectrum_of(const HostGauge& gauge, const char* action, SettingValues values, Schur schur = Schur::asymmetric,
                     bool gamma5 = false) {
  runtime::Session& session = runtime::Session::current();
  const ActionKind& kind = kind_named(action);
  const runtime::Decomposition whole(gauge.extents, {1, 1, 1, 1}, 1);
  ActionRun run;
  run.settings = std::move(values);
  const std::size_t first[] = {0};
  const RunOperator made = kind.make_links(session, whole, links_at_hand(gauge), run)(first);
  // Of gamma_5 M some more: eight may cut through eigenvalues that differ by their signs alone.
  const EigenSettings settings{.modes = gamma5 ? 12 : 8};
  const auto prepared = made.action->in_precision(whole, {.schur = schur, .speed = {.measure = false}});
  const auto system = prepared->system(settings.block, same_for_all(kind.is_hermitian ? 0 : prepared->own_mass().value()));
  std::unique_ptr<Gamma5Operator> h;
  if (gamma5) h = std::make_unique<Gamma5Operator>(*system);
  std::unique_ptr<SquaredSystem> squared;
  if (!kind.is_hermitian) squared = std::make_unique<SquaredSystem>(gamma5 ? static_cast<LinearOperator&>(*h) : *system);
  LinearOperator& a = squared ? static_cast<LinearOperator&>(*squared) : *system;
  const auto solved = [](BlockLanczos lanczos) {
    const EigenResult result = lanczos.solve();
    CHECK(*std::max_element(result.residuals.begin(), result.residuals.end()) < 1e-10);
    return result.values;
  };
  Spectrum spectrum;
  spectrum.lowest = solved(BlockLanczos(a, settings, h.get()));
  if (gamma5) return spectrum;
  const EigenSettings of_end{.modes = 2};
  ReflectedOperator reflected(a, upper_end(a, of_end));
  spectrum.highest = solved(BlockLanczos(reflected, of_end, &a)).front();
  if (kind.is_hermitian) spectrum.trace = trace_of(a, settings.block);
  return spectrum;
}

void check(const std::vector<double>& found, const json& known) {
  REQUIRE(found.size() == known.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(found[i] / known[i].get<double>() - 1) < 1e-10);
  }
}

/// Known ones are among those that were found.
void check_among(std::vector<double> found, const json& known) {
  for (const json& number : known) {
    const double wanted = number.get<double>();
    CAPTURE(wanted);
    REQUIRE(!found.empty());
    const auto nearest = std::ranges::min_element(found, {}, [wanted](double lambda) { return std::abs(lambda - wanted); });
    CHECK(std::abs(*nearest / wanted - 1) < 1e-10);
    found.erase(nearest);
  }
}

}  // namespace

TEST_CASE("golden: lowest and highest eigenvalues of HISQ, naive staggered, Wilson's and clover's even-odd operators, and of gamma_5 M") {
  const auto data = reference::data_directory("golden eigenvalues");
  if (!data || !std::filesystem::exists(*data / "golden-2.json")) return;
  const json golden = reference::read_json(*data / "golden-2.json");
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const char* key : {"eig.inst", "eig.jl4444", "eig.weak_field"}) {
    CAPTURE(key);
    const json& known = golden[key];
    const std::string name = known["config"];
    const std::string file =
        name == "weak" ? "other/weak_field.lime" : (name.starts_with("jl.") ? "other/lat." : "milc/lat.sample.") + name;
    std::filesystem::path path = *data / file;
    if (!std::filesystem::exists(path)) path = *data / ((name.starts_with("jl.") ? "other/" : "milc/") + name);
    const HostGauge gauge = format::read_gauge(path).gauge;
    for (const char* action : {"hisq", "naive"}) {
      INFO(std::string(action));
      const std::string prefix = std::string("staggered_") + action;
      const Spectrum found = spectrum_of(gauge, action, {});
      check(found.lowest, known[prefix + "_minus_D2_even_lowest8"]);
      check({found.highest}, json::array({known[prefix + "_minus_D2_even_highest"]}));
      check({found.trace}, json::array({known[prefix + "_trace"]}));
    }
    for (const auto& [what, values] : known.items()) {
      const bool gamma5 = what.starts_with("g5M_full_smallest8");
      if (!gamma5 && (!what.starts_with("schur_") || !what.ends_with("lowest8"))) continue;
      CAPTURE(what);
      const double kappa = std::stod(what.substr(what.find("_k") + 2)), csw = std::stod(what.substr(what.find("_csw") + 4));
      const Schur schur = what.starts_with("schur_sym") ? Schur::symmetric : Schur::asymmetric;
      const Spectrum found = csw > 0 ? spectrum_of(gauge, "clover", {{"kappa", kappa}, {"csw", csw}}, schur, gamma5)
                                     : spectrum_of(gauge, "wilson", {{"kappa", kappa}}, schur, gamma5);
      if (gamma5) {
        check_among(found.lowest, values);
        continue;
      }
      check(found.lowest, values);
      check({found.highest}, json::array({known[what.substr(0, what.size() - std::string("lowest8").size()) + "highest"]}));
    }
  }
  {
    const HostGauge gauge = format::read_gauge(*data / "other/weak_field.lime").gauge;
    constexpr double mass = -1.4, kappa = 1 / (2 * (mass + 4));  // H_w is (mass + 4) gamma_5 M
    std::vector<double> found = spectrum_of(gauge, "wilson", {{"kappa", kappa}}, Schur::asymmetric, true).lowest;
    for (double& lambda : found) lambda *= mass + 4;
    check_among(found, golden["eig.weak_field_Hw_mass-1.4.ap"]["smallest8"]);
  }
}

}  // namespace golden_eigen_test
