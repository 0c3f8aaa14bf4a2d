#pragma once
// Numbers as files store them: fixed width, either byte order, no alignment.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace quarkstar::format {

enum class ByteOrder { little, big };

constexpr ByteOrder native_order = std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

constexpr ByteOrder opposite(ByteOrder order) { return order == ByteOrder::little ? ByteOrder::big : ByteOrder::little; }

constexpr const char* to_string(ByteOrder order) { return order == ByteOrder::little ? "little" : "big"; }

namespace detail {
template <std::size_t bytes>
struct Unsigned;
template <>
struct Unsigned<2> {
  using type = std::uint16_t;
  static constexpr type swap(type value) { return __builtin_bswap16(value); }
};
template <>
struct Unsigned<4> {
  using type = std::uint32_t;
  static constexpr type swap(type value) { return __builtin_bswap32(value); }
};
template <>
struct Unsigned<8> {
  using type = std::uint64_t;
  static constexpr type swap(type value) { return __builtin_bswap64(value); }
};
}  // namespace detail

/// Number of type T (2, 4 or 8 bytes, integer or IEEE real) stored at `in`.
template <class T>
T load(const std::byte* in, ByteOrder order) {
  using Bits = detail::Unsigned<sizeof(T)>;
  typename Bits::type bits;
  std::memcpy(&bits, in, sizeof bits);
  if (order != native_order) bits = Bits::swap(bits);
  return std::bit_cast<T>(bits);
}

/// Inverse of load().
template <class T>
void store(std::byte* out, T value, ByteOrder order) {
  using Bits = detail::Unsigned<sizeof(T)>;
  auto bits = std::bit_cast<typename Bits::type>(value);
  if (order != native_order) bits = Bits::swap(bits);
  std::memcpy(out, &bits, sizeof bits);
}

}  // namespace quarkstar::format
