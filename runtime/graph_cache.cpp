#ifdef QUARKSTAR_CUDA
#include "runtime/graph_cache.hpp"

#include <cuda_runtime_api.h>

#include <list>

namespace quarkstar::runtime {
namespace {

struct Entry {
  std::vector<std::byte> key;
  cudaGraphExec_t graph = nullptr;
};

class Cache {
 public:
  ~Cache() {
    for (Entry& entry : entries_)
      if (entry.graph != nullptr) cudaGraphExecDestroy(entry.graph);
  }

  /// The entry of a key, most recently used first; a new one has no graph yet.
  std::pair<Entry&, bool> find(std::vector<std::byte> key) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
      if (entry->key == key) {
        entries_.splice(entries_.begin(), entries_, entry);
        return {entries_.front(), true};
      }
    if (entries_.size() == most) {
      if (entries_.back().graph != nullptr) cudaGraphExecDestroy(entries_.back().graph);
      entries_.pop_back();
    }
    entries_.push_front({std::move(key), nullptr});
    return {entries_.front(), false};
  }

 private:
  static constexpr std::size_t most = 8;
  std::list<Entry> entries_;
};

}  // namespace

void run_through_graph(std::vector<std::byte> key, CudaStream stream, const std::function<void()>& enqueue, bool at_once) {
  static thread_local Cache cache;
  const auto [entry, seen] = cache.find(std::move(key));
  if (!seen && !at_once) return enqueue();
  if (entry.graph == nullptr) {
    cudaGraph_t graph = nullptr;
    // Relaxed: other threads of the runtime may call what a strict capture forbids.
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    enqueue();
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&entry.graph, graph, 0);
    cudaGraphDestroy(graph);
  }
  cudaGraphLaunch(entry.graph, stream);
  check_launch("graph replay");
}

}  // namespace quarkstar::runtime
#endif
