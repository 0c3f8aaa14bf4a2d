#pragma once
// The OpenMP threads that one CPU worker commands, bound to the cores of its domain.
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace quarkstar::runtime {

/// A fixed set of threads that split index ranges statically: the same thread touches the same part of a field in every
/// call, so pages stay on the memory node of the core that first wrote them.
class Team {
 public:
  /// cores: hwloc logical indices, one a thread; the calling worker becomes thread 0.
  explicit Team(std::vector<int> cores) : cores_(std::move(cores)) {}

  int threads() const { return static_cast<int>(cores_.size()); }
  const std::vector<int>& cores() const { return cores_; }

  /// Binds every thread to its core. Threads inherit the mask of who makes them, on a StarPU worker one core, which is the team's
  /// meanwhile: this must run once on the worker's own thread before the first parallel region.
  void bind() const;

  /// Runs body(begin, end, thread) on every thread over [0, items) cut into threads() contiguous parts. Where OpenMP gives
  /// fewer threads, one thread runs several parts: every part runs once.
  /// body must not throw: exceptions cannot cross a task boundary.
  template <class Body>
  void for_range(std::int64_t items, Body&& body) const {
    using Plain = std::remove_reference_t<Body>;
    run(
        items,
        [](void* object, std::int64_t begin, std::int64_t end, int thread) noexcept { (*static_cast<Plain*>(object))(begin, end, thread); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  using RangeFunction = void (*)(void*, std::int64_t, std::int64_t, int) noexcept;
  void run(std::int64_t items, RangeFunction function, void* object) const;

  std::vector<int> cores_;
};

}  // namespace quarkstar::runtime
