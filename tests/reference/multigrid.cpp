#include "tests/reference/multigrid.hpp"

#include <cmath>

namespace quarkstar::reference {

Coord CoarseSpace::extents() const {
  Coord coarse{};
  for (int mu = 0; mu < 4; ++mu) coarse[mu] = null_vectors_[0].extents[mu] / aggregate_[mu];
  return coarse;
}

std::int64_t CoarseSpace::aggregate_of(std::int64_t site) const {
  Coord x = coordinates(site, null_vectors_[0].extents);
  for (int mu = 0; mu < 4; ++mu) x[mu] /= aggregate_[mu];
  return lexicographic(x, extents());
}

CoarseSpace::CoarseSpace(std::vector<Field> null_vectors, const Coord& aggregate)
    : aggregate_(aggregate), null_vectors_(std::move(null_vectors)) {
  const std::int64_t sites = null_vectors_[0].sites();
  for (int pass = 0; pass < 2; ++pass)
    for (std::size_t j = 0; j < null_vectors_.size(); ++j) {
      for (std::size_t i = 0; i <= j; ++i) {
        const CoarseVector all = CoarseVector(static_cast<std::size_t>(2 * volume(extents())));
        CoarseVector product = all;  // <v_i, v_j> for each aggregate and chirality
        const auto place = [&](std::int64_t site, int spin) { return static_cast<std::size_t>(2 * aggregate_of(site) + spin / 2); };
        const auto for_components = [&](auto&& body) {
          for (std::int64_t site = 0; site < sites; ++site)
            for (int spin = 0; spin < 4; ++spin)
              for (int colour = 0; colour < 3; ++colour) body(site, spin, colour);
        };
        for_components([&](std::int64_t site, int spin, int colour) {
          product[place(site, spin)] += std::conj(null_vectors_[i](site, spin, colour)) * null_vectors_[j](site, spin, colour);
        });
        for_components([&](std::int64_t site, int spin, int colour) {
          Complex& z = null_vectors_[j](site, spin, colour);
          const Complex p = product[place(site, spin)];
          if (i == j) z /= std::sqrt(p.real());
          else z -= p * null_vectors_[i](site, spin, colour);
        });
      }
    }
}

Field CoarseSpace::prolong(const CoarseVector& coarse) const {
  Field fine(null_vectors_[0].extents, 4);
  const auto n = static_cast<std::int64_t>(null_vectors_.size());
  for (std::int64_t site = 0; site < fine.sites(); ++site)
    for (int spin = 0; spin < 4; ++spin)
      for (int colour = 0; colour < 3; ++colour)
        for (std::int64_t j = 0; j < n; ++j)
          fine(site, spin, colour) += coarse[static_cast<std::size_t>(aggregate_of(site) * 2 * n + spin / 2 * n + j)] *
                                      null_vectors_[static_cast<std::size_t>(j)](site, spin, colour);
  return fine;
}

CoarseVector CoarseSpace::restrict(const Field& fine) const {
  const auto n = static_cast<std::int64_t>(null_vectors_.size());
  CoarseVector coarse(static_cast<std::size_t>(volume(extents()) * 2 * n));
  for (std::int64_t site = 0; site < fine.sites(); ++site)
    for (int spin = 0; spin < 4; ++spin)
      for (int colour = 0; colour < 3; ++colour)
        for (std::int64_t j = 0; j < n; ++j)
          coarse[static_cast<std::size_t>(aggregate_of(site) * 2 * n + spin / 2 * n + j)] +=
              std::conj(null_vectors_[static_cast<std::size_t>(j)](site, spin, colour)) * fine(site, spin, colour);
  return coarse;
}

}  // namespace quarkstar::reference
