#include "codelets/wilson/tuning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <numeric>

#include "codelets/blas/blas.hpp"
#include "codelets/wilson/hopping.hpp"
#include "runtime/batch.hpp"
#include "runtime/cuda.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/session.hpp"
#include "runtime/simulate/simulate.hpp"
#ifdef QUARKSTAR_CUDA
#include <cuda_runtime_api.h>
#endif

namespace quarkstar::wilson {
namespace {

/// Goes into the key: raise it when a change of the kernel can change what is best.
constexpr int kernel_version = 1;

constexpr Coord no_tile{}, tile_zt8{0, 0, 8, 8};

struct FillTask {
  std::size_t bytes;
};
constexpr int pattern = 0x3c;  ///< a byte that makes a small finite number in every format

void run_fill(runtime::Call& call) { std::memset(call.buffer<char>(0), pattern, call.arguments<FillTask>().bytes); }
#ifdef QUARKSTAR_CUDA
void run_fill_on_cuda(runtime::Call& call) {
  cudaMemsetAsync(call.buffer<char>(0), pattern, call.arguments<FillTask>().bytes, static_cast<runtime::CudaStream>(call.stream()));
  runtime::check_launch("wilson.fill_links");
}
const runtime::Codelet fill_codelet("wilson.fill_links", run_fill, run_fill_on_cuda);
#else
const runtime::Codelet fill_codelet("wilson.fill_links", run_fill);
#endif

bool is_gpu(int worker) { return runtime::Session::current().worker(worker).kind == runtime::Worker::Kind::cuda; }

/// Where this rank's settings are looked up.
const runtime::Block& first_block(const TuningProblem& problem) { return problem.decomposition.block(problem.decomposition.local().front()); }

/// Of this rank's blocks.
std::map<int, double> sites_by_owner(const runtime::Decomposition& decomposition) {
  std::map<int, double> sites;
  for (const int b : decomposition.local()) {
    const runtime::Block& block = decomposition.block(b);
    sites[block.owner] += static_cast<double>(volume(block.extents));
  }
  return sites;
}

/// Whether every GPU can hold a measurement beside what is there; the rest is for faces, tables and what a level has besides links.
bool has_room(const TuningProblem& problem) {
  constexpr double part = 0.9;
  for (const auto& [worker, bytes] : measurement_bytes(problem))
    if (is_gpu(worker) && bytes > part * static_cast<double>(runtime::Session::current().device_memory(worker))) return false;
  return true;
}

/// Links of any value: their speed does not depend on it.
LinkField& fill(LinkField& links, const TuningProblem& problem) {
  const Lattice& lattice = *links.lattice();
  for (const int b : lattice.local_blocks()) {
    const double sites = static_cast<double>(lattice.block(b).outer_sites()) * lattice.lanes().lanes;
    const auto bytes = static_cast<std::size_t>(sites * links_bytes_a_site(problem.precision, problem.link_reals));
    runtime::submit(fill_codelet, FillTask{bytes}, {runtime::out(links.block(b))}, {},
                    {.owner = lattice.block(b).block().owner, .block = b});
  }
  links.freeze();
  return links;
}

/// Microseconds of one application, the best of a few passes.
double time_of(const TuningProblem& problem, const HoppingTuning& tuning) {
  runtime::Session& session = runtime::Session::current();
  const auto lattice = std::make_shared<Lattice>(problem.decomposition, problem.precision, antiperiodic_in_time, 16, 1, tuning.tile);
  LinkField even(lattice, 0, problem.link_reals), odd(lattice, 1, problem.link_reals);
  Hopping hopping(fill(even, problem), fill(odd, problem));
  hopping.set_block_threads(tuning.block_threads);
  const SpinorField in_even(lattice, 0), in_odd(lattice, 1), out_even(lattice, 0), out_odd(lattice, 1);
  blas::submit<blas::Fill>({&in_even}, {{{0.7, -0.4}}});
  blas::submit<blas::Fill>({&in_odd}, {{{0.3, 0.6}}});
  constexpr int pairs_a_batch = 8;
  const auto microseconds_for = [&](int batches) {
    session.wait_all();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < batches; ++i) {
      runtime::Batch batch;
      for (int k = 0; k < pairs_a_batch; ++k) {
        hopping.apply(out_even, in_odd);
        hopping.apply(out_odd, in_even);
      }
      batch.submit();
    }
    session.wait_all();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / (2 * pairs_a_batch * batches);
  };
  microseconds_for(3);  // the second pass of a batch is captured as a graph, the third replays it
  constexpr double pass_us = 4000;
  const int batches = std::clamp(static_cast<int>(pass_us / (microseconds_for(1) * 2 * pairs_a_batch)), 1, 64);
  double best = microseconds_for(batches);
  for (int pass = 1; pass < 3; ++pass) best = std::min(best, microseconds_for(batches));
  return best;
}

/// This rank's part as a lattice of its own: what a rank can measure while the others do something else.
TuningProblem part_alone(const TuningProblem& problem) {
  const runtime::Decomposition& all = problem.decomposition;
  std::array<std::vector<int>, 4> cuts;
  std::vector<int> owners;
  for (const int b : all.local()) {
    const runtime::Block& block = all.block(b);
    owners.push_back(block.owner);
    // The blocks along one edge of the part tell where that direction is cut.
    for (std::size_t mu = 0; mu < 4; ++mu) {
      bool on_edge = true;
      for (std::size_t nu = 0; nu < 4; ++nu) on_edge = on_edge && (nu == mu || block.position[nu] == first_block(problem).position[nu]);
      if (on_edge) cuts[mu].push_back(block.extents[mu]);
    }
  }
  Coord extents{};
  for (std::size_t mu = 0; mu < 4; ++mu) extents[mu] = std::accumulate(cuts[mu].begin(), cuts[mu].end(), 0);
  // A part of odd extent is no lattice: one layer more is.
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (extents[mu] % 2 != 0) {
      cuts[mu].back() += 1;
      extents[mu] += 1;
    }
  return {runtime::Decomposition(extents, cuts, owners), problem.precision, problem.link_reals, problem.resident};
}

/// All ranks must agree, for the order of sites is also that of faces: the first one decides.
HoppingTuning agreed(const HoppingTuning& mine) {
  const std::array<int, 5> numbers{mine.tile[0], mine.tile[1], mine.tile[2], mine.tile[3], mine.block_threads};
  const std::array<int, 5> first = runtime::mpi::Job::current().gather(numbers).front();
  return {{first[0], first[1], first[2], first[3]}, first[4]};
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
  const std::map<int, double> owners = sites_by_owner(problem.decomposition);
  const auto gpus = std::count_if(owners.begin(), owners.end(), [](const auto& owner) { return is_gpu(owner.first); });
  // With other ranks at work batches are not replayed as graphs, which changes what is best.
  const char* replays = runtime::Session::current().messages() != nullptr ? ", task by task" : "";
  return fmt::format("{}; wilson hopping {}; {} links {}; {}, block {}, lanes {}; {} GPU + {} CPU{}", device, kernel_version,
                     name_of(problem.precision), problem.link_reals, problem.decomposition.describe(),
                     fmt::join(first_block(problem).extents, "x"), lanes.lanes, gpus, static_cast<int>(owners.size()) - gpus, replays);
}

HoppingTuning default_tuning(const TuningProblem& problem) {
  constexpr std::int64_t large = 10000;
  const runtime::Block& block = first_block(problem);
  const LaneGrid lanes = choose_lane_grid(problem.decomposition, problem.precision);
  std::int64_t slice = 1;
  for (int mu = 0; mu < 3; ++mu) slice *= block.extents[mu] / (lanes.splits(mu) ? 2 : 1);
  return {is_gpu(block.owner) && slice >= large ? tile_zt8 : no_tile, 0};
}

HoppingTuning measure_tuning(const TuningProblem& problem, double& microseconds) {
  constexpr double worthwhile = 0.99;
  HoppingTuning best = default_tuning(problem);
  microseconds = time_of(problem, best);
  const auto consider = [&](const HoppingTuning& candidate) {
    if (candidate == best) return;
    const double time = time_of(problem, candidate);
    if (time >= worthwhile * microseconds) return;
    best = candidate;
    microseconds = time;
  };
  for (const Coord& tile : {no_tile, tile_zt8, Coord{0, 0, 4, 4}, Coord{0, 0, 0, 4}}) consider({tile, 0});
  const Coord tile = best.tile;
  if (is_gpu(first_block(problem).owner))
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
    const bool decides = runtime::mpi::Job::current().is_root();
    return agreed(decides ? tuning_for(part_alone(problem), measure, own_cache) : HoppingTuning{});
  }
  const int owner = first_block(problem).owner;
  if (!measure || !is_gpu(owner) || runtime::simulate::active) return default_tuning(problem);
  runtime::TuneCache& cache = own_cache != nullptr ? *own_cache : runtime::TuneCache::of_user();
  const int device = runtime::Session::current().worker(owner).device;
  const std::string key = tuning_key(problem, runtime::gpus().at(static_cast<std::size_t>(device)).name);
  if (const auto known = cache.find(key))
    if (const auto tuning = tuning_from(known->choice)) return *tuning;
  if (!has_room(problem)) return default_tuning(problem);
  double microseconds = 0;
  const HoppingTuning best = measure_tuning(problem, microseconds);
  cache.put(key, {{best.tile[0], best.tile[1], best.tile[2], best.tile[3], best.block_threads}, microseconds});
  spdlog::info("tuned the hopping term ({}): tile {}, {} threads a block, {:.1f} us; kept in {}", key, fmt::join(best.tile, ","),
               best.block_threads, microseconds, cache.path());
  return best;
}

}  // namespace quarkstar::wilson
