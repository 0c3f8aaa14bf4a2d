#pragma once
// Runs of reals between file bytes and doubles.
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/io/byteorder.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <new>
#include <span>
#include <string_view>
#include <vector>

namespace quarkstar::format {

namespace detail {
template <class Real>
void decode_reals(const std::byte* in, ByteOrder order, std::span<double> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = load<Real>(in + i * sizeof(Real), order);
}

template <class Real>
bool encode_reals(std::span<const double> in, ByteOrder order, std::byte* out) {
  bool finite = true;
  for (std::size_t i = 0; i < in.size(); ++i) {
    // A double outside float's range has no defined conversion, so the range is looked at first.
    const bool fits = std::abs(in[i]) <= static_cast<double>(std::numeric_limits<Real>::max());
    finite = finite && fits;
    store(out + i * sizeof(Real), fits ? static_cast<Real>(in[i]) : Real{}, order);
  }
  return finite;
}
}  // namespace detail

/// out.size() reals of 4 or 8 bytes stored at `in`, as doubles.
inline void decode_reals(int real_bytes, const std::byte* in, ByteOrder order, std::span<double> out) {
  if (real_bytes == 4) {
    detail::decode_reals<float>(in, order, out);
  } else {
    detail::decode_reals<double>(in, order, out);
  }
}

/// Inverse of decode_reals(). Returns false if a number is not finite in that width; it is stored as zero.
inline bool encode_reals(int real_bytes, std::span<const double> in, ByteOrder order, std::byte* out) {
  return real_bytes == 4 ? detail::encode_reals<float>(in, order, out) : detail::encode_reals<double>(in, order, out);
}

/// `count` numbers without values, or Error(environment) if there is no memory for them. where: the file, for the message.
inline HostReals allocate_reals(std::string_view where, std::size_t count) {
  try {
    return HostReals(count);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::environment, where,
                fmt::format("its data need {:.1f} GiB of memory, which the system does not give",
                            static_cast<double>(count) * sizeof(double) / (1 << 30)),
                "use a machine with more memory");
  }
}

}  // namespace quarkstar::format
