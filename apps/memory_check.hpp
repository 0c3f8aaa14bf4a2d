#pragma once
// What a solve will take of each memory, told and checked before it starts.
#include <string>
#include <vector>

#include "apps/config.hpp"
#include "runtime/decomposition.hpp"
#include "solvers/footprint.hpp"

namespace quarkstar::app {

/// One memory: a GPU's, or the host's.
struct MemoryNeed {
  std::string where;
  bool gpu = false;
  Footprint fields;      ///< of the blocks that live there, and on the host the copies of those that live on GPUs
  double other = 0;      ///< host: configuration, source and solutions
  double available = 0;  ///< 0: not known
  double total() const { return fields.total() + other; }
};

/// The needs of this rank: of every GPU that owns blocks of it, then the host's, whose memory the ranks of one host share evenly. To be
/// asked before the configuration is read. All ranks must call.
std::vector<MemoryNeed> memory_needs(const runtime::Session& session, const runtime::Decomposition& decomposition, const RunConfig& config);

/// Throws Error(input) naming what is needed, what is available and what helps, for the first memory that is too small.
void require_memory(const std::vector<MemoryNeed>& needs);

/// "GPU 0: 1.20 GiB of 126.40 GiB (links 0.8, ...)": one line a memory.
std::string memory_text(const MemoryNeed& need);

}  // namespace quarkstar::app
