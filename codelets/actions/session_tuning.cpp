#include "codelets/actions/session_tuning.hpp"

#include "codelets/actions/staggered/prepared_action.hpp"
#include "codelets/actions/wilson/prepared_action.hpp"
#include "codelets/stencil/measurement.hpp"
#include "runtime/backend.hpp"
#include "runtime/mpi/job.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace quarkstar {
namespace {

stencil::Subject subject_of(const RunSize& run) {
  return run.components == spinor_components ? wilson::tuning_subject(Precision::single, 12, antiperiodic_in_time)
                                             : staggered::tuning_subject(Precision::single, 18);
}

/// Microseconds of an application in a session with these options, a block for each worker.
double microseconds_in(const runtime::SessionOptions& options, const Coord& block, const RunSize& run) {
  const runtime::Session session(options);
  const int workers = static_cast<int>(session.workers().size());
  Coord lattice = block;
  lattice[3] *= workers;
  return stencil::application_microseconds({{lattice, {1, 1, 1, workers}, workers}, subject_of(run), run.vectors});
}

/// The fastest number, among all cores of a worker, half of them, ...
int measured_threads(runtime::SessionOptions options, int most, const Coord& block, const RunSize& run, double& microseconds) {
  microseconds = microseconds_in(options, block, run);
  int best = most;
  for (int threads = most / 2; threads > 0; threads /= 2) {
    options.threads_per_worker = threads;
    const double time = microseconds_in(options, block, run);
    if (time > 1.1 * microseconds) break;  // fewer would be slower still
    if (time >= tuning::worthwhile_on_cpus * microseconds) continue;
    best = threads;
    microseconds = time;
  }
  return best;
}

}  // namespace

Coord measured_block(std::int64_t sites) {
  Coord block{4, 4, 4, 4};
  for (std::size_t mu = 3; 2 * volume(block) <= sites; mu = (mu + 3) % 4) block[mu] *= 2;
  return block;
}

std::string threads_key(const runtime::SessionOptions& options, std::int64_t sites, const RunSize& run) {
  const stencil::Subject subject = subject_of(run);
  return fmt::format("{}; threads of {}, lanes of {} bytes; {} {} n {}; {} sites of a worker", cpus_key(options),
                     arch::name_of(arch::current()), options.lane_bytes, subject.name, name_of(subject.precision), run.vectors, sites);
}

int choose_threads(const runtime::SessionOptions& options, const RunSize& run, runtime::TuneCache* own_cache) {
  if constexpr (!runtime::backend::computes) return options.threads_per_worker;
  if (options.threads_per_worker > 0 || options.mode == runtime::WorkerMode::per_core || runtime::mpi::Job::current().size() > 1 ||
      gpus_own_blocks(options))
    return options.threads_per_worker;
  const runtime::Topology topology = runtime::Topology::discover();
  const int workers = options.cpu_workers > 0 ? options.cpu_workers : static_cast<int>(topology.domains().size());
  const int most = topology.cores() / std::max(workers, 1);
  const std::int64_t sites_of_worker = volume(run.lattice) / std::max(workers, 1);
  if (most < 2 || sites_of_worker >= std::int64_t{usual_sites_a_thread} * most) return 0;
  const Coord block = measured_block(sites_of_worker);
  runtime::TuneCache& cache = own_cache != nullptr ? *own_cache : runtime::TuneCache::of_user();
  const std::string key = threads_key(options, volume(block), run);
  const auto usable = [most](const std::vector<int>& choice) { return choice.size() == 1 && choice[0] > 0 && choice[0] <= most; };
  auto known = cache.find(key);
  if (!known || !usable(known->choice)) {
    runtime::SessionOptions alone = cpus_alone(options);
    alone.lane_bytes = options.lane_bytes;
    double microseconds = 0;
    const int best = measured_threads(alone, most, block, run, microseconds);
    known = {{best}, microseconds};
    cache.put(key, *known);
    spdlog::info("tuned threads ({}): {} of {}, {:.1f} us; kept in {}", key, best, most, microseconds, cache.path());
  }
  return known->choice[0] < most ? known->choice[0] : 0;
}

bool is_worth_measuring_kernels(const Coord& lattice) { return volume(lattice) >= 65536; }

runtime::SessionOptions tuned_session(const runtime::SessionOptions& options, const RunSize& run, bool measure) {
  if (!measure) return with_cpu_kernels(options, KernelTuning::rule);
  runtime::SessionOptions tuned =
      with_cpu_kernels(options, is_worth_measuring_kernels(run.lattice) ? KernelTuning::measure : KernelTuning::known);
  tuned.threads_per_worker = choose_threads(tuned, run);
  return tuned;
}

}  // namespace quarkstar
