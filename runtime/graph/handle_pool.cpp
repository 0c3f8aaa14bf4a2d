#include "runtime/graph/handle_pool.hpp"

#include "runtime/graph/turns.hpp"

#include <starpu.h>

#include <utility>

namespace quarkstar::runtime {
namespace {
thread_local std::shared_ptr<HandlePool> current;
}

HandlePool::Use::Use(std::shared_ptr<HandlePool> pool) : before_(std::exchange(current, std::move(pool))) {}
HandlePool::Use::~Use() { current = std::move(before_); }

std::shared_ptr<HandlePool> HandlePool::in_use() { return current; }

HandlePool::Kept HandlePool::take(std::size_t bytes) {
  const auto of_size = kept_.find(bytes);
  if (of_size == kept_.end() || of_size->second.empty()) return {nullptr, made_++};
  const auto first = of_size->second.begin();
  const Kept taken{first->second, first->first};
  of_size->second.erase(first);
  return taken;
}

void HandlePool::trim() noexcept {
  if (starpu_is_initialized())
    for (const auto& [bytes, handles] : kept_)
      for (const auto& [number, state] : handles) starpu_data_unregister_submit(state);
  kept_.clear();
}

std::size_t HandlePool::kept() const {
  std::size_t count = 0;
  for (const auto& [bytes, handles] : kept_) count += handles.size();
  return count;
}

std::shared_ptr<HandlePool> HandlePools::mine(int shape) {
  const auto lane = static_cast<std::size_t>(Turns::lane());
  if (lanes_.size() <= lane) lanes_.resize(lane + 1);
  Lane& found = lanes_[lane];
  if (found.pool == nullptr) found.pool = std::make_shared<HandlePool>();
  if (std::exchange(found.shape, shape) != shape) found.pool->trim();
  return found.pool;
}

}  // namespace quarkstar::runtime
