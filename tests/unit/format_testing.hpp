#pragma once
// What the tests of the file formats share: fields to write, bytes to damage, and independent measurements.
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/io/byte_source.hpp"
#include "codelets/io/byteorder.hpp"
#include "runtime/system/error.hpp"
#include "tests/reference/data.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::testing {

using Bytes = std::vector<std::byte>;
using Matrix = std::array<std::array<std::complex<double>, 3>, 3>;

inline Matrix link_matrix(const HostGauge& gauge, std::int64_t site, int mu) {
  const auto link = gauge.link(site, mu);
  Matrix m;
  for (std::size_t i = 0; i < 9; ++i) m[i / 3][i % 3] = {link[2 * i], link[2 * i + 1]};
  return m;
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

inline Matrix adjoint(const Matrix& a) {
  Matrix c;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) c[i][j] = std::conj(a[j][i]);
  }
  return c;
}

inline double real_trace(const Matrix& a) { return (a[0][0] + a[1][1] + a[2][2]).real(); }

struct Observables {
  double spatial = 0;  ///< plaquette, mean Re tr / 3
  double temporal = 0;
  double link_trace = 0;
  double plaquette() const { return (spatial + temporal) / 2; }
};

inline Observables measure(const HostGauge& gauge) {
  Observables sums;
  const auto shifted = [&](Coord x, int mu) {
    x[mu] = (x[mu] + 1) % gauge.extents[mu];
    return lexicographic(x, gauge.extents);
  };
  for (std::int64_t site = 0; site < volume(gauge.extents); ++site) {
    const Coord x = coordinates(site, gauge.extents);
    for (int mu = 0; mu < 4; ++mu) {
      sums.link_trace += real_trace(link_matrix(gauge, site, mu));
      for (int nu = 0; nu < mu; ++nu) {
        const Matrix up = product(link_matrix(gauge, site, nu), link_matrix(gauge, shifted(x, nu), mu));
        const Matrix across = product(link_matrix(gauge, site, mu), link_matrix(gauge, shifted(x, mu), nu));
        (mu == 3 ? sums.temporal : sums.spatial) += real_trace(product(up, adjoint(across)));
      }
    }
  }
  const auto sites = static_cast<double>(volume(gauge.extents));
  return {sums.spatial / (9 * sites), sums.temporal / (9 * sites), sums.link_trace / (12 * sites)};
}

/// Random SU(3) links: two Gaussian rows made orthonormal, the third the conjugate of their cross product.
inline HostGauge random_gauge(const Coord& extents, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  HostGauge gauge{extents, HostReals(static_cast<std::size_t>(volume(extents)) * HostGauge::reals_per_site, 0.0)};
  for (std::int64_t site = 0; site < volume(extents); ++site) {
    for (int mu = 0; mu < 4; ++mu) {
      std::array<std::complex<double>, 3> a, b, c;
      for (auto* row : {&a, &b}) {
        for (auto& z : *row) z = {normal(engine), normal(engine)};
      }
      const auto normalise = [](auto& v) {
        double norm = 0;
        for (const auto& z : v) norm += std::norm(z);
        for (auto& z : v) z /= std::sqrt(norm);
      };
      normalise(a);
      std::complex<double> overlap = 0;
      for (std::size_t i = 0; i < 3; ++i) overlap += std::conj(a[i]) * b[i];
      for (std::size_t i = 0; i < 3; ++i) b[i] -= overlap * a[i];
      normalise(b);
      for (std::size_t i = 0; i < 3; ++i) c[i] = std::conj(a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]);
      auto link = gauge.link(site, mu);
      std::size_t out = 0;
      for (const auto& row : {a, b, c}) {
        for (const auto& z : row) {
          link[out++] = z.real();
          link[out++] = z.imag();
        }
      }
    }
  }
  return gauge;
}

/// The same field as a single-precision file holds it.
inline HostGauge rounded_to_single(HostGauge gauge) {
  for (double& v : gauge.data) v = static_cast<double>(static_cast<float>(v));
  return gauge;
}

inline double largest_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

inline HostReals random_reals(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  HostReals reals(count);
  for (double& v : reals) v = normal(engine);
  return reals;
}

/// A directory that disappears with its contents.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "quarkstar-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline Bytes load_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in.good());
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline void save_bytes(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(out.good());
}

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

template <class Number>
void append_number(Bytes& bytes, Number value, format::ByteOrder order) {
  bytes.resize(bytes.size() + sizeof value);
  format::store(bytes.data() + bytes.size() - sizeof value, value, order);
}

inline void append_real(Bytes& bytes, double value, int real_bytes, format::ByteOrder order) {
  if (real_bytes == 4) {
    append_number(bytes, static_cast<float>(value), order);
  } else {
    append_number(bytes, value, order);
  }
}

/// Runs `action`, which must throw Error of this kind with one line that contains all `parts`; returns the line.
template <class Action>
std::string expect_error(ErrorKind kind, Action&& action, const std::vector<std::string>& parts = {}) {
  try {
    action();
  } catch (const Error& error) {
    const std::string line = error.what();
    CAPTURE(line);
    CHECK(error.kind() == kind);
    CHECK(line.find('\n') == std::string::npos);
    for (const std::string& part : parts) {
      CAPTURE(part);
      CHECK(line.find(part) != std::string::npos);
    }
    return line;
  }
  FAIL_CHECK("no error was thrown");
  return {};
}

/// Gives up the superuser's rights for as long as it lives, so that permissions mean something in the tests.
class OrdinaryUser {
 public:
  OrdinaryUser() : before_(::geteuid()) {
    constexpr uid_t nobody = 65534;
    active_ = before_ != 0 || ::seteuid(nobody) == 0;
  }
  ~OrdinaryUser() { REQUIRE(::seteuid(before_) == 0); }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  bool active() const { return active_; }

 private:
  uid_t before_;
  bool active_;
};

}  // namespace quarkstar::testing
