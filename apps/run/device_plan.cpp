#include "apps/run/device_plan.hpp"

#include "apps/run/island_forecast.hpp"
#include "apps/run/parse.hpp"
#include "runtime/cut/proportional_cut.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace quarkstar::app {
namespace {

using runtime::Share;

/// What is left of a GPU's memory for fields: the runtime hands out small pieces in chunks of 32 MiB, and memory fragments.
double usable(const Owner& gpu) {
  constexpr double part = 0.95, chunks = 48 * 1048576.0;
  return std::max(0.0, part * gpu.memory - chunks);
}
constexpr double stages = 3.5, stage_seconds = 12e-6;
constexpr double face_seconds = 15e-6, bus_bytes_per_second = 44e9;
constexpr int t = 3, z = 2;

/// One way to cut.
struct Candidate {
  int direction = t;
  std::vector<int> parts;  ///< of each share
  double seconds = 0;      ///< of an application, predicted
};

/// The owners with their speeds, thickest parts for one direction.
std::vector<Share> shares_of(const std::vector<Owner>& owners, const std::vector<double>& speeds, const PlanningProblem& problem,
                             int direction) {
  std::vector<Share> shares;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    Share share{owners[i].worker, speeds[i]};
    share.most = thickest_part(owners[i], problem, direction);
    shares.push_back(share);
  }
  return shares;
}

int owners_used(const std::vector<int>& parts) {
  return static_cast<int>(std::count_if(parts.begin(), parts.end(), [](int part) { return part > 0; }));
}

/// Least thickness of a part in a direction: a lattice that is thinner stays whole.
int thinnest_part(const PlanningProblem& problem, int direction) {
  return std::min(problem.thinnest, problem.lattice[static_cast<std::size_t>(direction)]);
}

bool uses_cpus(const std::vector<Owner>& owners, const std::vector<int>& parts) {
  for (std::size_t i = 0; i < owners.size(); ++i)
    if (!owners[i].gpu && parts[i] > 0) return true;
  return false;
}

/// Whether a part cannot be split over lanes along the cut: then no part is.
bool is_thin(const Candidate& c, const PlanningProblem& problem) {
  return owners_used(c.parts) > 1 &&
         std::any_of(c.parts.begin(), c.parts.end(), [&](int part) { return part % 4 != 0 || (part > 0 && part / 2 < problem.thinnest); });
}

/// Seconds until the last owner has done its part: its surface, of thickness `thinnest` at either end, comes when the faces are there.
double last_part(const PlanningProblem& problem, const Candidate& c, const std::vector<Share>& shares, double slice_flops,
                 double face_way) {
  double last = 0;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    if (c.parts[i] == 0) continue;
    const int surface = std::min(c.parts[i], 2 * problem.thinnest);
    const double of_slice = slice_flops * 1e-9 / shares[i].speed;
    last = std::max({last, c.parts[i] * of_slice, face_way + surface * of_slice});
  }
  return last;
}

/// Seconds of an application: flop of a slice and parity, over GFLOP/s.
double predict(const std::vector<Owner>& owners, const PlanningProblem& problem, const Candidate& c, const std::vector<Share>& shares) {
  const double slice_flops =
      static_cast<double>(volume(problem.lattice)) / problem.lattice[static_cast<std::size_t>(c.direction)] / 2 * problem.flops_a_site;
  const int used = owners_used(c.parts);
  const bool with_cpus = used > 1 && uses_cpus(owners, c.parts);
  const double face = used > 1 ? problem.face_bytes(c.direction) : 0, face_way = with_cpus ? face_seconds + face / bus_bytes_per_second : 0;
  double seconds = last_part(problem, c, shares, slice_flops, face_way);
  if (is_thin(c, problem)) seconds /= problem.thin_speed;
  return seconds + (with_cpus ? stages * stage_seconds : gpu_exchange_seconds(used, face));
}

/// The fastest cut for the owners with these speeds; a thinner unit must gain 3 %, for it may cost lanes. Without parts: impossible.
Candidate best_cut(const std::vector<Owner>& owners, const std::vector<double>& speeds, const PlanningProblem& problem) {
  Candidate best;
  constexpr double clear_gain = 0.97;
  for (const int direction : {t, z}) {
    const int extent = problem.lattice[static_cast<std::size_t>(direction)];
    const std::vector<Share> shares = shares_of(owners, speeds, problem, direction);
    for (const int unit : runtime::units_for(extent, problem.whole[static_cast<std::size_t>(direction)])) {
      Candidate c{direction, runtime::proportional_parts(extent, shares, unit, thinnest_part(problem, direction))};
      if (c.parts.empty()) continue;
      c.seconds = predict(owners, problem, c, shares);
      if (best.parts.empty() || c.seconds < clear_gain * best.seconds) best = c;
    }
  }
  return best;
}

/// Of the cuts whose CPU part is as near as can be to `wanted` of the lattice, or nearer than a tenth of it, the fastest; thin parts must
/// gain 3 %.
Candidate forced_cut(const std::vector<Owner>& owners, const std::vector<double>& speeds, double wanted, const PlanningProblem& problem) {
  struct Near {
    Candidate cut;
    double error;
  };
  std::vector<Near> all;
  const auto gpus = std::count_if(owners.begin(), owners.end(), [](const Owner& o) { return o.gpu; });
  for (const int direction : {t, z}) {
    const int extent = problem.lattice[static_cast<std::size_t>(direction)];
    const std::vector<Share> shares = shares_of(owners, speeds, problem, direction);
    const std::vector<Share> on_gpus(shares.begin(), shares.begin() + gpus), on_cpus(shares.begin() + gpus, shares.end());
    for (const int unit : runtime::units_for(extent, problem.whole[static_cast<std::size_t>(direction)])) {
      const int thinnest = thinnest_part(problem, direction), least = (thinnest + unit - 1) / unit * unit;
      const int nearest = unit * static_cast<int>(std::lround(wanted * extent / unit));
      // Both sides get a part, unless all is asked for.
      const int most = wanted < 1 ? extent - least : extent;
      if (most < least) continue;
      const int cpu = std::clamp(nearest, least, most);
      Candidate c{direction, runtime::proportional_parts(extent - cpu, on_gpus, unit, thinnest)};
      const std::vector<int> rest = runtime::proportional_parts(cpu, on_cpus, unit, thinnest);
      if ((c.parts.empty() && extent > cpu) || (rest.empty() && cpu > 0)) continue;
      c.parts.resize(static_cast<std::size_t>(gpus), 0);
      c.parts.insert(c.parts.end(), rest.begin(), rest.end());
      c.seconds = predict(owners, problem, c, shares);
      all.push_back({c, std::abs(static_cast<double>(cpu) / extent - wanted)});
    }
  }
  double close_enough = 0.1 * wanted, least = 1;
  for (const Near& near : all) least = std::min(least, near.error);
  close_enough = std::max(close_enough, least);
  constexpr double clear_gain = 0.97;
  Candidate best;
  double fastest = 0;
  for (const Near& near : all) {
    const double seconds = near.cut.seconds / (is_thin(near.cut, problem) ? clear_gain : 1);
    if (near.error > close_enough || (!best.parts.empty() && seconds >= fastest)) continue;
    best = near.cut;
    fastest = seconds;
  }
  return best;
}

[[noreturn]] void refuse(const std::vector<Owner>& gpus, const PlanningProblem& problem, const std::string& remedy) {
  double available = 0;
  for (const Owner& gpu : gpus) available += usable(gpu);
  throw Error(ErrorKind::input, Parameter("gpu-memory"),
              fmt::format("the fields of this solve need {} on GPUs, {} are available",
                          bytes_text(problem.slice_bytes(t) * problem.lattice[t]), bytes_text(available)),
              remedy);
}

constexpr const char* smaller = "--precision double with fewer --links reals, fewer --nrhs, or more GPUs";

}  // namespace

double DevicePlan::bound_gflops() const {
  double sum = 0;
  for (const DevicePart& part : parts) {
    if (!(part.gflops_alone > 0)) return 0;
    sum += part.gflops_alone;
  }
  return sum;
}

std::set<int> owners_of(const runtime::Decomposition& decomposition) {
  std::set<int> owners;
  for (const int b : decomposition.local()) owners.insert(decomposition.block(b).owner);
  return owners;
}

std::vector<Owner> owners_of(const runtime::Session& session) {
  std::vector<Owner> owners;
  for (int id = 0; id < static_cast<int>(session.workers().size()); ++id) {
    const bool gpu = session.worker(id).kind == runtime::Worker::Kind::cuda;
    owners.push_back({id, session.worker(id).name, gpu, gpu ? static_cast<double>(session.device_memory(id)) : 0});
  }
  return owners;
}

int thickest_part(const Owner& owner, const PlanningProblem& problem, int direction) {
  constexpr double any = 1e9;
  if (!owner.gpu || owner.memory <= 0) return static_cast<int>(any);
  return static_cast<int>(std::clamp((usable(owner) - problem.border_bytes(direction)) / problem.slice_bytes(direction), 0.0, any));
}

double thin_speed(Precision precision) { return precision == Precision::double_ ? 1 : 0.84; }

PlannedLattice plan_devices(const std::vector<Owner>& owners, const runtime::SessionOptions& wish, const PlanningProblem& problem,
                            const MeasureOwner& measure) {
  std::vector<Owner> gpus;
  std::copy_if(owners.begin(), owners.end(), std::back_inserter(gpus), [](const Owner& owner) { return owner.gpu; });
  std::vector<double> speeds(owners.size(), 0.0), equal(gpus.size(), 1.0);
  bool measured = false;
  std::string reason;
  bool short_of_memory = false, cpus_stay_out = false;
  Candidate chosen;
  const auto measure_all = [&] {
    for (std::size_t i = 0; i < owners.size(); ++i) speeds[i] = measure(owners[i].worker);
    measured = true;
  };

  if (wish.cpu_share && *wish.cpu_share > 0) {
    if (std::max(problem.lattice[t], problem.lattice[z]) < 2 * problem.thinnest)
      throw Error(ErrorKind::input, Parameter("cpu-share"),
                  fmt::format("{}x{} sites in z and t cannot be cut in parts of {} at least", problem.lattice[z], problem.lattice[t],
                              problem.thinnest),
                  "use 0, or --devices cpu");
    measure_all();
    chosen = forced_cut(owners, speeds, *wish.cpu_share, problem);
    if (chosen.parts.empty()) refuse(gpus, problem, fmt::format("use a larger --cpu-share, {}", smaller));
    reason = "as asked for";
  } else if (runtime::cpu_share_is_open(wish)) {
    measure_all();
    const Candidate together = best_cut(owners, speeds, problem);
    const Candidate alone = best_cut(gpus, {speeds.begin(), speeds.begin() + static_cast<std::ptrdiff_t>(gpus.size())}, problem);
    constexpr double worth_it = 0.98;
    const bool cpus_help = alone.parts.empty() || together.seconds < worth_it * alone.seconds;
    chosen = cpus_help ? together : alone;
    short_of_memory = alone.parts.empty();
    cpus_stay_out = !cpus_help;
    reason = short_of_memory ? "the GPUs' memory does not hold the rest"
                             : fmt::format("predicted {:.0f} us an application with CPUs, {:.0f} us without", 1e6 * together.seconds,
                                           1e6 * alone.seconds);
  } else {
    chosen = best_cut(gpus, equal, problem);
    if (chosen.parts.empty()) {
      if (wish.devices == "cuda" || wish.cpu_share)
        refuse(gpus, problem, fmt::format("use --devices all, which leaves a part to the CPUs, {}", smaller));
      // As little as possible: the GPUs first.
      std::vector<double> gpus_first(owners.size(), 1.0);
      constexpr double last = 1e-9;
      for (std::size_t i = gpus.size(); i < owners.size(); ++i) gpus_first[i] = last;
      chosen = best_cut(owners, gpus_first, problem);
      short_of_memory = true;
      reason = "the GPUs' memory does not hold the rest";
    }
  }
  if (chosen.parts.empty()) refuse(gpus, problem, fmt::format("use {}", smaller));

  chosen.parts.resize(owners.size(), 0);
  std::vector<Share> shares;
  for (const Owner& owner : owners) shares.push_back({owner.worker});
  PlannedLattice planned{runtime::cut_in_parts(problem.lattice, chosen.direction, chosen.parts, shares), {}};
  planned.plan.reason = reason;
  planned.plan.short_of_memory = short_of_memory;
  planned.plan.cpus_stay_out = cpus_stay_out;
  for (const runtime::Block& block : planned.decomposition.blocks()) {
    const auto owner = std::find_if(owners.begin(), owners.end(), [&](const Owner& o) { return o.worker == block.owner; });
    const auto number = static_cast<std::size_t>(owner - owners.begin());
    planned.plan.parts.push_back({block.owner, owner->name, block.extents, measured ? speeds[number] : 0});
    if (!owner->gpu) planned.plan.cpu_share += static_cast<double>(volume(block.extents)) / static_cast<double>(volume(problem.lattice));
  }
  return planned;
}

}  // namespace quarkstar::app
