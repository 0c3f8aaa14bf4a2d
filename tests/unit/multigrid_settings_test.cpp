// Settings of multigrid that make no sense are refused by the name of one of them before anything is read or allocated, in the library and
// in what runs a solve.
#include "apps/run/config.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/run.hpp"
#include "runtime/system/error.hpp"
#include "solvers/multigrid/choice.hpp"
#include "tests/reference/random.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace multigrid_settings_test {

using namespace quarkstar;
using namespace quarkstar::app;

namespace {

constexpr std::uint64_t seed = 40127;
constexpr int sets = 500;
constexpr const char* no_configuration = "there-is-no-such-configuration";

class Chance {
 public:
  explicit Chance(std::uint64_t from) : random_(from) {}
  int below(int end) { return std::min(end - 1, static_cast<int>(random_.uniform() * end)); }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

 private:
  reference::Random random_;
};

struct Asked {
  Coord lattice{};
  SolverSettings solver{};
  std::set<std::string> wrong{};  ///< keys, of which an error names one
};

/// Settings with which there is a multigrid.
Asked sound(Chance& chance) {
  Asked asked;
  MultigridSettings& multigrid = asked.solver.multigrid.emplace();
  multigrid.levels = chance.one_of<int>({2, 3, 4});
  const int below = 1 << (multigrid.levels - 2);  // aggregates of 2 on each level between
  for (std::size_t mu = 0; mu < 4; ++mu) {
    multigrid.aggregate[mu] = 2 + chance.below(4);
    asked.lattice[mu] = 2 * below * multigrid.aggregate[mu] * (1 + chance.below(2));
  }
  const int choice = chance.below(12);
  multigrid.null_vectors = choice < 8 ? 4 * (1 + choice) : 8 * (choice - 3);
  multigrid.smoother_steps = 1 + chance.below(12);
  multigrid.cycle_steps = 1 + chance.below(5);
  multigrid.coarse_steps = 1 + chance.below(1000);
  multigrid.setup_steps = 1 + chance.below(1000);
  multigrid.setup_cycles = chance.below(6);
  asked.solver.solver = "multigrid";
  asked.solver.precision = chance.one_of<Precision>({Precision::single, Precision::double_});
  multigrid.half_matrices = asked.solver.precision == Precision::single && chance.below(2) == 0;
  return asked;
}

/// A number outside of least to most.
int outside(Chance& chance, int least, int most) {
  return chance.one_of<int>(
      {least - 1, least - 1 - chance.below(1000), -2147483647, most + 1, most + 1 + chance.below(1000000), 2147483647});
}

/// Makes one to three of the settings wrong. A lattice with too few sites for levels may have aggregates that fit it again.
Asked unsound(Chance& chance) {
  Asked asked = sound(chance);
  MultigridSettings& multigrid = *asked.solver.multigrid;
  const std::vector<std::pair<std::string, std::function<void()>>> ways{
      {"aggregate",
       [&] {
         const auto mu = static_cast<std::size_t>(chance.below(4));
         const int lattice = asked.lattice[mu];
         int extent = 0;
         do
           extent =
               chance.one_of<int>({1, -1 - chance.below(9), 2 + chance.below(2 * lattice), lattice, lattice / 2 + 1, 2147483647, 1 << 30});
         while (extent >= 2 && lattice % extent == 0 && lattice / extent % 2 == 0);
         multigrid.aggregate[mu] = extent;
       }},
      {"levels",
       [&] {
         asked.wrong.insert("aggregate");
         multigrid.levels = chance.one_of<int>({-chance.below(9) - 1, 1, 5, 5 + chance.below(1000), 4});
         if (multigrid.levels == 4)  // two sites of the third level in t, of which no aggregates can be made
           for (std::size_t mu = 0; mu < 4; ++mu) asked.lattice[mu] = 4 * std::clamp(multigrid.aggregate[mu], 1, 100);
       }},
      {"null-vectors",
       [&] {
         multigrid.null_vectors = chance.one_of<int>({0, -4, 1 + 4 * chance.below(16), 33, 36, 44, 60, 65, 68, 72, 2147483640});
       }},
      {"smoother-steps", [&] { multigrid.smoother_steps = outside(chance, 1, 12); }},
      {"cycle-steps", [&] { multigrid.cycle_steps = outside(chance, 1, 1000); }},
      {"coarse-steps", [&] { multigrid.coarse_steps = outside(chance, 1, 1000); }},
      {"setup-steps", [&] { multigrid.setup_steps = outside(chance, 1, 1000); }},
      {"setup-cycles", [&] { multigrid.setup_cycles = outside(chance, 0, 1000); }},
      {"precision", [&] { asked.solver.precision = Precision::half; }},
      {"coarse-precision",
       [&] {
         asked.solver.precision = Precision::double_;
         multigrid.half_matrices = true;
       }},
      {"schur", [&] { asked.solver.schur = Schur::symmetric; }}};
  for (int many = 1 + chance.below(3); many > 0; --many) {
    const auto& [key, spoil] = chance.one_of(ways);
    asked.wrong.insert(key);
    spoil();
  }
  return asked;
}

/// What an error of bad input names, a parameter, file or key; "none" where there is no error.
std::string refused(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    const std::string text = error.what(), named = text.substr(0, text.find(": "));
    if (!error.parameter().empty()) CHECK(error.parameter() == named);
    return named;
  }
  return "none";
}

/// The same as a file or the flags of a command give it. A number that no setting takes is refused there.
void run_without_a_configuration(const Asked& asked, bool with_lattice) {
  const MultigridSettings& multigrid = *asked.solver.multigrid;
  std::vector<Assignment> given;
  const auto give = [&given](const char* key, const auto& value) { given.push_back({key, fmt::format("{}", value), key}); };
  give("gauge", no_configuration);
  give("json", "unwritten.json");
  if (with_lattice) give("lattice", fmt::format("{}", fmt::join(asked.lattice, ",")));
  give("kappa", 0.12);
  give("solver", "multigrid");
  give("aggregate", fmt::format("{}", fmt::join(multigrid.aggregate, ",")));
  give("levels", multigrid.levels);
  give("null-vectors", multigrid.null_vectors);
  give("smoother-steps", multigrid.smoother_steps);
  give("cycle-steps", multigrid.cycle_steps);
  give("coarse-steps", multigrid.coarse_steps);
  give("coarse-precision", multigrid.half_matrices ? "half" : "same");
  give("setup-steps", multigrid.setup_steps);
  give("setup-cycles", multigrid.setup_cycles);
  give("precision", name_of(asked.solver.precision));
  give("schur", asked.solver.schur == Schur::symmetric ? "symmetric" : "asymmetric");
  RunConfig config;
  apply_settings(config, given);
  app::run(config);
}

}  // namespace

TEST_CASE("500 bad sets of multigrid's settings are refused by name, where there is no configuration, no session and no memory") {
  MESSAGE("seed " << seed);
  Chance chance(seed);
  std::map<std::string, int> named;
  for (int i = 0; i < sets; ++i) {
    const Asked asked = unsound(chance);
    const MultigridSettings& m = *asked.solver.multigrid;
    INFO("set " << i << ": lattice " << fmt::format("{}", asked.lattice) << ", wrong " << fmt::format("{}", asked.wrong) << ", aggregate "
                << fmt::format("{}", m.aggregate) << " levels " << m.levels << " null vectors " << m.null_vectors);
    const std::string by_library = refused([&] { check_multigrid(asked.solver, asked.lattice); });
    CHECK(asked.wrong.contains(by_library));
    CHECK(asked.wrong.contains(refused([&] { run_without_a_configuration(asked, true); })));
    ++named[by_library];
  }
  for (const char* key : {"aggregate", "levels", "null-vectors", "smoother-steps", "cycle-steps", "coarse-steps", "setup-steps",
                          "setup-cycles", "precision", "coarse-precision", "schur"})
    CHECK(named[key] > 0);
}

TEST_CASE("sound sets of multigrid's settings are not refused, and what no lattice decides is refused without one") {
  MESSAGE("seed " << seed + 1);
  Chance chance(seed + 1);
  for (int i = 0; i < sets; ++i) {
    Asked asked = sound(chance);
    CHECK(refused([&] { check_multigrid(asked.solver, asked.lattice); }) == "none");
    if (i >= 20) continue;
    CHECK(refused([&] { run_without_a_configuration(asked, false); }).starts_with(no_configuration));
    asked.solver.multigrid->smoother_steps = 13;
    CHECK(refused([&] { run_without_a_configuration(asked, false); }) == "smoother-steps");
  }
  SolverSettings none;
  CHECK(refused([&] { check_multigrid(none, Coord{5, 6, 7, 8}); }) == "none");
  none.solver = "multigrid";  // with everything open
  CHECK(refused([&] { check_multigrid(none, Coord{8, 8, 8, 8}); }) == "none");
  CHECK(refused([&] { check_multigrid(none, Coord{8, 8, 8, 22}); }) == "aggregate");
}

}  // namespace multigrid_settings_test
