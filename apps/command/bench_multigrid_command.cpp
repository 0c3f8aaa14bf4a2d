// quarkstar bench multigrid: what the steps of a set-up and of a cycle cost
#include "apps/bench/action_bench.hpp"
#include "apps/bench/bench_options.hpp"
#include "apps/run/parse.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/system/error.hpp"
#include "solvers/multigrid/multigrid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace quarkstar::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* whole = "whole";  ///< in place of a step

/// Of one hierarchy: what its rows have in common.
struct MultigridCase {
  std::string devices;
  Coord lattice;
  Precision precision;
  int link_reals;
};

/// The rows of one part, the set-up or the cycles of some number of right-hand sides: steps in their order, the sum of each level, the
/// whole.
class Part {
 public:
  /// vectors: right-hand sides that times and flops are divided by.
  Part(const char* name, const MultigridCase& c, const std::string& action, int vectors, double triad)
      : name_(name), case_(c), action_(action), vectors_(vectors), triad_(triad) {}

  /// whole_seconds: without watching; 0: the sum of the steps.
  Json rows(const std::vector<StepWork>& steps, int levels, double whole_seconds) const {
    StepWork all{.name = whole};
    std::vector<StepWork> of_levels;
    for (int level = 0; level < levels; ++level) of_levels.push_back({.level = level, .name = "all"});
    for (const StepWork& step : steps)
      for (StepWork* sum : {&all, &of_levels[static_cast<std::size_t>(step.level)]}) {
        sum->flops += step.flops;
        sum->bytes += step.bytes;
        sum->seconds += step.seconds;
      }
    Json rows = Json::array();
    for (const StepWork& sum : of_levels) {
      for (const StepWork& step : steps)
        if (step.level == sum.level) rows.push_back(row(step, all.seconds));
      rows.push_back(row(sum, all.seconds));
    }
    const double watched = all.seconds;
    if (whole_seconds > 0) all.seconds = whole_seconds;
    rows.push_back(row(all, watched));
    rows.back()["level"] = nullptr;
    return rows;
  }

 private:
  Json row(const StepWork& step, double all_seconds) const {
    const double seconds = step.seconds / vectors_, flops = step.flops / vectors_, bytes = step.bytes / vectors_;
    return {{"devices", case_.devices},
            {"action", action_},
            {"lattice", case_.lattice},
            {"precision", name_of(case_.precision)},
            {"link_reals", case_.link_reals},
            {"part", name_},
            {"nrhs", vectors_},
            {"level", step.level},
            {"step", step.name},
            {"calls", step.calls},
            {"us", seconds * 1e6},
            {"share", step.seconds / all_seconds},
            {"flops_per_site", flops / static_cast<double>(volume(case_.lattice))},
            {"gflops", flops / seconds * 1e-9},
            {"bandwidth_fraction", bytes / seconds * 1e-9 / triad_}};
  }

  const char* name_;
  const MultigridCase& case_;
  const std::string& action_;
  int vectors_;
  double triad_;
};

void print_multigrid_header(std::string_view title, const std::string& devices, double triad) {
  fmt::print(
      "\nMultigrid of {} on {}; us and flop per lattice site of one right-hand side, of the set-up of all null vectors together; steps are "
      "timed one by "
      "one, the whole cycle as a solve runs it; bandwidth = compulsory bytes at a triad of {:.1f} GB/s\n"
      "{:>14} {:>9} {:>5} {:>6} {:>4} {:>5} {:>26} {:>5} {:>12} {:>6} {:>10} {:>8} {:>7}\n",
      title, devices, triad, "lattice", "precision", "links", "part", "nrhs", "level", "step", "calls", "us", "share", "flop/site",
      "GFLOP/s", "bandw.");
}

void print_rows(const Json& rows) {
  for (const Json& row : rows)
    fmt::print("{:>14} {:>9} {:>5} {:>6} {:>4} {:>5} {:>26} {:>5} {:>12.1f} {:>5.1f}% {:>10.0f} {:>8.2f} {:>6.0f}%\n",
               fmt::format("{}", fmt::join(row["lattice"].get<std::vector<int>>(), ",")), row["precision"].get<std::string>(),
               row["link_reals"].get<int>(), row["part"].get<std::string>(), row["nrhs"].get<int>(),
               row["level"].is_null() ? std::string("-") : fmt::format("{}", row["level"].get<int>()), row["step"].get<std::string>(),
               row["calls"].get<int>() > 0 ? fmt::format("{}", row["calls"].get<int>()) : std::string("-"), row["us"].get<double>(),
               100 * row["share"].get<double>(), row["flops_per_site"].get<double>(), row["gflops"].get<double>(),
               100 * row["bandwidth_fraction"].get<double>());
  if (const Json& all = rows.back(); all.contains("in_kernels"))
    fmt::print("{:>14} {:.0f} kernels a cycle, of whose time {:.0f}% is in them\n", "", all["kernels"].get<double>(),
               100 * all["in_kernels"].get<double>());
  std::fflush(stdout);
}

/// The least seconds that a step took in any of the passes.
void keep_best(std::vector<StepWork>& best, const std::vector<StepWork>& steps) {
  if (best.empty()) best = steps;
  for (std::size_t i = 0; i < best.size(); ++i) best[i].seconds = std::min(best[i].seconds, steps[i].seconds);
}

/// Multigrid of one lattice in one precision.
class MultigridBench {
 public:
  MultigridBench(const BenchOptions& options, runtime::Session& session, const ActionBench& bench, const MultigridSettings& settings,
                 const MultigridCase& c, double triad)
      : options_(options), session_(session), bench_(bench), case_(c), triad_(triad) {
    ActionRequest request{c.precision,
                          c.link_reals,
                          Schur::asymmetric,
                          {},
                          {.vectors = coarse::null_vectors_at_once(settings.null_vectors), .measure = !options.no_tune}};
    request.unit = coarse::unit_of(settings.aggregate);
    bench.action().check(bench.decomposition(), request);
    prepared_ = bench.action().in_precision(bench.decomposition(), request);
    prepared_->set_resident(prepared_->link_bytes());
    StepWatch watch(StepWatch::Seconds::yes);
    multigrid_ = std::make_unique<const Multigrid>(*prepared_, settings, bench.mass(), &watch);
    setup_ = Part("set-up", c, options.action, 1, triad).rows(watch.steps(), multigrid_->levels(), 0);
    for (Json& row : setup_) row["nrhs"] = settings.null_vectors;
    setup_.back()["contraction"] = multigrid_->verification().contraction;
  }

  const Json& setup() const { return setup_; }

  Json cycle(int vectors) const {
    prepared_->prepare(vectors);
    const std::unique_ptr<EvenOdd> system = prepared_->system(vectors, same_for_all(bench_.mass()));
    const Field in = system->field(), out = system->field();
    const std::vector<HostField> waves(static_cast<std::size_t>(vectors), bench_.wave());
    transfer::load(in, waves);
    session_.wait_all();
    MultigridCycle cycle(*system, *multigrid_);
    const int owners = owner_count(bench_.decomposition());
    const auto two_cycles = [&] {
      for (int i = 0; i < 2; ++i) cycle.apply(out, in);
    };
    const PairTiming times = time_pairs(session_, owners, options_.repetitions, two_cycles);
    const std::optional<KernelShare> in_kernels = share_in_kernels(session_, owners, two_cycles);
    std::vector<StepWork> best;
    for (int pass = 0; pass < options_.repetitions; ++pass) {
      StepWatch watch(StepWatch::Seconds::yes);
      cycle.tell(&watch);
      cycle.apply(out, in);
      session_.wait_all();
      keep_best(best, watch.steps());
    }
    Json rows = Part("cycle", case_, options_.action, vectors, triad_).rows(best, multigrid_->levels(), times.best);
    if (in_kernels) {
      rows.back()["kernels"] = in_kernels->kernels;
      rows.back()["in_kernels"] = in_kernels->share;
    }
    return rows;
  }

 private:
  const BenchOptions& options_;
  runtime::Session& session_;
  const ActionBench& bench_;
  MultigridCase case_;
  double triad_;
  std::unique_ptr<PreparedAction> prepared_;
  std::unique_ptr<const Multigrid> multigrid_;
  Json setup_;
};

void bench_multigrid(const BenchOptions& options, const std::string& devices, runtime::Session& session, const Coord& lattice, double triad,
                     Json& rows) {
  const RunConfig asked = asked_of(options);
  const MultigridSettings settings = completed(asked.solver.multigrid.value_or(MultigridSettings{}), lattice);
  for (const std::string& precision : options.precisions)  // before links are made
    check_multigrid(settings, ActionBench::cut(session, lattice, *asked.action, options.blocks), parse_precision(precision),
                    Schur::asymmetric);
  const ActionBench bench(session, lattice, *asked.action, asked.settings, options.blocks);
  for (const std::string& precision : options.precisions)
    for (const int reals : options.links.empty() ? std::vector<int>{18} : options.links) {
      const MultigridCase c{devices, lattice, parse_precision(precision), reals};
      const MultigridBench multigrid(options, session, bench, settings, c, triad);
      const auto tell = [&](const Json& part) {
        if (!options.json) print_rows(part);
        rows.insert(rows.end(), part.begin(), part.end());
      };
      tell(multigrid.setup());
      for (const int vectors : numbers_of_right_hand_sides(options)) tell(multigrid.cycle(vectors));
    }
}

}  // namespace

void run_bench_multigrid(const BenchOptions& options) {
  const ActionKind& kind = kind_named(options.action);
  if (!kind.knows("aggregate"))
    throw Error(ErrorKind::input, "--action", fmt::format("multigrid is for Wilson-type actions, and '{}' is none", kind.name),
                "use wilson, clover or twisted-mass");
  if (!options.links.empty()) links_of(options);
  const MultigridSettings settings = asked_of(options).solver.multigrid.value_or(MultigridSettings{});
  for (const std::string& precision : options.precisions) {  // before the machine is measured
    check_multigrid(settings, parse_precision(precision), Schur::asymmetric);
    for (const Coord& lattice : options.lattices) check_multigrid(settings, lattice, parse_precision(precision), Schur::asymmetric);
  }
  Json result = {{"multigrid", Json::array()}};
  for_devices(options, [&](const std::string& devices, runtime::Session& session) {
    const double triad = measure_memory(options.array_megabytes, options.repetitions, session).owners_triad;
    result["machine"] = machine_facts(session);
    result["triad_gbs"][devices] = triad;
    if (!options.json) print_multigrid_header(kind.title, devices, triad);
    const Coord usual = devices == "cpu" ? Coord{8, 8, 8, 8} : Coord{16, 16, 16, 16};
    for (const Coord& lattice : options.lattices.empty() ? std::vector{usual} : options.lattices)
      bench_multigrid(options, devices, session, lattice, triad, result["multigrid"]);
  });
  if (options.json) fmt::print("{}\n", result.dump(2));
}

}  // namespace quarkstar::app
