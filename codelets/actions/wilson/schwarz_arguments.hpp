#pragma once
// What a Schwarz kernel reads and writes: the contract between the codelet and the drivers of every architecture.
#include "codelets/field/number_format.hpp"

#include <cstddef>
#include <cstdint>

namespace quarkstar::wilson {

/// Entry of a domain's neighbour table for a hop that leaves the domain.
inline constexpr std::uint32_t outside_domain = 0xffffffffu;

/// The domains of one block. A lane of an outer site is a site of a domain of its own, and no hop leaves the lane: W domains are solved
/// side by side. All domains are alike.
template <class F>
struct SchwarzArguments {
  const std::uint32_t* sites[2];       ///< of each parity, [domain][i]: the outer site that is the domain's i-th of that parity
  const std::uint32_t* neighbours[2];  ///< of sites of each parity, [i * 8 + direction]: which site of the other parity, or outside_domain
  const F* links[2];                   ///< [outer site][direction][word][lane]
  const F* in;                         ///< of one vector, [outer site * vectors][word][lane], odd sites
  F* out;
  Real<F> diagonal, scale;  ///< A = diagonal + scale H_oe H_eo, H without the hops that leave a domain
  int vectors;              ///< of the fields
  int domain_sites;         ///< of one parity
  int steps;                ///< of minimal residual
};

/// Reals of working memory for a thread: four spinors per site of one parity, for the lanes that are solved side by side.
constexpr std::int64_t schwarz_memory(int domain_sites, int lanes_together) { return std::int64_t{4} * 24 * lanes_together * domain_sites; }

/// Bytes of shared memory of a GPU for one domain in one lane, with what its sites add to three sums; and what every GPU has that kernels
/// are compiled for (compute capability 8.0: 163 KiB): with 8 bytes a real domains of 4^4 sites, with 4 of 8 x 4^3.
constexpr std::size_t gpu_domain_bytes(int domain_sites, std::size_t real_bytes) {
  return (static_cast<std::size_t>(schwarz_memory(domain_sites, 1)) + 3 * static_cast<std::size_t>(domain_sites)) * real_bytes;
}
inline constexpr std::size_t most_gpu_domain_bytes = 160 * 1024;

/// Groups of lanes of one register are solved one after another: item i is group i % groups of domain i / groups.
template <class F>
struct SchwarzKernel {
  void (*run)(const SchwarzArguments<F>& arguments, std::int64_t begin, std::int64_t end, Real<F>* memory) = nullptr;
  int groups = 1;
};

}  // namespace quarkstar::wilson
