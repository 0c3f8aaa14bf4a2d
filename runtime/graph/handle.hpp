#pragma once
// A piece of memory that the task graph tracks: StarPU's data handle with an owner.
#include "runtime/graph/handle_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

struct _starpu_data_state;

namespace quarkstar::runtime {

/// Registers a byte range with the runtime, which keeps its copies on the memory nodes coherent. Movable, not copyable.
/// Without memory of its own (the usual case) the range is allocated where a task first writes it, 64-byte aligned.
/// Destroying a handle waits for nothing: tasks already submitted on it complete first, then the memory goes. A frozen handle's
/// readers are not tracked, so destroying it waits for every task. Where a pool is in use (runtime/graph/handle_pool.hpp) handles come from
/// there.
class Handle {
 public:
  Handle() = default;
  /// Throws Error(input) beyond 256 GiB.
  explicit Handle(std::size_t bytes);
  ~Handle() { release(); }
  Handle(Handle&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        copies_(std::move(other.copies_)),
        pool_(std::move(other.pool_)),
        number_(other.number_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      release();
      state_ = std::exchange(other.state_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
      copies_ = std::move(other.copies_);
      pool_ = std::move(other.pool_);
      number_ = other.number_;
    }
    return *this;
  }

  explicit operator bool() const { return state_ != nullptr; }
  std::size_t bytes() const { return bytes_; }
  _starpu_data_state* state() const { return state_; }

  /// Another handle of the same size, for the tasks of one owner who keeps a copy of its own (runtime/graph/segments.hpp); made at the
  /// first call and gone with this handle. What is in it is up to the tasks.
  const Handle& copy_of(int owner) const;

  /// From here on tasks only read: the runtime stops tracking an order between them (about 1 us less per task).
  /// Waits for the writers submitted so far.
  void freeze();

 private:
  void release() noexcept;
  _starpu_data_state* state_ = nullptr;
  std::size_t bytes_ = 0;
  mutable std::unique_ptr<std::map<int, Handle>> copies_;
  std::shared_ptr<HandlePool> pool_;  ///< where it goes back to
  std::uint64_t number_ = 0;          ///< its number there
};

enum class HostAccess { read, modify, overwrite };

namespace detail {
void* acquire(const Handle& handle, HostAccess access);
void release(const Handle& handle) noexcept;
}  // namespace detail

/// Host view of a handle, held open while the object lives. Waits for the tasks that must come first.
template <class T>
class HostView {
 public:
  explicit HostView(const Handle& handle, HostAccess access = HostAccess::read)
      : handle_(handle), pointer_(static_cast<T*>(detail::acquire(handle, access))) {}
  ~HostView() { detail::release(handle_); }
  HostView(const HostView&) = delete;
  HostView& operator=(const HostView&) = delete;
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  T& operator[](std::size_t i) const { return pointer_[i]; }
  T* get() const { return pointer_; }

 private:
  const Handle& handle_;
  T* pointer_;
};

}  // namespace quarkstar::runtime
