#include "codelets/contract/meson.hpp"

#include "codelets/contract/spin_matrix.hpp"
#include "codelets/contract/time_slices.hpp"
#include "runtime/system/error.hpp"

#include <string>

namespace quarkstar {
namespace {

using Complex = std::complex<double>;

/// Gamma_sink and Gamma_source of C = sum Tr[Gamma_sink S Gamma_source S^+].
struct SpinStructure {
  SpinMatrix sink, source;
};

/// The g_5 beside S^+ is moved round the trace, so that only two matrices remain.
SpinStructure structure_of(Meson meson) {
  if (meson == Meson::pion) return {spin_unit(), spin_unit()};
  const SpinMatrix gamma = spin_gamma(static_cast<int>(meson) - static_cast<int>(Meson::rho_x));
  return {spin_gamma5() * gamma, gamma * spin_gamma5()};
}

/// Real part of Tr[Gamma_sink S Gamma_source S^+] at one site:
/// sum over spins a (sink), b (source) and colours c, d of  sink_a source_b S(a'c; b d) conj(S(a c; b' d)).
double trace_at(const SpinStructure& gamma, std::span<const HostField> columns, std::int64_t site) {
  double trace = 0;
  for (std::size_t b = 0; b < 4; ++b) {
    for (std::size_t d = 0; d < 3; ++d) {
      const HostField& left = columns[3 * b + d];
      const HostField& right = columns[3 * static_cast<std::size_t>(gamma.source.column[b]) + d];
      for (std::size_t a = 0; a < 4; ++a) {
        const Complex phase = gamma.sink.phase[a] * gamma.source.phase[b];
        Complex product = 0;
        for (int c = 0; c < 3; ++c) product += left.at(site, gamma.sink.column[a], c) * std::conj(right.at(site, static_cast<int>(a), c));
        trace += phase.real() * product.real() - phase.imag() * product.imag();
      }
    }
  }
  return trace;
}

void check_shapes(std::span<const HostField> columns) {
  if (columns.size() != spinor_components) throw ShapeError("meson_correlator", "needs 12 columns, got " + std::to_string(columns.size()));
  for (const HostField& column : columns)
    if (column.extents != columns.front().extents) throw ShapeError("meson_correlator", "columns have different extents");
}

}  // namespace

std::string_view name_of(Meson meson) {
  switch (meson) {
    case Meson::pion:
      return "pion";
    case Meson::rho_x:
      return "rho_x";
    case Meson::rho_y:
      return "rho_y";
    case Meson::rho_z:
      return "rho_z";
  }
  return "";
}

std::vector<runtime::BinnedSum> meson_sums(Meson meson, std::span<const HostField> columns, int source_time, int times) {
  check_shapes(columns);
  const SpinStructure gamma = structure_of(meson);
  return sum_time_slices(columns.front().box(), source_time, times, [&](std::int64_t site) { return trace_at(gamma, columns, site); });
}

std::vector<double> meson_correlator(Meson meson, std::span<const HostField> columns, int source_time) {
  check_shapes(columns);
  return values_of(meson_sums(meson, columns, source_time, columns.front().extents[3]));
}

}  // namespace quarkstar
