#pragma once
// Handles with a type and a shape: what tasks written for them see as elements of up to five indices.
#include "runtime/graph/handle.hpp"
#include "runtime/system/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace quarkstar::runtime {

inline constexpr int most_dimensions = 5;

/// Elements in memory, the first index fastest, as everywhere in the package: element (i, j, k) of extents (I, J, K) is data[i + I (j + J
/// k)]. D = 0: one element. Indices are not checked.
template <class T, int D>
struct View {
  static_assert(D >= 0 && D <= most_dimensions, "arrays have up to five dimensions");
  T* data = nullptr;
  std::array<std::int64_t, static_cast<std::size_t>(D)> extents{};

  template <class... Index>
  requires(sizeof...(Index) == D && D > 0) T& operator()(Index... index) const {
    const std::int64_t indices[] = {static_cast<std::int64_t>(index)...};
    std::int64_t place = 0;
    for (int d = D - 1; d >= 0; --d) place = place * extents[static_cast<std::size_t>(d)] + indices[d];
    return data[place];
  }
  T& operator[](std::int64_t place) const { return data[place]; }
  T& operator*() const requires(D == 0) { return *data; }
  T* operator->() const requires(D == 0) { return data; }
  std::int64_t size() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents) count *= extent;
    return count;
  }
};

/// A handle of that many elements. Movable, not copyable; its life is the handle's.
template <class T, int D>
class Array {
  static_assert(D >= 1 && D <= most_dimensions, "arrays have one to five dimensions");
  static_assert(std::is_trivially_copyable_v<T>, "elements move between memories as bytes");

 public:
  using Extents = std::array<std::int64_t, static_cast<std::size_t>(D)>;

  Array() = default;
  /// Elements have no value until a task or the host writes them. Throws Error(input) for an extent below 1, and beyond 256 GiB.
  explicit Array(const Extents& extents) : handle_(bytes_of(extents)), extents_(extents) {}
  template <class... Extent>
  requires(sizeof...(Extent) == D && (std::is_integral_v<Extent> && ...)) explicit Array(Extent... extent)
      : Array(Extents{static_cast<std::int64_t>(extent)...}) {}

  const Handle& handle() const { return handle_; }
  const Extents& extents() const { return extents_; }
  std::int64_t extent(int d) const { return extents_[static_cast<std::size_t>(d)]; }
  std::int64_t size() const { return View<T, D>{nullptr, extents_}.size(); }

 private:
  static std::size_t bytes_of(const Extents& extents) {
    std::size_t bytes = sizeof(T);
    for (const std::int64_t extent : extents) {
      if (extent < 1)
        throw Error(ErrorKind::input, "Array", "an extent is " + std::to_string(extent), "give each direction one element at least");
      if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes))
        throw Error(ErrorKind::input, "Array", "the extents have more elements than memory can hold", "give smaller ones");
    }
    return bytes;
  }
  Handle handle_;
  Extents extents_{};
};

/// The host's view of an array, held open while the object lives. Waits for the tasks that must come first.
template <class T, int D>
class HostArray : public View<T, D> {
 public:
  explicit HostArray(const Array<T, D>& array, HostAccess access = HostAccess::read) : view_(array.handle(), access) {
    this->data = view_.get();
    this->extents = array.extents();
  }

 private:
  HostView<T> view_;
};

}  // namespace quarkstar::runtime
