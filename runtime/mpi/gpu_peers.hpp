#pragma once
// Memory of this host's GPUs that all its ranks reach: mapped by CUDA's inter-process handles, and tried with real bytes first.
#include "runtime/gpu/gpu_messages.hpp"
#include "runtime/gpu/sum_exchange.hpp"
#include "runtime/mpi/job.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::runtime::mpi {

/// A piece of every rank's GPU memory, zeroed at first. It goes with the process: other ranks may still write the last answer into it.
struct GpuPiece {
  std::byte* own = nullptr;         ///< this rank's part, also where others cannot map it
  std::vector<std::byte*> of_rank;  ///< addresses in this process
  std::uint32_t* host = nullptr;    ///< zeroed words of this rank's host memory that its kernels can write
  std::vector<std::uint64_t> rows;  ///< what each rank said of its piece, by rank
  std::size_t row_length = 0;
  std::uint64_t said_by(int rank, std::size_t i) const { return rows[static_cast<std::size_t>(rank) * row_length + i]; }
};

class GpuPeers {
 public:
  /// device: number of this rank's GPU. obstacle: why this rank cannot take part; "": it can. Collective, as all its calls.
  /// Maps the GPU memory of all ranks everywhere, and writes and checks known words between every two of them. The verdict says what is
  /// wrong. Only a fault while a GPU writes ends the job, with the names of the two ranks: it stays with the process, so that nothing could
  /// go through host memory either. Throws nothing.
  GpuPeers(Job& job, int device, const std::string& obstacle, std::uint64_t patience_ns);

  /// Whether messages may go from GPU to GPU: the same on every rank.
  bool usable() const { return usable_; }
  /// One line: "from GPU to GPU, tried between all 2 ranks", or why not.
  const std::string& verdict() const { return verdict_; }

  struct Pair {
    int from = 0, to = 0;
    bool mapped = false;        ///< the sender could map the receiver's memory
    std::uint64_t damaged = 0;  ///< words that arrived with another value
  };
  /// Every ordered pair that was tried.
  const std::vector<Pair>& pairs() const { return pairs_; }

  /// A piece of `bytes` on this rank; rows of equal length on all ranks describe it. A free one with the same rows on all ranks is used
  /// again, with the contents that it was left with. Nothing where a rank has no memory left.
  std::shared_ptr<GpuPiece> piece(std::size_t bytes, std::size_t host_words, std::span<const std::uint64_t> row);

  /// Where the scalar steps of all ranks exchange their sums, where usable().
  const SumExchange& sum_exchange() const { return exchange_; }
  /// Whether graphs leave out refreshes that are not due (runtime/gpu/conditional_graph.hpp): on every rank or on none,
  /// because refreshes have messages too.
  bool leaves_out_refreshes() const { return leaves_out_refreshes_; }
  std::uint64_t patience_ns() const { return patience_ns_; }

 private:
  std::shared_ptr<GpuPiece> allocate(std::size_t bytes, std::size_t host_words, std::vector<bool>& mapped);
  /// What a rank mapped and made goes back. Collective; nothing may be under way in the piece.
  void release(GpuPiece& piece);
  void try_pairs();

  Job& job_;
  int device_;
  std::uint64_t patience_ns_;
  bool usable_ = false, leaves_out_refreshes_ = false;
  std::string verdict_;
  std::vector<Pair> pairs_;
  std::shared_ptr<GpuPiece> common_;
  SumExchange exchange_{};
};

}  // namespace quarkstar::runtime::mpi
