#include "codelets/stencil/measurement.hpp"

#include "codelets/arch/dispatch.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/gpu/cuda.hpp"
#include "runtime/graph/batch.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/host_groups.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/system/memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>
#ifdef QUARKSTAR_CUDA
#include <cuda_runtime_api.h>
#endif

namespace quarkstar::tuning {
namespace {

struct FillTask {
  std::size_t bytes;
};
constexpr int pattern = 0x3c;  ///< a byte that makes a small finite number in every format

void run_fill(runtime::Call& call) { std::memset(call.buffer<char>(0), pattern, call.arguments<FillTask>().bytes); }
#ifdef QUARKSTAR_CUDA
void run_fill_on_cuda(runtime::Call& call) {
  cudaMemsetAsync(call.buffer<char>(0), pattern, call.arguments<FillTask>().bytes, static_cast<runtime::CudaStream>(call.stream()));
  runtime::check_launch("tuning.fill_links");
}
const runtime::Codelet fill_codelet("tuning.fill_links", run_fill, run_fill_on_cuda);
#else
const runtime::Codelet fill_codelet("tuning.fill_links", run_fill);
#endif

}  // namespace

bool is_gpu(int worker) { return runtime::Session::current().worker(worker).kind == runtime::Worker::Kind::cuda; }

const runtime::Block& first_block(const runtime::Decomposition& decomposition) {
  return decomposition.block(decomposition.local().front());
}

std::string device_of(const runtime::Decomposition& decomposition) {
  const int device = runtime::Session::current().worker(first_block(decomposition).owner).device;
  return runtime::gpus().at(static_cast<std::size_t>(device)).name;
}

std::map<int, double> sites_by_owner(const runtime::Decomposition& decomposition) {
  std::map<int, double> sites;
  for (const int b : decomposition.local()) {
    const runtime::Block& block = decomposition.block(b);
    sites[block.owner] += static_cast<double>(volume(block.extents));
  }
  return sites;
}

bool gpus_hold(const std::map<int, double>& bytes_by_worker) {
  constexpr double part = 0.9;
  for (const auto& [worker, bytes] : bytes_by_worker)
    if (is_gpu(worker) && bytes > part * static_cast<double>(runtime::Session::current().device_memory(worker))) return false;
  return true;
}

std::string place_of(const runtime::Decomposition& decomposition, int lanes) {
  const std::map<int, double> owners = sites_by_owner(decomposition);
  const auto gpus = std::count_if(owners.begin(), owners.end(), [](const auto& owner) { return is_gpu(owner.first); });
  // Where messages go through the host a rank's batches are not replayed as graphs, its measurements neither, which
  // changes what is best.
  const runtime::mpi::Messages* messages = runtime::Session::current().messages();
  const char* replays = messages != nullptr && !messages->by_device() ? ", task by task" : "";
  return fmt::format("{}, block {}, lanes {}; {} GPU + {} CPU{}", decomposition.describe(),
                     fmt::join(first_block(decomposition).extents, "x"), lanes, gpus, static_cast<int>(owners.size()) - gpus, replays);
}

std::string describe(const arch::MemoryAccess& memory) {
  return fmt::format("{}, {} stores", memory.prefetch > 0 ? "prefetch" : "no prefetch", arch::name_of(memory.stores));
}

LinkField& fill(LinkField& links) {
  const Lattice& lattice = *links.lattice();
  for (const int b : lattice.local_blocks()) {
    const std::size_t bytes = 8 * static_cast<std::size_t>(lattice.block(b).outer_sites()) *
                              static_cast<std::size_t>(lattice.lanes().lanes) * link_bytes(lattice.precision(), links.reals());
    runtime::submit(fill_codelet, FillTask{bytes}, {runtime::out(links.block(b))}, {}, placement_of(lattice.block(b)));
  }
  links.freeze();
  return links;
}

double microseconds_of(const std::function<void()>& submit_pair, bool on_gpus) {
  runtime::Session& session = runtime::Session::current();
  int pairs_a_batch = 8;
  const auto microseconds_for = [&](int batches) {
    session.wait_all();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < batches; ++i) {
      runtime::Batch batch;
      for (int k = 0; k < pairs_a_batch; ++k) submit_pair();
      batch.submit();
    }
    session.wait_all();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / (2 * pairs_a_batch * batches);
  };
  constexpr double pass_us = 4000, warm_us = 50000;
  if (on_gpus) {
    microseconds_for(3);  // the second pass of a batch is captured as a graph, the third replays it
  } else {
    pairs_a_batch = 1;  // one may take longer than a pass
    microseconds_for(1);
    pairs_a_batch = std::clamp(static_cast<int>(pass_us / (2 * microseconds_for(1))), 1, 8);
  }
  const int batches = std::clamp(static_cast<int>(pass_us / (microseconds_for(1) * 2 * pairs_a_batch)), 1, 64);
  if (on_gpus)
    for (double busy = 0; busy < warm_us;) busy += microseconds_for(batches) * 2 * pairs_a_batch * batches;
  double best = microseconds_for(batches);
  for (int pass = 1; pass < 3; ++pass) best = std::min(best, microseconds_for(batches));
  return best;
}

namespace {
constexpr std::string_view gpu_kind = "GPU ", cpu_kind = "CPU ";
}

Deciders deciders_among(const std::vector<std::string>& kinds, int rank) {
  const auto rank_of = [&](auto found) { return found == kinds.end() ? 0 : static_cast<int>(found - kinds.begin()); };
  return {rank_of(std::find_if(kinds.begin(), kinds.end(), [](const std::string& kind) { return kind.starts_with(gpu_kind); })),
          rank_of(std::find(kinds.begin(), kinds.end(), kinds.at(static_cast<std::size_t>(rank))))};
}

Deciders deciders_of(const runtime::Decomposition& decomposition) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  const bool on_gpu = is_gpu(first_block(decomposition).owner);
  const std::string mine =
      on_gpu ? fmt::format("{}{}", gpu_kind, device_of(decomposition)) : fmt::format("{}{}", cpu_kind, cpu_of_session());
  return deciders_among(job.gather_text(mine), job.rank());
}

std::string cpu_of_session() {
  const runtime::Session& session = runtime::Session::current();
  return fmt::format("{}, {}, {} threads", session.topology().cpu_model(), arch::name_of(arch::current()), session.cpu_team().threads());
}

double cached_bytes() {
  const runtime::Session& session = runtime::Session::current();
  const double known = session.topology().cache_bytes();
  return known > 0 ? known / static_cast<double>(std::max<std::size_t>(session.cpu_workers().size(), 1)) : usual_cached_bytes;
}

bool is_cpus_memory(const std::map<int, double>& bytes_by_worker, double cached) {
  bool beyond = false;
  for (const auto& [worker, bytes] : bytes_by_worker) {
    if (is_gpu(worker)) return false;
    beyond = beyond || bytes > cached;
  }
  return beyond;
}

bool shares_host() { return runtime::mpi::ranks_on_this_host(runtime::mpi::Job::current()) > 1; }

bool host_holds(const std::map<int, double>& bytes_by_worker) {
  constexpr double part = 0.5;
  double total = 0;
  for (const auto& [worker, bytes] : bytes_by_worker) total += is_gpu(worker) ? 0 : bytes;
  const auto available = runtime::available_host_memory();
  return !available || total < part * static_cast<double>(*available);
}

namespace {

/// This rank's part: lengths of its blocks in each direction, and the owner of each block.
struct Part {
  std::array<std::vector<int>, 4> cuts;
  std::vector<int> owners;
  Coord extents() const {
    Coord sums{};
    for (std::size_t mu = 0; mu < 4; ++mu) sums[mu] = std::accumulate(cuts[mu].begin(), cuts[mu].end(), 0);
    return sums;
  }
};

Part part_of(const runtime::Decomposition& all) {
  Part part;
  for (const int b : all.local()) {
    const runtime::Block& block = all.block(b);
    part.owners.push_back(block.owner);
    // The blocks along one edge of the part tell where that direction is cut.
    for (std::size_t mu = 0; mu < 4; ++mu) {
      bool on_edge = true;
      for (std::size_t nu = 0; nu < 4; ++nu) on_edge = on_edge && (nu == mu || block.position[nu] == first_block(all).position[nu]);
      if (on_edge) part.cuts[mu].push_back(block.extents[mu]);
    }
  }
  // A part of odd extent is no lattice: one layer more is.
  const Coord extents = part.extents();
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (extents[mu] % 2 != 0) part.cuts[mu].back() += 1;
  return part;
}

}  // namespace

double sites_beyond(double cached, const std::map<int, double>& bytes_by_owner, const runtime::Decomposition& all) {
  double bytes = 0, sites = 0;
  for (const auto& [worker, of_worker] : bytes_by_owner) bytes += of_worker;
  for (const auto& [worker, of_worker] : sites_by_owner(all)) sites += of_worker;
  return 2 * cached * static_cast<double>(bytes_by_owner.size()) * sites / bytes;
}

runtime::Decomposition part_alone(const runtime::Decomposition& all) {
  const Part part = part_of(all);
  return runtime::Decomposition(part.extents(), part.cuts, part.owners);
}

runtime::Decomposition measured_part(const runtime::Decomposition& all, double most_sites, int reach, const Coord& unit) {
  Part part = part_of(all);
  for (std::size_t mu = 4; mu-- > 0;)
    while (static_cast<double>(volume(part.extents())) > most_sites &&
           // Halves can still be split over lanes (choose_lane_grid()), so the kernel stays the same.
           std::all_of(part.cuts[mu].begin(), part.cuts[mu].end(),
                       [&](int length) { return length % (4 * unit[mu]) == 0 && length / 4 >= reach; }))
      for (int& length : part.cuts[mu]) length /= 2;
  return runtime::Decomposition(part.extents(), part.cuts, part.owners);
}

}  // namespace quarkstar::tuning
