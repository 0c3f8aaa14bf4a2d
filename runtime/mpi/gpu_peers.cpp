#include "runtime/mpi/gpu_peers.hpp"

#include "runtime/mpi/kept_pieces.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <random>

#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/conditional_graph.hpp"
#include "runtime/gpu/current_device.hpp"
#include "runtime/graph/scalar.hpp"

#include <cuda_runtime_api.h>
#endif

namespace quarkstar::runtime::mpi {

#ifndef QUARKSTAR_CUDA
GpuPeers::GpuPeers(Job& job, int device, const std::string&, std::uint64_t patience_ns)
    : job_(job), device_(device), patience_ns_(patience_ns), verdict_("through host memory: this build has no GPU code") {}
std::shared_ptr<GpuPiece> GpuPeers::piece(std::size_t, std::size_t, std::span<const std::uint64_t>) { return nullptr; }
void free_kept_pieces(Job&) {}
#else
namespace {

constexpr std::size_t test_words = std::size_t{1} << 13;

/// Where things lie in the common piece of a rank: words of exchanges, their number, words to try the memory with.
struct CommonLayout {
  SumExchange exchange;  ///< devices, most_sums
  std::size_t count() const { return 2 * exchange.turn_words() * sizeof(GpuFlag); }
  std::size_t test() const { return count() + flag_stride * sizeof(GpuFlag); }
  std::size_t bytes() const { return test() + static_cast<std::size_t>(exchange.devices) * test_words * sizeof(std::uint64_t); }
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

void give_back(Job& job, int its_device, GpuPiece& piece) {
  const CurrentDevice device(its_device);
  for (std::size_t rank = 0; rank < piece.of_rank.size(); ++rank)
    if (piece.of_rank[rank] != nullptr && static_cast<int>(rank) != job.rank()) (void)worked(cudaIpcCloseMemHandle(piece.of_rank[rank]));
  job.barrier();
  (void)worked(cudaFree(piece.own));
  (void)worked(cudaFreeHost(piece.host));
}

}  // namespace

GpuPeers::GpuPeers(Job& job, int device, const std::string& obstacle, std::uint64_t patience_ns)
    : job_(job), device_(device), patience_ns_(patience_ns) {
  const std::vector<std::string> obstacles = job.gather_text(obstacle);
  const auto first = std::find_if(obstacles.begin(), obstacles.end(), [](const std::string& text) { return text.c_str()[0] != 0; });
  if (first != obstacles.end()) {
    verdict_ = fmt::format("through host memory: {}", first->c_str());
    return;
  }
  try_pairs();
}

/// mapped: by rank.
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
    if (mapped[rank] && static_cast<int>(rank) != job_.rank())
      mapped[rank] = worked(cudaIpcOpenMemHandle(&address, all[rank].handle, cudaIpcMemLazyEnablePeerAccess));
    if (mapped[rank]) piece->of_rank[rank] = static_cast<std::byte*>(address);
  }
  return piece;
}

void GpuPeers::release(GpuPiece& piece) { give_back(job_, device_, piece); }

void GpuPeers::try_pairs() {
  const int ranks = job_.size();
  const auto count = static_cast<std::size_t>(ranks), self = static_cast<std::size_t>(job_.rank());
  CommonLayout layout{};
  layout.exchange.devices = ranks;
  layout.exchange.most_sums = runtime::detail::most_sums_on_cuda;
  // One common piece for the process and its device: sessions follow each other.
  std::vector<bool> mapped;
  std::vector<std::uint64_t> row{static_cast<std::uint64_t>(device_)};
  common_ = piece(layout.bytes(), count, row);
  const bool all_mapped = common_ != nullptr;
  if (!all_mapped) common_ = allocate(layout.bytes(), count, mapped);  // for the sake of the verdict
  else mapped.assign(count, true);

  std::vector<std::uint64_t> reached(count * count, 0), damaged(count * count, 0);
  const CurrentDevice device(device_);
  const auto area = [&](std::size_t owner, std::size_t writer) {
    return reinterpret_cast<std::uint64_t*>(common_->of_rank[owner] + layout.test()) + writer * test_words;
  };
  // Words of an earlier session must not pass for those of this one.
  static std::uint64_t sessions = 0;
  ++sessions;
  const auto seed = [&](std::size_t from, std::size_t to) { return (sessions * count + from) * count + to; };
  load_gpu_messages();
  for (std::size_t to = 0; to < count; ++to) {
    if (to == self || !mapped[to]) continue;
    enqueue_known_words(area(to, self), seed(self, to), test_words, nullptr);
    if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
      job_.fail_alone(fmt::format("cannot write into the GPU memory of {}: {}; set QUARKSTAR_GPU_IPC=off",
                                  job_.name_of(static_cast<int>(to)), cudaGetErrorString(error)),
                      static_cast<int>(ErrorKind::environment));
    }
    reached[self * count + to] = 1;
  }
  job_.barrier();
  std::vector<std::uint64_t> words(test_words);
  job_.combine(std::span(reached), Combine::sum);
  for (std::size_t from = 0; from < count; ++from) {
    if (from == self || reached[from * count + self] == 0) continue;
    const bool read = worked(cudaMemcpy(words.data(), area(self, from), test_words * sizeof(std::uint64_t), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < test_words; ++i)
      damaged[from * count + self] += !read || words[i] != known_word(seed(from, self), i) ? 1 : 0;
  }
  job_.combine(std::span(damaged), Combine::sum);

  std::string wrong;
  for (std::size_t from = 0; from < count; ++from)
    for (std::size_t to = 0; to < count; ++to) {
      if (from == to) continue;
      const Pair pair{static_cast<int>(from), static_cast<int>(to), reached[from * count + to] != 0, damaged[from * count + to]};
      pairs_.push_back(pair);
      if (!wrong.empty() || (pair.mapped && pair.damaged == 0)) continue;
      wrong = !pair.mapped
                  ? fmt::format("{} cannot map the GPU memory of {}", job_.name_of(pair.from), job_.name_of(pair.to))
                  : fmt::format("{} words from {} arrive damaged at {}", pair.damaged, job_.name_of(pair.from), job_.name_of(pair.to));
    }
  usable_ = all_mapped && wrong.empty();
  verdict_ = usable_ ? fmt::format("from GPU to GPU, tried between all {} ranks", ranks)
                     : fmt::format("through host memory: {}", wrong.empty() ? "a rank has no GPU memory left for mailboxes" : wrong);
  if (!all_mapped) {
    release(*common_);
    common_.reset();
  }
  if (!usable_) return;

  exchange_ = layout.exchange;
  exchange_.self = job_.rank();
  exchange_.patience_ns = patience_ns_;
  for (std::size_t rank = 0; rank < count; ++rank)
    exchange_.to[rank] = reinterpret_cast<GpuFlag*>(common_->of_rank[rank]) + self * exchange_.place_words();
  std::byte* here = common_->of_rank[self];
  exchange_.from = reinterpret_cast<const GpuFlag*>(here);
  exchange_.count = reinterpret_cast<GpuFlag*>(here + layout.count());
  exchange_.late = common_->host;
  leaves_out_refreshes_ = !job_.any(!ConditionalGraph::is_possible());
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
  for (const Kept& one : kept_pieces()) give_back(job, one.device, *one.piece);
  kept_pieces().clear();
}
#endif

}  // namespace quarkstar::runtime::mpi
