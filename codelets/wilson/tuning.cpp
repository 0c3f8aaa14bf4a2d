#include "codelets/wilson/tuning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>

#include "codelets/blas/blas.hpp"
#include "codelets/tuning/measurement.hpp"
#include "codelets/wilson/hopping.hpp"
#include "runtime/simulate/simulate.hpp"

namespace quarkstar::wilson {
namespace {

using namespace tuning;

/// Goes into the key: raise it when a change of the kernel can change what is best.
constexpr int kernel_version = 1;

/// Microseconds of one application, the best of a few passes.
double time_of(const TuningProblem& problem, const HoppingTuning& tuning) {
  const auto lattice = std::make_shared<Lattice>(problem.decomposition, problem.precision, antiperiodic_in_time, 16, 1, tuning.tile);
  LinkField even(lattice, 0, problem.link_reals), odd(lattice, 1, problem.link_reals);
  Hopping hopping(fill(even), fill(odd));
  hopping.set_block_threads(tuning.block_threads);
  const SpinorField in_even(lattice, 0), in_odd(lattice, 1), out_even(lattice, 0), out_odd(lattice, 1);
  blas::submit<blas::Fill>({&in_even}, {{{0.7, -0.4}}});
  blas::submit<blas::Fill>({&in_odd}, {{{0.3, 0.6}}});
  return microseconds_of([&] {
    hopping.apply(out_even, in_odd);
    hopping.apply(out_odd, in_even);
  });
}

}  // namespace

std::map<int, double> measurement_bytes(const TuningProblem& problem) {
  constexpr int spinors = 2;
  const double a_site = problem.resident + links_bytes_a_site(problem.precision, problem.link_reals) +
                        spinors * static_cast<double>(site_bytes(problem.precision, SpinorField::reals));
  std::map<int, double> bytes = sites_by_owner(problem.decomposition);
  for (auto& [worker, of_worker] : bytes) of_worker *= a_site;
  return bytes;
}

std::string tuning_key(const TuningProblem& problem, const std::string& device) {
  const LaneGrid lanes = choose_lane_grid(problem.decomposition, problem.precision);
  return fmt::format("{}; wilson hopping {}; {} links {}; {}", device, kernel_version, name_of(problem.precision), problem.link_reals,
                     place_of(problem.decomposition, lanes.lanes));
}

HoppingTuning default_tuning(const TuningProblem& problem) {
  constexpr std::int64_t large = 10000;
  const runtime::Block& block = first_block(problem.decomposition);
  const LaneGrid lanes = choose_lane_grid(problem.decomposition, problem.precision);
  std::int64_t slice = 1;
  for (int mu = 0; mu < 3; ++mu) slice *= block.extents[mu] / (lanes.splits(mu) ? 2 : 1);
  return {is_gpu(block.owner) && slice >= large ? tile_zt8 : no_tile, 0};
}

HoppingTuning measure_tuning(const TuningProblem& problem, double& microseconds) {
  HoppingTuning best = default_tuning(problem);
  microseconds = time_of(problem, best);
  const auto consider = [&](const HoppingTuning& candidate) {
    if (candidate == best) return;
    const double time = time_of(problem, candidate);
    if (time >= worthwhile * microseconds) return;
    best = candidate;
    microseconds = time;
  };
  for (const Coord& tile : tried_tiles) consider({tile, 0});
  const Coord tile = best.tile;
  if (is_gpu(first_block(problem.decomposition).owner))
    for (const int threads : {64, 128, 192, 256}) consider({tile, threads});
  return best;
}

std::optional<HoppingTuning> tuning_from(const std::vector<int>& choice) {
  constexpr int warp = 32, most_threads = 256;
  if (choice.size() != 5) return std::nullopt;
  const bool tile = std::all_of(choice.begin(), choice.begin() + 4, [](int extent) { return extent >= 0; });
  const bool threads = choice[4] >= 0 && choice[4] <= most_threads && choice[4] % warp == 0;
  if (!tile || !threads) return std::nullopt;
  return HoppingTuning{{choice[0], choice[1], choice[2], choice[3]}, choice[4]};
}

HoppingTuning tuning_for(const TuningProblem& problem, bool measure, runtime::TuneCache* own_cache) {
  if (problem.decomposition.is_distributed()) {
    const Deciders deciders = deciders_of(problem.decomposition);
    const auto of_all = of_all_ranks<5>([&]() -> std::array<int, 5> {
      if (!deciders.is_one(problem.decomposition.rank())) return {};
      const HoppingTuning mine = tuning_for({part_alone(problem.decomposition), problem.precision, problem.link_reals, problem.resident}, measure, own_cache);
      return {mine.tile[0], mine.tile[1], mine.tile[2], mine.tile[3], mine.block_threads};
    });
    // The order of sites is also that of faces.
    const auto& order = of_all[static_cast<std::size_t>(deciders.for_all)];
    return {{order[0], order[1], order[2], order[3]}, of_all[static_cast<std::size_t>(deciders.for_kind)][4]};
  }
  if (!measure || !is_gpu(first_block(problem.decomposition).owner) || runtime::simulate::active) return default_tuning(problem);
  runtime::TuneCache& cache = own_cache != nullptr ? *own_cache : runtime::TuneCache::of_user();
  const std::string key = tuning_key(problem, device_of(problem.decomposition));
  if (const auto known = cache.find(key))
    if (const auto tuning = tuning_from(known->choice)) return *tuning;
  if (!gpus_hold(measurement_bytes(problem))) return default_tuning(problem);
  double microseconds = 0;
  const HoppingTuning best = measure_tuning(problem, microseconds);
  cache.put(key, {{best.tile[0], best.tile[1], best.tile[2], best.tile[3], best.block_threads}, microseconds});
  spdlog::info("tuned the hopping term ({}): tile {}, {} threads a block, {:.1f} us; kept in {}", key, fmt::join(best.tile, ","),
               best.block_threads, microseconds, cache.path());
  return best;
}

}  // namespace quarkstar::wilson
