#include "runtime/mpi/gpu_peers.hpp"

#include "runtime/mpi/kept_pieces.hpp"
#include "runtime/mpi/native.hpp"
#include "runtime/mpi/transports.hpp"
#include "runtime/simulate/rank_times.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/conditional_graph.hpp"
#include "runtime/gpu/current_device.hpp"
#include "runtime/graph/scalar.hpp"

#include <cuda_runtime_api.h>
#endif

namespace quarkstar::runtime::mpi {

#ifndef QUARKSTAR_CUDA
GpuPeers::GpuPeers(Job& job, int device, const std::string& obstacle, std::uint64_t patience_ns)
    : job_(job),
      device_(device),
      patience_ns_(patience_ns),
      usable_(simulate::stands_for_ranks() && obstacle.empty()),
      verdict_(usable_ ? "simulated" : "through host memory: this build has no GPU code") {}
std::shared_ptr<GpuPiece> GpuPeers::piece(std::size_t, std::size_t, std::span<const std::uint64_t>) { return nullptr; }
void free_kept_pieces(Job&) {}
std::byte* host_memory_of_gpu(std::size_t) { return nullptr; }
void give_back_host_memory() {}
#else
namespace {

constexpr std::size_t test_words = std::size_t{1} << 13;

/// Where things lie in the common piece of a rank: words of exchanges between GPUs, the number of exchanges, words to try the memory with,
/// of each rank of the host.
struct CommonLayout {
  SumExchange exchange;  ///< devices (0: the host stands in for others), most_sums
  int members;
  std::size_t count() const { return 2 * exchange.turn_words() * sizeof(GpuFlag); }
  std::size_t test() const { return count() + flag_stride * sizeof(GpuFlag); }
  std::size_t bytes() const { return test() + static_cast<std::size_t>(members) * test_words * sizeof(std::uint64_t); }
};

/// True unless the call failed; its error is then forgotten, because the caller does without.
bool worked(cudaError_t result) {
  if (result != cudaSuccess) (void)cudaGetLastError();
  return result == cudaSuccess;
}

struct Exported {
  cudaIpcMemHandle_t handle{};
  bool valid = false;
};

/// Pieces of the process, by what all ranks said of them.
struct Kept {
  std::vector<std::uint64_t> key;
  std::shared_ptr<GpuPiece> piece;
  int device;
};
std::vector<Kept>& kept_pieces() {
  static auto* pieces = new std::vector<Kept>;  // device memory goes with the process
  return *pieces;
}

std::vector<void*>& kept_host_memory() {
  static auto* memory = new std::vector<void*>;
  return *memory;
}

void give_back(Job& job, int its_device, GpuPiece& piece) {
  const CurrentDevice device(its_device);
  for (std::size_t rank = 0; rank < piece.of_rank.size(); ++rank)
    if (piece.of_rank[rank] != nullptr && static_cast<int>(rank) != job.rank()) (void)worked(cudaIpcCloseMemHandle(piece.of_rank[rank]));
  job.barrier();
  (void)worked(cudaFree(piece.own));
  (void)worked(cudaFreeHost(piece.host));
}

/// Ordered pairs of ranks that may share memory, and what was found out about them, the same on all ranks.
class PairTable {
 public:
  PairTable(Job& job, const HostGroups& groups) : job_(job) {
    for (int from = 0; from < job.size(); ++from)
      for (int to = 0; to < job.size(); ++to)
        if (from != to && groups.together(from, to)) {
          numbers_[{from, to}] = pairs_.size();
          pairs_.push_back({from, to, false, 0});
        }
    mapped_.resize(pairs_.size());
    damaged_.resize(pairs_.size());
  }
  std::uint64_t& mapped(int from, int to) { return mapped_[numbers_.at({from, to})]; }
  std::uint64_t& damaged(int from, int to) { return damaged_[numbers_.at({from, to})]; }
  /// What each rank has noted of its own pairs is everybody's.
  void agree() {
    if (pairs_.empty()) return;
    job_.combine(std::span(mapped_), Combine::maximum);
    job_.combine(std::span(damaged_), Combine::maximum);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      pairs_[i].mapped = mapped_[i] != 0;
      pairs_[i].damaged = damaged_[i];
    }
  }
  const std::vector<GpuPeers::Pair>& pairs() const { return pairs_; }
  bool works(int from, int to) const {
    const GpuPeers::Pair& pair = pairs_[numbers_.at({from, to})];
    return pair.mapped && pair.damaged == 0;
  }

 private:
  Job& job_;
  std::vector<GpuPeers::Pair> pairs_;
  std::map<std::pair<int, int>, std::size_t> numbers_;
  std::vector<std::uint64_t> mapped_, damaged_;
};

}  // namespace

GpuPeers::GpuPeers(Job& job, int device, const std::string& obstacle, std::uint64_t patience_ns)
    : job_(job), device_(device), patience_ns_(patience_ns) {
  const std::vector<std::string> obstacles = job.gather_text(obstacle);
  const auto first = std::find_if(obstacles.begin(), obstacles.end(), [](const std::string& text) { return text.c_str()[0] != 0; });
  if (first != obstacles.end()) {
    verdict_ = fmt::format("through host memory: {}", first->c_str());
    if (job.is_fake()) return;
    if (const auto& of_session_before = job.native().transports; of_session_before != nullptr) of_session_before->exchange_by(nullptr);
    return;
  }
  if (job.native().transports == nullptr) job.native().transports = std::make_shared<Transports>(job, host_groups(job));
  try_pairs();
}

/// Maps the memory of the ranks whose GPUs this one's may reach directly. mapped: by rank; true also for all others.
std::shared_ptr<GpuPiece> GpuPeers::allocate(std::size_t bytes, std::size_t host_words, std::vector<bool>& mapped) {
  const CurrentDevice device(device_);
  const auto ranks = static_cast<std::size_t>(job_.size());
  auto piece = std::make_shared<GpuPiece>();
  piece->of_rank.assign(ranks, nullptr);
  mapped.assign(ranks, false);
  Exported exported;
  // An allocation of its own: a handle shows others all of the driver's page.
  constexpr std::size_t page = std::size_t{2} << 20;
  void* memory = nullptr;
  void* host = nullptr;
  if (worked(cudaMalloc(&memory, (bytes + page - 1) / page * page)))
    exported.valid =
        worked(cudaMemset(memory, 0, bytes)) && worked(cudaDeviceSynchronize()) && worked(cudaIpcGetMemHandle(&exported.handle, memory));
  if (exported.valid && host_words > 0) {
    exported.valid = worked(cudaHostAlloc(&host, host_words * sizeof(std::uint32_t), cudaHostAllocPortable | cudaHostAllocMapped));
    if (exported.valid) std::fill_n(static_cast<std::uint32_t*>(host), host_words, 0u);
  }
  piece->own = static_cast<std::byte*>(memory);
  piece->host = static_cast<std::uint32_t*>(host);
  const std::vector<Exported> all = job_.gather(exported);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    void* address = memory;
    mapped[rank] = all[rank].valid;
    if (!mapped[rank] || !job_.native().transports->direct[rank]) continue;
    if (static_cast<int>(rank) != job_.rank())
      mapped[rank] = worked(cudaIpcOpenMemHandle(&address, all[rank].handle, cudaIpcMemLazyEnablePeerAccess));
    if (mapped[rank]) piece->of_rank[rank] = static_cast<std::byte*>(address);
  }
  return piece;
}

void GpuPeers::release(GpuPiece& piece) { give_back(job_, device_, piece); }

void GpuPeers::try_pairs() {
  const int ranks = job_.size(), self = job_.rank();
  const auto count = static_cast<std::size_t>(ranks);
  Transports& transports = *job_.native().transports;
  const std::vector<int> members = transports.groups.ranks_of(transports.groups.of_rank[static_cast<std::size_t>(self)]);
  for (const int rank : members) transports.direct[static_cast<std::size_t>(rank)] = true;  // until it is tried
  CommonLayout layout{};
  layout.members = static_cast<int>(members.size());
  layout.exchange.devices = transports.groups.count == 1 && ranks <= SumExchange::most_devices ? ranks : 0;
  layout.exchange.most_sums = runtime::detail::most_sums_on_cuda;
  PairTable table(job_, transports.groups);
  const auto agree_on_direct = [&] {
    table.agree();
    for (const int rank : members)
      if (rank != self) transports.direct[static_cast<std::size_t>(rank)] = table.works(self, rank) && table.works(rank, self);
  };
  // One common piece for the process and its device: sessions follow each other.
  const std::vector<std::uint64_t> row{static_cast<std::uint64_t>(device_)};
  common_ = piece(layout.bytes(), count, row);
  if (common_ == nullptr) {  // some pair cannot be mapped: which?
    std::vector<bool> mapped;
    const std::shared_ptr<GpuPiece> tried = allocate(layout.bytes(), count, mapped);
    for (const int rank : members)
      if (rank != self) table.mapped(self, rank) = mapped[static_cast<std::size_t>(rank)] ? 1 : 0;
    release(*tried);
    agree_on_direct();
    common_ = piece(layout.bytes(), count, row);
  }
  if (common_ == nullptr) {
    pairs_ = table.pairs();
    verdict_ = "through host memory: a rank has no GPU memory left for mailboxes";
    return;
  }

  const CurrentDevice device(device_);
  const auto area = [&](int owner, int writer) {
    const auto member = static_cast<std::size_t>(std::find(members.begin(), members.end(), writer) - members.begin());
    return reinterpret_cast<std::uint64_t*>(common_->of_rank[static_cast<std::size_t>(owner)] + layout.test()) + member * test_words;
  };
  // Words of an earlier session must not pass for those of this one.
  static std::uint64_t sessions = 0;
  ++sessions;
  const auto seed = [&](int from, int to) {
    return (sessions * count + static_cast<std::size_t>(from)) * count + static_cast<std::size_t>(to);
  };
  load_gpu_messages();
  for (const int to : members) {
    if (to == self || common_->of_rank[static_cast<std::size_t>(to)] == nullptr) continue;
    enqueue_known_words(area(to, self), seed(self, to), test_words, nullptr);
    if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
      job_.fail_alone(
          fmt::format("cannot write into the GPU memory of {}: {}; set QUARKSTAR_GPU_IPC=off", job_.name_of(to), cudaGetErrorString(error)),
          static_cast<int>(ErrorKind::environment));
    }
    table.mapped(self, to) = 1;
  }
  table.agree();
  std::vector<std::uint64_t> words(test_words);
  for (const int from : members) {
    // What this rank could not map, that one is no partner, whatever has come from it.
    if (from == self || table.mapped(from, self) == 0 || common_->of_rank[static_cast<std::size_t>(from)] == nullptr) continue;
    const bool read = worked(cudaMemcpy(words.data(), area(self, from), test_words * sizeof(std::uint64_t), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < test_words; ++i) table.damaged(from, self) += !read || words[i] != known_word(seed(from, self), i) ? 1 : 0;
  }
  agree_on_direct();
  pairs_ = table.pairs();
  usable_ = true;

  std::string wrong;
  for (const Pair& pair : pairs_) {
    if (!wrong.empty() || (pair.mapped && pair.damaged == 0)) continue;
    wrong = !pair.mapped
                ? fmt::format("{} cannot map the GPU memory of {}", job_.name_of(pair.from), job_.name_of(pair.to))
                : fmt::format("{} words from {} arrive damaged at {}", pair.damaged, job_.name_of(pair.from), job_.name_of(pair.to));
  }
  const auto among = std::count_if(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
    return pair.from < pair.to && table.works(pair.from, pair.to) && table.works(pair.to, pair.from);
  });
  const std::int64_t all_pairs = std::int64_t{ranks} * (ranks - 1) / 2;
  verdict_ = among == all_pairs ? fmt::format("from GPU to GPU, tried between all {} ranks", ranks)
                                : fmt::format("from GPU to GPU between {} of {} pairs of ranks, others by the threads of their hosts{}{}",
                                              among, all_pairs, wrong.empty() ? "" : ": ", wrong);
  leaves_out_refreshes_ = !job_.any(!ConditionalGraph::is_possible());
  const bool all_direct = among == all_pairs;
  if (!all_direct) transports.proxy();
  if (all_direct && layout.exchange.devices == ranks) {
    transports.exchange_by(nullptr);
    exchange_ = layout.exchange;
    exchange_.self = self;
    for (std::size_t rank = 0; rank < count; ++rank)
      exchange_.to[rank] = reinterpret_cast<GpuFlag*>(common_->of_rank[rank]) + static_cast<std::size_t>(self) * exchange_.place_words();
    exchange_.from = reinterpret_cast<const GpuFlag*>(common_->own);
    exchange_.count = reinterpret_cast<GpuFlag*>(common_->own + layout.count());
  } else {
    // Numbers begin anew with each session, at both ends; those of exchanges between GPUs go on, so the counter is another one.
    if (transports.exchange_memory == nullptr)
      transports.exchange_memory = reinterpret_cast<GpuFlag*>(host_memory_of_gpu(HostExchange::words() * sizeof(GpuFlag)));
    GpuFlag* const memory = transports.exchange_memory;
    auto* const exchanges = reinterpret_cast<GpuFlag*>(common_->own + layout.count()) + 1;
    const bool ready = memory != nullptr && worked(cudaMemset(exchanges, 0, sizeof *exchanges)) && worked(cudaDeviceSynchronize());
    if (job_.any(!ready)) {
      usable_ = false;
      verdict_ = "through host memory: a rank has no memory left for sums";
      return;
    }
    std::fill_n(memory, HostExchange::words(), GpuFlag{0});
    transports.exchange_by(memory);
    exchange_ = HostExchange::for_gpu(memory);
    exchange_.count = exchanges;
  }
  exchange_.patience_ns = patience_ns_;
  exchange_.late = common_->host;
}

std::shared_ptr<GpuPiece> GpuPeers::piece(std::size_t bytes, std::size_t host_words, std::span<const std::uint64_t> row) {
  const auto ranks = static_cast<std::size_t>(job_.size());
  static const std::uint64_t process = (std::uint64_t{std::random_device{}()} << 32) + static_cast<std::uint64_t>(getpid());
  std::vector<std::uint64_t> mine{process, static_cast<std::uint64_t>(device_), bytes,
                                  host_words};  // jobs of a process may have other ranks
  mine.insert(mine.end(), row.begin(), row.end());
  std::vector<std::uint64_t> key(ranks * mine.size(), 0);
  std::copy(mine.begin(), mine.end(), key.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(job_.rank()) * mine.size()));
  job_.combine(std::span(key), Combine::sum);

  std::vector<Kept>& kept = kept_pieces();
  const auto free = std::find_if(kept.begin(), kept.end(), [&](const Kept& k) { return k.key == key && k.piece.use_count() == 1; });
  // Ranks make and leave pieces in the same order, so they find the same; a rank that does not takes all to a new one.
  const auto found = static_cast<std::uint64_t>(free - kept.begin());
  std::uint64_t most[2] = {found, ~found};
  job_.combine(std::span(most), Combine::maximum);
  if (most[0] == ~most[1] && free != kept.end()) return free->piece;

  std::vector<bool> mapped;
  auto fresh = allocate(bytes, host_words, mapped);
  if (job_.any(std::find(mapped.begin(), mapped.end(), false) != mapped.end())) {
    release(*fresh);  // no rank uses it
    return nullptr;
  }
  fresh->row_length = row.size();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto begin = key.begin() + static_cast<std::ptrdiff_t>(rank * mine.size() + mine.size() - row.size());
    fresh->rows.insert(fresh->rows.end(), begin, begin + static_cast<std::ptrdiff_t>(row.size()));
  }
  kept.push_back({std::move(key), fresh, device_});
  return fresh;
}

void free_kept_pieces(Job& job) {
  job.native().transports.reset();
  for (const Kept& one : kept_pieces()) give_back(job, one.device, *one.piece);
  kept_pieces().clear();
  for (void* memory : kept_host_memory()) (void)worked(cudaFreeHost(memory));
  kept_host_memory().clear();
}

std::byte* host_memory_of_gpu(std::size_t bytes) {
  void* memory = nullptr;
  if (!worked(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped))) return nullptr;
  std::fill_n(static_cast<std::byte*>(memory), bytes, std::byte{});
  kept_host_memory().push_back(memory);
  return static_cast<std::byte*>(memory);
}

void give_back_host_memory() {
  (void)worked(cudaFreeHost(kept_host_memory().back()));
  kept_host_memory().pop_back();
}
#endif

}  // namespace quarkstar::runtime::mpi
