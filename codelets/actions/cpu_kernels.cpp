#include "codelets/actions/cpu_kernels.hpp"

#include "codelets/actions/staggered/prepared_action.hpp"
#include "codelets/actions/wilson/prepared_action.hpp"
#include "codelets/arch/lane_bytes.hpp"
#include "codelets/arch/preference.hpp"
#include "codelets/stencil/measurement.hpp"
#include "runtime/backend.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/mpi/host_groups.hpp"
#include "runtime/mpi/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace quarkstar {
namespace {

using arch::Architecture;

/// What most solves spend their time with: Wilson columns one by one and in groups, staggered vectors.
struct Measured {
  stencil::Subject subject;
  int vectors;
};
std::vector<Measured> measured_operators() {
  const auto wilson = [](Precision precision, int reals) { return wilson::tuning_subject(precision, reals, antiperiodic_in_time); };
  return {{wilson(Precision::single, 12), 1},
          {wilson(Precision::single, 12), 8},
          {wilson(Precision::double_, 18), 8},
          {staggered::tuning_subject(Precision::single, 18), 1}};
}

/// Those that are measured, narrowest first: the scalar kernels are an oracle where there are others.
std::vector<Architecture> measured_architectures() {
  std::vector<Architecture> measured = arch::available();
  if (measured.size() > 1) std::erase(measured, Architecture::scalar);
  return measured;
}

std::vector<std::string_view> names_of(const std::vector<Architecture>& architectures) {
  std::vector<std::string_view> names;
  for (const Architecture a : architectures) names.push_back(arch::name_of(a));
  return names;
}

/// One part for each worker, of so many sites that its links and fields are a quarter larger than its caches; where hwloc shows none, than
/// 32 MiB, which keeps the measurement short: most of it goes into new memory.
runtime::Decomposition measured_lattice(const Measured& measured) {
  const int workers = static_cast<int>(runtime::Session::current().workers().size());
  const stencil::Subject& subject = measured.subject;
  const double fields = 2.0 * measured.vectors * static_cast<double>(site_bytes(subject.precision, 2 * subject.components));
  const double cached = runtime::Session::current().topology().cache_bytes() > 0 ? tuning::cached_bytes() : 32.0 * (1 << 20);
  const double sites = 1.25 * cached / (subject.link_bytes + fields);
  constexpr int extent = 16, step = 8;  // every direction can be split over lanes
  const int times = step * std::max(1, static_cast<int>(std::ceil(sites / (step * extent * extent * extent))));
  return {{extent, extent, extent, times * workers}, {1, 1, 1, workers}, workers};
}

/// In the running session. Empty where memory has no room.
std::vector<KernelTimes> measure(const std::vector<Architecture>& architectures) {
  std::vector<KernelTimes> times;
  for (int a = 0; a < static_cast<int>(architectures.size()); ++a)
    for (const int lane_bytes : {64, 32}) times.push_back({a, lane_bytes, {}});
  for (const Measured& measured : measured_operators()) {
    stencil::TuningProblem problem{measured_lattice(measured), measured.subject, measured.vectors};
    if (!tuning::host_holds(measurement_bytes(problem))) return {};
    for (KernelTimes& of : times) {
      arch::prefer(architectures[static_cast<std::size_t>(of.architecture)]);
      problem.subject.layout.most_lanes = of.lane_bytes / static_cast<int>(computed_bytes(problem.subject.precision));
      of.microseconds.push_back(stencil::application_microseconds(problem));
    }
  }
  return times;
}

std::size_t place_of_rule(const std::vector<Architecture>& architectures, const std::vector<KernelTimes>& times) {
  const int usual = arch::lane_bytes(architectures.back());
  const auto rule = std::find_if(times.begin(), times.end(), [&](const KernelTimes& of) {
    return of.architecture == static_cast<int>(architectures.size()) - 1 && of.lane_bytes == usual;
  });
  return static_cast<std::size_t>(rule - times.begin());
}

/// A session of the CPUs alone, on which every rank ranks its kernels.
std::optional<KernelRanking> measured_ranking(const runtime::SessionOptions& options, const std::vector<Architecture>& architectures,
                                              const std::string& key, runtime::TuneCache& cache) {
  const runtime::Session session(cpus_alone(options));
  std::optional<KernelRanking> ranking;
  runtime::mpi::Job::current().together([&] {
    if (key.empty()) return;  // this rank's user asks for an architecture
    const std::vector<KernelTimes> times = measure(architectures);
    if (times.empty()) return;
    ranking = ranking_of(times, place_of_rule(architectures, times));
    double microseconds = 0;
    for (const KernelTimes& of : times)
      if (of.architecture == ranking->architecture() && of.lane_bytes == ranking->lane_bytes)
        for (const double of_operator : of.microseconds) microseconds += of_operator;
    cache.put(key, {ranking->numbers(), microseconds});
    spdlog::info("tuned CPU kernels ({}): {}, lanes of {} bytes, {:.2f} times as fast as the rule; kept in {}", key,
                 arch::name_of(architectures[static_cast<std::size_t>(ranking->architecture())]), ranking->lane_bytes,
                 ranking->thousandths / 1000., cache.path());
  });
  return ranking;
}

std::string reason_of(const KernelRanking& ranking, const std::vector<Architecture>& architectures) {
  const Architecture rule = architectures.back();
  const std::string by_rule = fmt::format("{} with lanes of {} bytes", arch::name_of(rule), arch::lane_bytes(rule));
  if (ranking.thousandths <= 1000) return fmt::format("measured: nothing is faster than the rule, {}", by_rule);
  return fmt::format("measured: {:.2f} times as fast as {}", ranking.thousandths / 1000., by_rule);
}

}  // namespace

KernelRanking ranking_of(const std::vector<KernelTimes>& times, std::size_t rule) {
  const auto ratio = [&](const KernelTimes& of) {
    double logarithms = 0;
    for (std::size_t i = 0; i < of.microseconds.size(); ++i) logarithms += std::log(of.microseconds[i] / times[rule].microseconds[i]);
    return std::exp(logarithms / static_cast<double>(of.microseconds.size()));
  };
  // The rule's choice stays unless another is worth it, also among those with its layout.
  const auto best_with = [&](auto&& fits) {
    const KernelTimes* best = fits(times[rule]) ? &times[rule] : nullptr;
    double least = best != nullptr ? tuning::worthwhile_on_cpus : HUGE_VAL;
    for (const KernelTimes& of : times)
      if (fits(of) && (best == nullptr || ratio(of) < least)) {
        best = &of;
        least = ratio(of);
      }
    return best;
  };
  const KernelTimes* best = best_with([](const KernelTimes&) { return true; });
  const auto with = [&](int bytes) { return best_with([bytes](const KernelTimes& of) { return of.lane_bytes == bytes; })->architecture; };
  return {best->lane_bytes, with(64), with(32), static_cast<int>(std::lround(1000 / ratio(*best)))};
}

std::optional<KernelRanking> ranking_from(const std::vector<int>& numbers, int architectures) {
  const auto is_one = [architectures](int place) { return place >= 0 && place < architectures; };
  if (numbers.size() != 4 || (numbers[0] != 64 && numbers[0] != 32) || !is_one(numbers[1]) || !is_one(numbers[2]) || numbers[3] < 1000)
    return std::nullopt;
  return KernelRanking{numbers[0], numbers[1], numbers[2], numbers[3]};
}

runtime::SessionOptions cpus_alone(const runtime::SessionOptions& options) {
  runtime::SessionOptions alone;
  alone.mode = options.mode;
  alone.cpu_workers = options.cpu_workers;
  alone.threads_per_worker = options.threads_per_worker;
  alone.watchdog_seconds = options.watchdog_seconds;
  alone.cuda_workers = 0;
  return alone;
}

bool gpus_own_blocks(const runtime::SessionOptions& options) {
  if (options.cuda_workers == 0) return false;
  const std::vector<runtime::GpuDescription> gpus = runtime::gpus();
  return std::any_of(gpus.begin(), gpus.end(), [](const runtime::GpuDescription& gpu) { return gpu.obstacle.empty(); });
}

std::string cpus_key(const runtime::SessionOptions& options) {
  const int sharers = runtime::mpi::ranks_on_this_host(runtime::mpi::Job::current());
  const runtime::Topology topology = runtime::Topology::discover();
  const auto as_asked = [](int number) { return number > 0 ? fmt::format("{}", number) : "usual"; };
  return fmt::format("{}, {} cores, {} workers of {} threads{}, {} ranks on the host", topology.cpu_model(), topology.cores(),
                     as_asked(options.cpu_workers), as_asked(options.threads_per_worker),
                     options.mode == runtime::WorkerMode::per_core ? ", one a core" : "", sharers);
}

std::string cpu_kernels_key(const runtime::SessionOptions& options) {
  std::vector<std::string> operators;
  for (const auto& [subject, vectors] : measured_operators())
    operators.push_back(fmt::format("{} {} n {}", subject.name, name_of(subject.precision), vectors));
  return fmt::format("{}; architecture of {}; {}", cpus_key(options), fmt::join(names_of(measured_architectures()), ", "),
                     fmt::join(operators, ", "));
}

CpuKernels choose_cpu_kernels(const runtime::SessionOptions& options, KernelTuning tuning, runtime::TuneCache* own_cache) {
  arch::prefer(std::nullopt);
  const Architecture usual = arch::current();
  CpuKernels chosen{usual, arch::lane_bytes(usual), "the widest that processor and build have"};
  if constexpr (!runtime::backend::computes) return chosen;
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  if (tuning == KernelTuning::rule || job.is_fake()) return chosen;
  if (job.any(gpus_own_blocks(options))) {
    chosen.reason += "; GPUs own the blocks";
    return chosen;
  }
  const std::vector<Architecture> architectures = measured_architectures();
  const auto count = static_cast<int>(architectures.size());
  const bool asked = arch::is_asked_for();
  std::string key;
  std::optional<KernelRanking> ranking;
  runtime::TuneCache& cache = own_cache != nullptr ? *own_cache : runtime::TuneCache::of_user();
  if (!asked) {
    key = cpu_kernels_key(options);
    if (const auto known = cache.find(key)) ranking = ranking_from(known->choice, count);
  }
  // Where one rank measures, its neighbours on the host do too, or it would measure what no solve has.
  if (tuning == KernelTuning::measure && job.any(!asked && !ranking)) ranking = measured_ranking(options, architectures, key, cache);
  arch::prefer(std::nullopt);
  // Ranks of one kind of CPU take what the lowest of them found.
  const std::vector<std::string> keys = job.gather_text(key);
  const auto decider = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
  std::array<int, 4> numbers{};
  if (ranking) std::copy_n(ranking->numbers().begin(), 4, numbers.begin());
  const std::array<int, 4> agreed = job.gather(numbers)[decider];
  ranking = ranking_from({agreed.begin(), agreed.end()}, count);
  if (asked) ranking.reset();
  const int wanted = ranking ? ranking->lane_bytes : chosen.lane_bytes;
  chosen.lane_bytes = static_cast<int>(job.combined(static_cast<std::uint64_t>(wanted), runtime::mpi::Combine::maximum));
  if (asked) chosen.reason = "QUARKSTAR_ARCH asks for it";
  else if (tuning == KernelTuning::known) chosen.reason += "; not measured yet, the next solve or benchmark of a large lattice does";
  if (!ranking) return chosen;
  chosen.reason = reason_of(*ranking, architectures);
  if (chosen.lane_bytes != wanted) {
    chosen.reason += fmt::format(" with lanes of {} bytes, which other ranks do not have", wanted);
    ranking->lane_bytes = chosen.lane_bytes;
  }
  chosen.architecture = architectures[static_cast<std::size_t>(ranking->architecture())];
  arch::prefer(chosen.architecture);
  return chosen;
}

runtime::SessionOptions with_cpu_kernels(runtime::SessionOptions options, KernelTuning tuning) {
  options.lane_bytes = choose_cpu_kernels(options, tuning).lane_bytes;
  return options;
}

}  // namespace quarkstar
