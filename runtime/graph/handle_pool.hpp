#pragma once
// Handles for programs that make and give up the same ones again and again.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

struct _starpu_data_state;

namespace quarkstar::runtime {

/// Keeps the handles that one program has given up for the next one. A program that makes and gives up handles in the same order as the one
/// before gets each of them back, with its memory on every device: nothing is allocated or pinned anew, and a batch of the
/// second program is the batch of the first, whose CUDA graph is replayed. What is in a handle is left over from its last use;
/// tasks of that use come before those of the new one. The memory stays taken until trim() or the end of the pool. For one thread at a
/// time.
class HandlePool : public std::enable_shared_from_this<HandlePool> {
 public:
  HandlePool() = default;
  ~HandlePool() { trim(); }
  HandlePool(const HandlePool&) = delete;
  HandlePool& operator=(const HandlePool&) = delete;

  /// While it lives, handles that this thread makes come from the pool; they go back to it whenever they end.
  class Use {
   public:
    explicit Use(std::shared_ptr<HandlePool> pool);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    std::shared_ptr<HandlePool> before_;
  };
  /// That of this thread; nullptr: handles are made anew.
  static std::shared_ptr<HandlePool> in_use();

  /// Gives up what is kept.
  void trim() noexcept;
  /// How many handles are kept.
  std::size_t kept() const;

  /// A handle and its number in the order in which the pool's handles were first made.
  struct Kept {
    _starpu_data_state* state = nullptr;
    std::uint64_t number = 0;
  };
  /// Of those kept with this size, the one that was made first: the blocks of a field so get those of an earlier field, each its owner's.
  /// Without any, no state, and the number for a new one.
  Kept take(std::size_t bytes);
  void give_back(std::size_t bytes, const Kept& handle) { kept_[bytes].emplace(handle.number, handle.state); }

 private:
  std::map<std::size_t, std::map<std::uint64_t, _starpu_data_state*>> kept_;
  std::uint64_t made_ = 0;
};

/// A pool for each program in flight (runtime/graph/turns.hpp).
class HandlePools {
 public:
  /// That of the program which has the turn. shape: what the sizes of its handles follow from; when it changes, what is kept is given up.
  std::shared_ptr<HandlePool> mine(int shape = 0);

 private:
  struct Lane {
    std::shared_ptr<HandlePool> pool;
    int shape = 0;
  };
  std::vector<Lane> lanes_;
};

}  // namespace quarkstar::runtime
