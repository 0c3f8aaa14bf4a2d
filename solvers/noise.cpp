#include "solvers/noise.hpp"

#include "codelets/field/transfer.hpp"
#include "codelets/lattice/random.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/session.hpp"

#include <array>

namespace quarkstar {

void load_noise(const Field& field, std::uint64_t seed, std::uint64_t first) {
  const runtime::Decomposition& decomposition = field.lattice()->decomposition();
  std::vector<HostField> host(static_cast<std::size_t>(field.vectors()), HostField(field.components(), decomposition.part()));
  const std::int64_t sites = volume(decomposition.part().extents), all = sites * field.vectors();
  runtime::Session::current().cpu_team().for_range(all, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t i = n % sites;
      const auto v = static_cast<std::size_t>(n / sites);
      const Coord site = site_of(host[v].box(), i);
      if (parity_of(site) != field.parity()) continue;
      RandomStream stream(seed, RandomPurpose::null_vectors, lexicographic(site, decomposition.lattice()), first + v);
      std::array<double, 4> numbers{};
      for (int c = 0; c < field.components(); ++c) {
        if (c % 2 == 0) numbers = stream.gaussians();
        const std::size_t at = c % 2 == 0 ? 0 : 2;
        host[v].at(i, c) = {numbers[at], numbers[at + 1]};
      }
    }
  });
  const runtime::Settled settled;
  transfer::load(field, host);
  runtime::Session::current().wait_all();
}

}  // namespace quarkstar
