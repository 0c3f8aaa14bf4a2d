#include "codelets/contract/phases.hpp"

#include "codelets/contract/contract_kernels.hpp"
#include "codelets/lattice/portable.hpp"
#include "runtime/backend.hpp"

namespace quarkstar::contract {

runtime::Handle make_phases(const std::vector<Momentum>& momenta, const Coord& lattice, const Coord& x0) {
  const auto doubles = static_cast<std::size_t>(PhaseTable::doubles(lattice));
  runtime::Handle handle(momenta.size() * doubles * sizeof(double));
  if constexpr (!runtime::backend::computes) return handle;
  const runtime::HostView<double> table(handle, runtime::HostAccess::overwrite);
  std::size_t at = 0;
  for (const Momentum& n : momenta) {
    table[at++] = n == Momentum{0, 0, 0} ? 1 : 0;
    for (std::size_t mu = 0; mu < 3; ++mu)
      for (int x = 0; x < lattice[mu]; ++x) {
        const std::int64_t turns = std::int64_t{n[mu]} * (x - x0[mu]) % lattice[mu];
        const portable::SineCosine phase = portable::sine_cosine_of_turns(-static_cast<double>(turns) / lattice[mu]);
        table[at++] = phase.cosine;
        table[at++] = phase.sine;
      }
  }
  return handle;
}

Coord origin_of(const Source& source) {
  if (source.kind == Source::Kind::point) return source.position;
  return {0, 0, 0, source.time()};
}

}  // namespace quarkstar::contract
