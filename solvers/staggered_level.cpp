#include "solvers/staggered_level.hpp"

#include "codelets/actions/staggered/vector_blas.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/simulate/simulate.hpp"
#include "solvers/krylov/submit_together.hpp"

#include <algorithm>

namespace quarkstar {

using staggered::PerVector;

StaggeredLevel::StaggeredLevel(const runtime::Decomposition& decomposition, Precision precision, const smear::StaggeredLinks& links,
                               int long_reals, const StaggeredSpeed& speed, bool measure, double resident)
    : speed_(speed),
      measure_(measure),
      problem_{decomposition, precision, links.has_long ? long_reals : 0, speed.vectors, resident, {}, speed.vectors_in_lanes},
      tile_(speed.tile ? *speed.tile : staggered::tile_for(problem_, measure)),
      lattice_(std::make_shared<Lattice>(decomposition, precision, periodic, std::nullopt, links.reach(), tile_, Coord{2, 2, 2, 2},
                                         speed.vectors_in_lanes)),
      even_(lattice_, 0, links, long_reals),
      odd_(lattice_, 1, links, long_reals),
      bytes_a_site_(staggered::links_bytes_a_site(precision, even_.long_reals())) {}

StaggeredLevel::StaggeredLevel(const StaggeredLevel& level, const smear::StaggeredLinks& links, int long_reals)
    : speed_(level.speed_),
      measure_(level.measure_),
      problem_(level.problem_),
      tile_(level.tile_),
      lattice_(level.lattice_),
      even_(level.even_, links, long_reals),
      odd_(level.odd_, links, long_reals),
      bytes_a_site_(staggered::links_bytes_a_site(problem_.precision, long_reals) - staggered::links_bytes_a_site(problem_.precision, 0)) {
  problem_.long_reals = long_reals;
}

staggered::Dslash& StaggeredLevel::dslash(int vectors) {
  auto& found = dslash_[{runtime::Turns::lane(), vectors}];
  if (found) return *found;
  found = std::make_unique<staggered::Dslash>(even_, odd_, vectors);
  auto launch = launches_.find(vectors);
  if (launch == launches_.end()) {
    problem_.vectors = vectors;
    const bool measure = measure_ && !runtime::Turns::taken();
    launch = launches_.emplace(vectors, speed_.launch ? *speed_.launch : staggered::launch_for(problem_, tile_, measure)).first;
  }
  found->set_launch(launch->second);
  return *found;
}

void StaggeredLevel::apply(const ColourFields& out, const ColourFields& in, const PerVector& a, double scale) {
  staggered::Dslash& hops = dslash(in.even.vectors());
  submit_together([&] {
    for (const int parity : {0, 1})
      hops.apply(out.of(parity), in.of(1 - parity), {.x = &in.of(parity), .diagonal = a, .scale = staggered::same_for_all(scale)});
  });
}

void StaggeredLevel::residual(const ColourFields& r, const ColourFields& b, const ColourFields& x, const PerVector& mass) {
  PerVector minus_two_mass = mass;
  for (double& m : minus_two_mass) m *= -2;
  apply(r, x, minus_two_mass, -1);
  for (const int parity : {0, 1}) staggered::submit<blas::AddScaled>({&r.of(parity), &b.of(parity)}, {1.0});
}

std::vector<double> StaggeredLevel::norm2(const ColourFields& f) {
  const int n = f.even.vectors();
  std::vector<double> total(static_cast<std::size_t>(n));
  for (const int parity : {0, 1}) {
    const runtime::PartialSums sums(static_cast<int>(lattice_->local_blocks().size()), n);
    staggered::submit<blas::Norm>({&f.of(parity)}, {}, {}, &sums);
    const std::vector<double> norms = runtime::values_of(sums, n);
    for (std::size_t v = 0; v < total.size(); ++v) total[v] += norms[v];
  }
  // Nothing was computed there, and a source of norm 0 would need no solve.
  if constexpr (runtime::simulate::active) std::fill(total.begin(), total.end(), 1.0);
  return total;
}

}  // namespace quarkstar
