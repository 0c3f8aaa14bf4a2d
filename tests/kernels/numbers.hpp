#pragma once
// Made-up fields that are the same on every machine, and checksums of what kernels make of them.
#include "codelets/arch/lane.hpp"
#include "codelets/field/storage.hpp"
#include "codelets/lattice/random.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <complex>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::kernels {

using Complex = std::complex<double>;

/// The numbers of one stream. Only operations that every machine rounds alike.
class Numbers {
 public:
  explicit Numbers(std::uint64_t stream) : random_(20261121, RandomPurpose::noise_source, 0, stream) {}

  /// Uniform in (-1, 1).
  double real() {
    if (used_ == 4) {
      group_ = random_.uniforms();
      used_ = 0;
    }
    return 2 * group_[used_++] - 1;
  }
  Complex complex() {
    const double re = real();
    return {re, real()};
  }
  int below(int limit) { return static_cast<int>((real() + 1) / 2 * limit); }

 private:
  RandomStream random_;
  std::array<double, 4> group_{};
  std::size_t used_ = 4;
};

/// FNV-1a with 64 bits.
class Checksum {
 public:
  template <class T>
  void add(std::span<const T> values) {
    for (const std::byte byte : std::as_bytes(values)) value_ = (value_ ^ static_cast<std::uint64_t>(byte)) * 1099511628211u;
  }
  void add(const runtime::BinnedSum& sum) {
    const std::int64_t words[] = {sum.limb[0], sum.limb[1], sum.limb[2], sum.window, sum.poisoned};
    add(std::span<const std::int64_t>(words));
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037u;
};

template <class T>
bool same_bits(const T* a, const T* b, std::size_t count) {
  return std::memcmp(a, b, count * sizeof(T)) == 0;
}
inline bool same_bits(const runtime::BinnedSum& a, const runtime::BinnedSum& b) {
  Checksum of_a, of_b;
  of_a.add(a);
  of_b.add(b);
  return of_a.value() == of_b.value();
}

/// A field of N complex components a site, as drawn and as stored.
template <class F, int N>
struct MadeUpField {
  std::vector<Complex> exact;  ///< [site][lane][component]
  std::vector<F> stored;       ///< [site][word][lane]

  MadeUpField() = default;
  MadeUpField(Numbers& numbers, int sites, int lanes) {
    constexpr int words = NumberFormat<F>::site_words(2 * N);
    stored.resize(static_cast<std::size_t>(sites * words * lanes));
    for (int s = 0; s < sites; ++s)
      for (int l = 0; l < lanes; ++l) {
        site::Complex<site::Lane<Real<F>>> z[N];
        for (auto& component : z) {
          const Complex drawn = numbers.complex();
          exact.push_back(drawn);
          component = {{static_cast<Real<F>>(drawn.real())}, {static_cast<Real<F>>(drawn.imag())}};
        }
        site::write_site<F>(stored.data() + s * words * lanes + l, lanes, z);
      }
  }
  std::span<const Complex, N> at(int site, int lane, int lanes) const {
    return std::span<const Complex, N>(exact.data() + (site * lanes + lane) * N, N);
  }
};

/// Strides of directions in a block of so many lanes (LaneGrid::stride), in no particular order.
inline std::array<int, 4> made_up_strides(int lanes) {
  if (lanes == 16) return {4, 1, 8, 2};
  if (lanes == 8) return {2, 4, 0, 1};
  if (lanes == 4) return {0, 1, 2, 0};
  return {0, 0, 0, 0};
}

inline std::string describe(Precision precision, int lanes) { return std::string(name_of(precision)) + " lanes " + std::to_string(lanes); }

}  // namespace quarkstar::kernels
