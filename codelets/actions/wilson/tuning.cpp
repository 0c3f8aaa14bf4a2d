#include "codelets/actions/wilson/tuning.hpp"

#include "codelets/actions/wilson/hopping.hpp"
#include "codelets/actions/wilson/hopping_kernels.hpp"
#include "codelets/field/blas.hpp"
#include "codelets/stencil/measurement.hpp"
#include "runtime/simulate/simulate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>

namespace quarkstar::wilson {
namespace {

using namespace tuning;

/// Goes into the key: raise it when a change of the kernel can change what is best.
constexpr int kernel_version = 7;

/// Microseconds of one application, the best of a few passes.
double time_of(const TuningProblem& problem, const HoppingTuning& tuning) {
  const auto lattice =
      std::make_shared<Lattice>(problem.decomposition, problem.precision, antiperiodic_in_time, std::nullopt, 1, tuning.tile);
  LinkField even(lattice, 0, problem.link_reals), odd(lattice, 1, problem.link_reals);
  Hopping hopping(fill(even), fill(odd));
  hopping.set_block_threads(tuning.block_threads);
  hopping.set_memory_access(tuning.memory);
  const SpinorField in_even(lattice, 0), in_odd(lattice, 1), out_even(lattice, 0), out_odd(lattice, 1);
  blas::submit<blas::Fill>({&in_even}, {{{0.7, -0.4}}});
  blas::submit<blas::Fill>({&in_odd}, {{{0.3, 0.6}}});
  const auto submit_pair = [&] {
    hopping.apply(out_even, in_odd);
    hopping.apply(out_odd, in_even);
  };
  return microseconds_of(submit_pair, is_gpu(first_block(problem.decomposition).owner));
}

/// Threads of a block that the kernel takes by itself on the blocks of a lattice; 0: more than one number, interiors
/// being smaller.
int block_threads_by_rule(const TuningProblem& problem) {
  if (problem.decomposition.blocks().size() > 1) return 0;
  return usual_block_threads(problem.precision == Precision::double_, volume(first_block(problem.decomposition).extents) / 2);
}

/// Whether streaming stores are something else than plain ones; they are not where a site's words fill no lines.
bool is_another_kernel(const TuningProblem& problem, int lanes, const arch::MemoryAccess& memory) {
  if (memory.stores == arch::Stores::plain) return true;
  return with_format(problem.precision, [&](auto format) {
    const auto kernel = [&](arch::Stores stores) {
      return hopping_kernel<typename decltype(format)::type>(
          {.lanes = lanes, .link_reals = problem.link_reals, .sign = 1, .memory = {memory.prefetch, stores}});
    };
    return kernel(arch::Stores::streaming) != kernel(arch::Stores::plain);
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
  const HoppingTuning rule = default_tuning(problem);
  const bool on_gpus = is_gpu(first_block(problem.decomposition).owner);
  const double worthwhile = on_gpus ? worthwhile_on_gpus : worthwhile_on_cpus;
  HoppingTuning best = rule;
  microseconds = time_of(problem, best);
  const auto consider = [&](const HoppingTuning& candidate) {
    if (candidate == rule || candidate == best) return;  // timed
    const double time = time_of(problem, candidate);
    if (time >= worthwhile * microseconds) return;
    best = candidate;
    microseconds = time;
  };
  for (const Coord& tile : tried_tiles) consider({tile, 0});
  const Coord tile = best.tile;
  if (on_gpus) {
    const int usual = block_threads_by_rule(problem);
    for (const int threads : {64, 128, 192, 256})
      if (threads != usual) consider({tile, threads});
  } else {
    const int lanes = choose_lane_grid(problem.decomposition, problem.precision).lanes;
    for (const arch::MemoryAccess& memory : arch::memory_accesses)
      if (is_another_kernel(problem, lanes, memory)) consider({tile, 0, memory});
  }
  return best;
}

std::optional<HoppingTuning> tuning_from(const std::vector<int>& choice) {
  if (choice.size() != 7) return std::nullopt;
  const bool tile = std::all_of(choice.begin(), choice.begin() + 4, [](int extent) { return extent >= 0; });
  const bool threads = arch::is_block_size(choice[4]);
  const auto memory = arch::memory_access_from(choice[5], choice[6]);
  if (!tile || !threads || !memory) return std::nullopt;
  return HoppingTuning{{choice[0], choice[1], choice[2], choice[3]}, choice[4], *memory};
}

std::vector<int> numbers_of(const HoppingTuning& tuning) {
  return {tuning.tile[0],
          tuning.tile[1],
          tuning.tile[2],
          tuning.tile[3],
          tuning.block_threads,
          tuning.memory.prefetch,
          tuning.memory.stores == arch::Stores::streaming ? 1 : 0};
}

HoppingTuning tuning_for(const TuningProblem& problem, bool measure, runtime::TuneCache* own_cache) {
  if (problem.decomposition.is_distributed()) {
    const Deciders deciders = deciders_of(problem.decomposition);
    const auto of_all = of_all_ranks<7>([&]() -> std::array<int, 7> {
      std::array<int, 7> numbers{};
      if (!deciders.is_one(problem.decomposition.rank())) return numbers;
      TuningProblem alone = problem;
      alone.decomposition = part_alone(problem.decomposition);
      const std::vector<int> found = numbers_of(tuning_for(alone, measure, own_cache));
      std::copy(found.begin(), found.end(), numbers.begin());
      return numbers;
    });
    // The order of sites is also that of faces.
    const auto& order = of_all[static_cast<std::size_t>(deciders.for_all)];
    std::array<int, 7> numbers = of_all[static_cast<std::size_t>(deciders.for_kind)];
    std::copy(order.begin(), order.begin() + 4, numbers.begin());
    return tuning_from({numbers.begin(), numbers.end()}).value();
  }
  if (!measure || runtime::simulate::active) return default_tuning(problem);
  const bool on_gpus = is_gpu(first_block(problem.decomposition).owner);
  TuningProblem used = problem;
  used.resident = 0;  // the kernel's own links and fields decide where they come from
  const double cached = problem.cached ? *problem.cached : cached_bytes();
  if (!on_gpus && (shares_host() || !is_cpus_memory(measurement_bytes(used), cached))) return default_tuning(problem);
  runtime::TuneCache& cache = own_cache != nullptr ? *own_cache : runtime::TuneCache::of_user();
  TuningProblem measured = problem;
  if (!on_gpus)
    measured.decomposition = measured_part(problem.decomposition, sites_beyond(cached, measurement_bytes(used), problem.decomposition), 1);
  const std::string key = tuning_key(measured, on_gpus ? device_of(problem.decomposition) : cpu_of_session());
  if (const auto known = cache.find(key))
    if (const auto tuning = tuning_from(known->choice)) return *tuning;
  const std::map<int, double> bytes = measurement_bytes(measured);
  if (!gpus_hold(bytes) || !host_holds(bytes)) return default_tuning(problem);
  double microseconds = 0;
  const HoppingTuning best = measure_tuning(measured, microseconds);
  cache.put(key, {numbers_of(best), microseconds});
  spdlog::info("tuned the hopping term ({}): {}, {:.1f} us; kept in {}", key,
               on_gpus ? fmt::format("tile {}, {} threads a block", fmt::join(best.tile, ","), best.block_threads)
                       : fmt::format("tile {}, {}", fmt::join(best.tile, ","), describe(best.memory)),
               microseconds, cache.path());
  return best;
}

}  // namespace quarkstar::wilson
