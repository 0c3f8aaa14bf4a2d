#include "codelets/contract/sequential.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace quarkstar::contract {
namespace {

using Projector = decltype(Hadron::projector);

/// (1 + sign g_4) / 2, g_4 = 1 in the entries (a, a ^ 2).
Projector parity_projector(double sign) {
  Projector projector{};
  for (std::size_t a = 0; a < 4; ++a) {
    projector[a][a] = 0.5;
    projector[a][a ^ 2] = 0.5 * sign;
  }
  return projector;
}

/// (1 - i g_1 g_2) (1 + g_4) / 2, 1 - i g_1 g_2 = diag(0, 2, 0, 2).
Projector mixed_projector() {
  Projector projector = parity_projector(1);
  for (std::size_t a = 0; a < 4; ++a)
    for (std::complex<double>& entry : projector[a]) entry *= a % 2 == 0 ? 0 : 2;
  return projector;
}

}  // namespace

const std::vector<Hadron>& hadrons() {
  static const std::vector<Hadron> all{{"pion", "mesons", Wick::meson, {}},
                                       {"proton_u", "octet", Wick::two, parity_projector(1)},
                                       {"proton_d", "octet", Wick::one, parity_projector(1)},
                                       {"proton_minus_u", "octet", Wick::two, parity_projector(-1)},
                                       {"proton_minus_d", "octet", Wick::one, parity_projector(-1)},
                                       {"proton_mixed_u", "octet", Wick::two, mixed_projector()},
                                       {"proton_mixed_d", "octet", Wick::one, mixed_projector()}};
  return all;
}

std::string text_of(const HadronSink& sink) {
  const bool at_rest = sink.momentum == Momentum{0, 0, 0};
  return fmt::format("{}:{}{}", sink.hadron->name, sink.separation, at_rest ? "" : fmt::format(",{}", fmt::join(sink.momentum, ",")));
}

void check_sink(const HadronSink& sink, const Coord& lattice) {
  if (sink.separation < 1 || sink.separation >= lattice[3])
    throw Error(ErrorKind::input, Parameter("three-points"), fmt::format("{} does not end within the lattice", text_of(sink)),
                fmt::format("use 1 to {} time slices from the source", lattice[3] - 1));
}

}  // namespace quarkstar::contract
