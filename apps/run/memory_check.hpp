#pragma once
// What a solve will take of each memory, told and checked before it starts.
#include "apps/run/config.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/cut/decomposition.hpp"
#include "solvers/footprint.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::app {

/// One memory: a GPU's, or the host's.
struct MemoryNeed {
  std::string where;
  bool gpu = false;
  Footprint fields;         ///< of the blocks that live there, and on the host the copies of those that live on GPUs
  double other = 0;         ///< host: configuration, the links made of it, sources and solutions
  double making_links = 0;  ///< all that is there while links or a clover term are made, before the fields
  double available = 0;     ///< 0: not known
  bool of_eigen = false;    ///< of a run for eigenvectors, which has remedies of its own
  /// At the peak.
  double total() const { return std::max(fields.total() + other, making_links); }
  bool fits() const { return available == 0 || total() <= available; }
};

/// The needs of this rank: of every GPU that owns blocks of it, then the host's, whose memory the ranks of one host share evenly. To be
/// asked before the configuration is read. islands: what each holds of the lattice, config.solver.in_flight groups at a time; links are
/// made on the first. Staggered: a GPU that owns no block may still make links. All ranks must call.
std::vector<MemoryNeed> memory_needs(const runtime::Session& session, std::span<const runtime::Decomposition> islands,
                                     const RunConfig& config);

/// On all ranks. All must call.
bool fits_everywhere(const std::vector<MemoryNeed>& needs);

/// Throws Error(input) naming what is needed, what is available and what helps, for the first memory that is too small.
void require_memory(const std::vector<MemoryNeed>& needs);

/// "GPU 0: 1.20 GiB of 126.40 GiB (links 0.8, ...)": one line a memory.
std::string memory_text(const MemoryNeed& need);

}  // namespace quarkstar::app
