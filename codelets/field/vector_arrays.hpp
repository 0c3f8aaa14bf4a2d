#pragma once
// Vectors in arrays of this program, or of one that calls it, in host memory or in a GPU's: where their numbers are.
#include "codelets/field/host_field.hpp"
#include "codelets/field/vector_status.hpp"
#include "runtime/gpu/host_device.hpp"
#include "runtime/system/error.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

namespace quarkstar {

/// The number of a site where all even sites (of global coordinates) of a box come before the odd ones, each lexicographic. index:
/// lexicographic; parity: of global coordinates.
constexpr std::int64_t even_odd_place(const Box& box, std::int64_t index, int parity) {
  return index / 2 + parity * (volume(box.extents) / 2);
}

/// Vectors of one kind on the sites of a box, each of double or of single precision, sites and numbers in one of the usual orders. It owns
/// nothing. Trivially copyable and without gaps: an argument of tasks.
struct VectorArrays {
  int count = 0, components = 0;
  Box box{};
  std::int32_t is_single = 0;                                    ///< whether numbers are of single precision
  std::int32_t even_first = 0;                                   ///< whether sites are at even_odd_place()
  std::int64_t on_gpu = 0;                                       ///< whether kernels on the GPU that owns the sites are to move them
  std::size_t site_bytes = 0, spin_bytes = 0, colour_bytes = 0;  ///< from one to the next
  std::array<std::byte*, most_vectors> data{};                   ///< the first number of each vector
  PerVector factors = same_for_all(1);                           ///< each vector is multiplied by its own when it is read or written

  /// Fields that are only read, and those that are written too. Throw ShapeError where they are of different boxes or kinds, or too many.
  static VectorArrays to_read(std::span<const HostField> fields) {
    if (fields.empty() || fields.size() > most_vectors) throw ShapeError("VectorArrays", "another number of vectors");
    VectorArrays all;
    all.count = static_cast<int>(fields.size());
    all.components = fields[0].components;
    all.box = fields[0].box();
    all.colour_bytes = sizeof(std::complex<double>);
    all.spin_bytes = colour_components * all.colour_bytes;
    all.site_bytes = static_cast<std::size_t>(all.components) * all.colour_bytes;
    for (std::size_t v = 0; v < fields.size(); ++v) {
      if (fields[v].components != all.components) throw ShapeError("VectorArrays", "vectors of several kinds");
      if (fields[v].origin != all.box.origin || fields[v].extents != all.box.extents)
        throw ShapeError("VectorArrays", "the host fields hold different boxes");
      all.data[v] = reinterpret_cast<std::byte*>(const_cast<std::complex<double>*>(fields[v].data.data()));
    }
    return all;
  }
  static VectorArrays to_write(std::span<HostField> fields) { return to_read(fields); }

  /// The first n of them.
  VectorArrays first(int n) const {
    VectorArrays few = *this;
    few.count = n;
    return few;
  }

  /// Bytes before a site's numbers. index: lexicographic, in the box; parity: of global coordinates.
  QUARKSTAR_HD std::size_t place(std::int64_t index, int parity) const {
    return static_cast<std::size_t>(even_first ? even_odd_place(box, index, parity) : index) * site_bytes;
  }
  /// The numbers of vector v at a site, and back.
  template <int Components>
  QUARKSTAR_HD void read(std::complex<double> (&numbers)[Components], int v, std::size_t place) const {
    is_single ? read_as<float>(numbers, v, place) : read_as<double>(numbers, v, place);
  }
  template <int Components>
  QUARKSTAR_HD void write(const std::complex<double> (&numbers)[Components], int v, std::size_t place) const {
    is_single ? write_as<float>(numbers, v, place) : write_as<double>(numbers, v, place);
  }
  /// Asks for the cache lines of a site whose numbers follow each other.
  void prefetch(int v, std::size_t place, bool to_write) const {
    constexpr std::size_t line = 64;
    const std::byte* const begin = data[static_cast<std::size_t>(v)] + place;
    const std::size_t bytes = 2 * static_cast<std::size_t>(components) * (is_single != 0 ? sizeof(float) : sizeof(double));
    const auto ask = [to_write](const std::byte* at) { to_write ? __builtin_prefetch(at, 1) : __builtin_prefetch(at, 0); };
    for (std::size_t i = 0; i < bytes; i += line) ask(begin + i);
    ask(begin + bytes - 1);
  }

 private:
  template <class Real>
  QUARKSTAR_HD Real* number(int v, std::size_t place, int component) const {
    const auto spin = static_cast<std::size_t>(component / colour_components),
               colour = static_cast<std::size_t>(component % colour_components);
    return reinterpret_cast<Real*>(data[static_cast<std::size_t>(v)] + place + spin * spin_bytes + colour * colour_bytes);
  }
  template <class Real, int Components>
  QUARKSTAR_HD void read_as(std::complex<double> (&numbers)[Components], int v, std::size_t place) const {
    const double factor = factors[static_cast<std::size_t>(v)];
    for (int c = 0; c < Components; ++c) {
      const Real* const from = number<Real>(v, place, c);
      numbers[c] = {factor * static_cast<double>(from[0]), factor * static_cast<double>(from[1])};
    }
  }
  template <class Real, int Components>
  QUARKSTAR_HD void write_as(const std::complex<double> (&numbers)[Components], int v, std::size_t place) const {
    const double factor = factors[static_cast<std::size_t>(v)];
    for (int c = 0; c < Components; ++c) {
      Real* const to = number<Real>(v, place, c);
      to[0] = static_cast<Real>(factor * numbers[c].real());
      to[1] = static_cast<Real>(factor * numbers[c].imag());
    }
  }
};

}  // namespace quarkstar
