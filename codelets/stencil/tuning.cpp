#include "codelets/stencil/tuning.hpp"

#include "codelets/field/blas.hpp"
#include "codelets/stencil/measurement.hpp"
#include "runtime/backend.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <vector>

namespace quarkstar::stencil {
namespace {

using namespace tuning;

/// An operator in one order of sites, on links and fields of its own.
class Trial {
 public:
  Trial(const TuningProblem& problem, const Coord& tile)
      : on_gpus_(is_gpu(first_block(problem.decomposition).owner)),
        lattice_(lattice_of(problem, tile)),
        stencil_(problem.subject.make(lattice_, problem.vectors)),
        in_(lattice_, problem.subject.components, problem.vectors),
        out_(lattice_, problem.subject.components, problem.vectors) {
    blas::submit<blas::Fill>({&in_.even}, {0.7});
    blas::submit<blas::Fill>({&in_.odd}, {0.3});
  }

  /// Microseconds of an application in a Krylov solver, where every second one has a diagonal term and a sum; the
  /// best of a few passes.
  double time_of(const Launch& launch) {
    stencil_->set_launch(launch);
    const auto submit_pair = [this] {
      stencil_->apply(out_.even, in_.odd);
      stencil_->apply(out_.odd, in_.even, {.x = &in_.odd, .diagonal = same_for_all(1), .y = &in_.odd, .sums = {.dot = true}});
    };
    return microseconds_of(submit_pair, on_gpus_);
  }

 private:
  static LatticePointer lattice_of(const TuningProblem& problem, const Coord& tile) {
    LayoutRequest layout = problem.subject.layout;
    layout.tile = tile;
    return std::make_shared<Lattice>(problem.decomposition, problem.subject.precision, problem.subject.boundary, layout);
  }
  bool on_gpus_;
  LatticePointer lattice_;
  std::shared_ptr<Stencil> stencil_;
  FullField in_, out_;
};

TuningProblem alone(const TuningProblem& problem) {
  TuningProblem part = problem;
  part.decomposition = part_alone(problem.decomposition);
  return part;
}

/// The cache's answer, or measure(), whose answer is kept, or the rule where there is no room for it. from: what an
/// entry says; numbers: what is kept of a choice.
template <class Choice, class From, class Numbers, class Measure>
Choice cached(const TuningProblem& problem, const char* what, const std::string& key, runtime::TuneCache* own_cache, const Choice& rule,
              From&& from, Numbers&& numbers, Measure&& measure) {
  runtime::TuneCache& cache = own_cache != nullptr ? *own_cache : runtime::TuneCache::of_user();
  if (const auto known = cache.find(key))
    if (const std::optional<Choice> choice = from(known->choice)) return *choice;
  const std::map<int, double> bytes = measurement_bytes(problem);
  if (!gpus_hold(bytes) || !host_holds(bytes)) return rule;
  double microseconds = 0;
  const Choice best = measure(microseconds);
  const std::vector<int> choice = numbers(best);
  cache.put(key, {choice, microseconds});
  spdlog::info("tuned {} ({}): {}, {:.1f} us; kept in {}", what, key, fmt::join(choice, ","), microseconds, cache.path());
  return best;
}

/// On GPUs with several vectors: slabs, whose neighbours in time are so near that L2 still has them (one H200, 32^4, 12 vectors in single
/// precision: a hopping term 12 % faster).
constexpr Coord tried_slabs[] = {{0, 0, 4, 0}, {0, 8, 4, 0}};

bool on_gpus(const TuningProblem& problem) { return is_gpu(first_block(problem.decomposition).owner); }

std::string device_name(const TuningProblem& problem) { return on_gpus(problem) ? device_of(problem.decomposition) : cpu_of_session(); }

/// What a measurement is made on: the problem itself on GPUs, a part of it on CPUs. Nothing where the rules are good
/// enough, or a measurement would tell nothing.
std::optional<TuningProblem> measured_problem(const TuningProblem& problem) {
  if constexpr (!runtime::backend::computes) return std::nullopt;
  if (on_gpus(problem)) return problem;
  TuningProblem used = problem;
  used.resident = 0;  // the kernel's own links and fields decide where they come from
  const double beyond = problem.cached ? *problem.cached : cached_bytes();
  const std::map<int, double> bytes = measurement_bytes(used);
  if (shares_host() || !is_cpus_memory(bytes, beyond)) return std::nullopt;
  TuningProblem measured = problem;
  measured.decomposition = measured_part(problem.decomposition, sites_beyond(beyond, bytes, problem.decomposition),
                                         problem.subject.layout.reach, problem.subject.layout.unit);
  return measured;
}

std::string key_of(const char* what, const TuningProblem& problem, const std::string& device) {
  const Subject& subject = problem.subject;
  const LaneGrid lanes = choose_lane_grid(problem.decomposition, subject.precision, subject.layout);
  const int in_lanes = subject.layout.vectors_in_lanes;
  const std::string unit = subject.layout.unit == Coord{2, 2, 2, 2} ? "" : fmt::format(", unit {}", fmt::join(subject.layout.unit, "x"));
  return fmt::format("{}; {} {}; {}; {} right-hand sides{}; {}{}", device, subject.name, what, name_of(subject.precision), problem.vectors,
                     in_lanes > 1 ? fmt::format(", {} in lanes", in_lanes) : "", place_of(problem.decomposition, lanes.lanes), unit);
}

}  // namespace

std::map<int, double> measurement_bytes(const TuningProblem& problem) {
  const Subject& subject = problem.subject;
  // Two fields on both parities.
  const double fields =
      2.0 * problem.vectors * subject.layout.slices * static_cast<double>(site_bytes(subject.precision, 2 * subject.components));
  const double a_site = problem.resident + subject.link_bytes + fields;
  std::map<int, double> bytes = sites_by_owner(problem.decomposition);
  for (auto& [worker, of_worker] : bytes) of_worker *= a_site;
  return bytes;
}

std::string tile_key(const TuningProblem& problem, const std::string& device) { return key_of("order", problem, device); }

std::string launch_key(const TuningProblem& problem, const Coord& tile, const std::string& device) {
  return fmt::format("{}; tile {}", key_of("launch", problem, device), fmt::join(tile, ","));
}

Coord measure_tile(const TuningProblem& problem, double& microseconds) {
  const double worthwhile = on_gpus(problem) ? worthwhile_on_gpus : worthwhile_on_cpus;
  const Coord usual = problem.subject.usual_tile(problem.decomposition, problem.subject.layout.vectors_in_lanes);
  Coord best = usual;
  const Launch rule = problem.subject.usual_launch(problem.vectors);
  microseconds = Trial(problem, best).time_of(rule);
  const bool columns = on_gpus(problem) && problem.subject.layout.vectors_in_lanes > 1;
  std::vector<Coord> tiles(std::begin(tried_tiles), std::end(tried_tiles));
  if (columns) {
    tiles.assign(std::begin(tried_columns), std::end(tried_columns));
    for (Coord& tile : tiles) tile[3] = usual[3];
  } else if (on_gpus(problem) && problem.vectors > 1) tiles.insert(tiles.end(), std::begin(tried_slabs), std::end(tried_slabs));
  for (const Coord& tile : tiles) {
    if (tile == usual) continue;
    const double time = Trial(problem, tile).time_of(rule);
    if (time >= worthwhile * microseconds) continue;
    best = tile;
    microseconds = time;
  }
  return best;
}

Launch measure_launch(const TuningProblem& problem, const Coord& tile, double& microseconds) {
  const double worthwhile = on_gpus(problem) ? worthwhile_on_gpus : worthwhile_on_cpus;
  Trial trial(problem, tile);
  const Launch rule = problem.subject.usual_launch(problem.vectors);
  Launch best = rule;
  microseconds = trial.time_of(best);
  const auto consider = [&](const Launch& candidate) {
    if (candidate == rule) return;  // timed
    const double time = trial.time_of(candidate);
    if (time >= worthwhile * microseconds) return;
    best = candidate;
    microseconds = time;
  };
  if (!on_gpus(problem)) {
    for (const arch::MemoryAccess& memory : arch::memory_accesses) consider({0, 0, memory});
    return best;
  }
  if (problem.subject.layout.vectors_in_lanes > 1) return best;  // the number of vectors in lanes says how many threads there are
  for (const int vectors : {1, 2, 4, 8})
    if (vectors <= problem.vectors && problem.vectors > 1) consider({0, vectors, rule.memory});
  const int vectors_a_thread = best.vectors_a_thread;
  // The kernel's own choice is as many as it has room for.
  const int most = problem.subject.most_block_threads(vectors_a_thread);
  for (const int threads : {64, 128, 192, 256})
    if (threads < most) consider({threads, vectors_a_thread, rule.memory});
  return best;
}

double application_microseconds(const TuningProblem& problem) {
  const Subject& subject = problem.subject;
  return Trial(problem, subject.usual_tile(problem.decomposition, subject.layout.vectors_in_lanes))
      .time_of(subject.usual_launch(problem.vectors));
}

std::optional<Coord> tile_from(const std::vector<int>& choice) {
  if (choice.size() != 4 || std::any_of(choice.begin(), choice.end(), [](int extent) { return extent < 0; })) return std::nullopt;
  return Coord{choice[0], choice[1], choice[2], choice[3]};
}

std::optional<Launch> launch_from(const std::vector<int>& choice) {
  constexpr int groups[] = {0, 1, 2, 3, 4, 8};
  if (choice.size() != 4) return std::nullopt;
  const bool threads = arch::is_block_size(choice[0]);
  const auto memory = arch::memory_access_from(choice[2], choice[3]);
  if (!threads || !memory || std::find(std::begin(groups), std::end(groups), choice[1]) == std::end(groups)) return std::nullopt;
  return Launch{choice[0], choice[1], *memory};
}

std::vector<int> numbers_of(const Launch& launch) {
  return {launch.block_threads, launch.vectors_a_thread, launch.memory.prefetch, launch.memory.stores == arch::Stores::streaming ? 1 : 0};
}

Coord tile_for(const TuningProblem& problem, bool measure, runtime::TuneCache* cache) {
  if (problem.decomposition.is_distributed()) {
    // The order of sites is also that of faces.
    const int decider = deciders_of(problem.decomposition).for_all;
    const auto of_all = of_all_ranks<4>([&]() -> std::array<int, 4> {
      return problem.decomposition.rank() == decider ? tile_for(alone(problem), measure, cache) : Coord{};
    });
    return of_all[static_cast<std::size_t>(decider)];
  }
  const Coord rule = problem.subject.usual_tile(problem.decomposition, problem.subject.layout.vectors_in_lanes);
  if (!measure) return rule;
  const std::optional<TuningProblem> measured = measured_problem(problem);
  if (!measured) return rule;
  return cached<Coord>(
      *measured, "the order of sites", tile_key(*measured, device_name(problem)), cache, rule, tile_from,
      [](const Coord& tile) { return std::vector<int>(tile.begin(), tile.end()); },
      [&](double& microseconds) { return measure_tile(*measured, microseconds); });
}

Launch launch_for(const TuningProblem& problem, const Coord& tile, bool measure, runtime::TuneCache* cache) {
  if (problem.decomposition.is_distributed()) {
    const int decider = deciders_of(problem.decomposition).for_kind;
    const auto of_all = of_all_ranks<4>([&]() -> std::array<int, 4> {
      std::array<int, 4> numbers{};
      if (problem.decomposition.rank() != decider) return numbers;
      const std::vector<int> found = numbers_of(launch_for(alone(problem), tile, measure, cache));
      std::copy(found.begin(), found.end(), numbers.begin());
      return numbers;
    });
    const auto& found = of_all[static_cast<std::size_t>(decider)];
    return launch_from({found.begin(), found.end()}).value();
  }
  const Launch rule = problem.subject.usual_launch(problem.vectors);
  if (!measure) return rule;
  const std::optional<TuningProblem> measured = measured_problem(problem);
  if (!measured) return rule;
  return cached<Launch>(
      *measured, on_gpus(problem) ? "threads and right-hand sides a thread" : "prefetch and stores",
      launch_key(*measured, tile, device_name(problem)), cache, rule, launch_from, [](const Launch& launch) { return numbers_of(launch); },
      [&](double& microseconds) { return measure_launch(*measured, tile, microseconds); });
}

}  // namespace quarkstar::stencil
