// Lowest eigenvalues against the numbers of golden-2.json (docs/conventions.md, section 12), for the package's own links and operators.
#include "codelets/actions/action_kind.hpp"
#include "runtime/graph/session.hpp"
#include "solvers/eigen/lanczos.hpp"
#include "solvers/gamma5_operator.hpp"
#include "solvers/squared_system.hpp"
#include "tests/unit/reference_golden.hpp"

#include <algorithm>
#include <memory>

namespace golden_eigen_test {

using namespace quarkstar;

namespace {

using nlohmann::json;

/// The lowest eight of an action on a configuration; gamma5: of gamma_5 M.
std::vector<double> lowest(const HostGauge& gauge, const char* action, SettingValues values, Schur schur = Schur::asymmetric,
                           bool gamma5 = false) {
  runtime::Session& session = runtime::Session::current();
  const ActionKind& kind = kind_named(action);
  const runtime::Decomposition whole(gauge.extents, {1, 1, 1, 1}, 1);
  ActionRun run;
  run.settings = std::move(values);
  const std::size_t first[] = {0};
  const RunOperator made = kind.make_links(session, whole, links_at_hand(gauge), run)(first);
  const EigenSettings settings{.modes = 8};
  const auto prepared = made.action->in_precision(whole, {.schur = schur, .speed = {.measure = false}});
  const auto system = prepared->system(settings.block, same_for_all(kind.is_hermitian ? 0 : prepared->own_mass().value()));
  if (kind.is_hermitian) return BlockLanczos(*system, settings).solve().values;
  std::unique_ptr<Gamma5Operator> h;
  if (gamma5) h = std::make_unique<Gamma5Operator>(*system);
  SquaredSystem squared(gamma5 ? static_cast<LinearOperator&>(*h) : *system);
  const EigenResult result = BlockLanczos(squared, settings, h.get()).solve();
  CHECK(*std::max_element(result.residuals.begin(), result.residuals.end()) < 1e-10);
  return result.values;
}

void check(const std::vector<double>& found, const json& known) {
  REQUIRE(found.size() == known.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(found[i] / known[i].get<double>() - 1) < 1e-10);
  }
}

}  // namespace

TEST_CASE("golden: lowest eigenvalues of HISQ, naive staggered, Wilson's and clover's even-odd operators, and of gamma_5 M") {
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
    {
      INFO("hisq");
      check(lowest(gauge, "hisq", {}), known["staggered_hisq_minus_D2_even_lowest8"]);
    }
    {
      INFO("naive");
      check(lowest(gauge, "naive", {}), known["staggered_naive_minus_D2_even_lowest8"]);
    }
    for (const auto& [what, values] : known.items()) {
      const bool gamma5 = what.starts_with("g5M_full_smallest8");
      if (!gamma5 && (!what.starts_with("schur_") || !what.ends_with("lowest8"))) continue;
      CAPTURE(what);
      const double kappa = std::stod(what.substr(what.find("_k") + 2)), csw = std::stod(what.substr(what.find("_csw") + 4));
      const Schur schur = what.starts_with("schur_sym") ? Schur::symmetric : Schur::asymmetric;
      check(csw > 0 ? lowest(gauge, "clover", {{"kappa", kappa}, {"csw", csw}}, schur, gamma5)
                    : lowest(gauge, "wilson", {{"kappa", kappa}}, schur, gamma5),
            values);
    }
  }
  {
    const HostGauge gauge = format::read_gauge(*data / "other/weak_field.lime").gauge;
    constexpr double mass = -1.4, kappa = 1 / (2 * (mass + 4));  // H_w is (mass + 4) gamma_5 M
    std::vector<double> found = lowest(gauge, "wilson", {{"kappa", kappa}}, Schur::asymmetric, true);
    for (double& lambda : found) lambda *= mass + 4;
    check(found, golden["eig.weak_field_Hw_mass-1.4.ap"]["smallest8"]);
  }
}

}  // namespace golden_eigen_test
