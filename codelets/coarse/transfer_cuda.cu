#include "codelets/arch/lane.hpp"
#include "codelets/coarse/transfer_cuda.hpp"

#include <cuda_runtime.h>

#include <utility>

namespace quarkstar::cuda {
namespace {

using coarse::TransferArguments, coarse::TransferStep;
using site::Lane;

constexpr unsigned threads = 128;

__device__ bool idles(const std::int32_t* idle) { return idle != nullptr && *idle != 0; }

/// A lane of a group of aggregates, and a number below `most`, of a thread; neighbouring threads have neighbouring lanes.
struct Place {
  std::int64_t group;
  int lane, number;
  __device__ Place(std::uint64_t id, int lanes, int most)
      : group(static_cast<std::int64_t>(id / static_cast<std::uint64_t>(lanes) / static_cast<std::uint64_t>(most))),
        lane(static_cast<int>(id % static_cast<std::uint64_t>(lanes))),
        number(static_cast<int>(id / static_cast<std::uint64_t>(lanes) % static_cast<std::uint64_t>(most))) {}
};
__device__ std::uint64_t thread_number() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

/// One thread per fine site and vector.
template <int Kind, class F>
__global__ void __launch_bounds__(threads)
    prolong_range(const __grid_constant__ TransferArguments<F> a, const std::int32_t* idle, std::uint64_t work) {
  if (idles(idle) || thread_number() >= work) return;
  const Place place(thread_number(), a.lanes, a.aggregate_sites);
  const int v = static_cast<int>(blockIdx.y);
  const std::uint32_t site = a.sites[place.group * a.aggregate_sites + place.number];
  if (a.fine[site & 1] == nullptr || (a.left_out != nullptr && a.left_out[v] != 0)) return;
  const std::uint32_t coarse_site = a.places[place.group * a.lanes + place.lane];
  const auto of = [&](int row, int) -> site::Complex<Lane<F>> {
    const F* word = coarse::coarse_at(a, coarse_site, row, v);
    return {{word[0]}, {word[coarse::lanes_of_components]}};
  };
  for (int c = 0; c < a.components; ++c) coarse::prolong_component<Kind, 1, Lane<F>>(a, site, c, place.lane, v, of);
}

/// One thread per aggregate, component of its coarse vector, and vector.
template <int Kind, class F>
__global__ void __launch_bounds__(threads)
    restrict_range(const __grid_constant__ TransferArguments<F> a, const std::int32_t* idle, std::uint64_t work) {
  if (idles(idle) || thread_number() >= work) return;
  const int v = static_cast<int>(blockIdx.y), rows = 2 * a.count;
  const Place place(thread_number(), a.lanes, rows);
  const std::uint32_t coarse_site = a.places[place.group * a.lanes + place.lane];
  if ((a.left_out != nullptr && a.left_out[v] != 0) || !a.mask.have(coarse::colour_at(a, coarse_site))) return;
  site::Complex<Lane<F>> sum[1]{{{0}, {0}}};
  for (int k = 0; k < a.aggregate_sites; ++k) {
    const std::uint32_t site = a.sites[place.group * a.aggregate_sites + k];
    if (a.fine[site & 1] != nullptr && a.layer.has(k)) coarse::restrict_site<Kind, 1, Lane<F>>(a, site, place.number, place.lane, v, sum);
  }
  F* word = coarse::coarse_at(a, coarse_site, place.number, v);
  word[0] = sum[0].re.v;
  word[coarse::lanes_of_components] = sum[0].im.v;
}

/// One thread per aggregate and chirality.
template <int Kind, class F>
__global__ void __launch_bounds__(threads) orthonormalise_range(const __grid_constant__ TransferArguments<F> a, std::uint64_t work) {
  if (thread_number() >= work) return;
  const Place place(thread_number(), a.lanes, 2);
  coarse::orthonormalise<Kind, 1>(a, place.group, place.lane, place.number);
}

/// One thread per fine site.
template <int Kind, class F>
__global__ void __launch_bounds__(threads) columns_range(const __grid_constant__ TransferArguments<F> a, std::uint64_t work) {
  if (thread_number() >= work) return;
  const Place place(thread_number(), a.lanes, a.aggregate_sites);
  coarse::copy_columns<Kind>(a, a.sites[place.group * a.aggregate_sites + place.number], place.lane,
                             a.mask.have(coarse::colour_at(a, a.places[place.group * a.lanes + place.lane])));
}

template <int Kind, class F>
void launch(const TransferArguments<F>& a, TransferStep step, std::int64_t groups, const std::int32_t* idle, runtime::CudaStream stream) {
  const auto grid = [&](int per_aggregate, int vectors) {
    const std::uint64_t work = static_cast<std::uint64_t>(groups) * static_cast<std::uint64_t>(a.lanes * per_aggregate);
    return std::pair{dim3(static_cast<unsigned>((work + threads - 1) / threads), static_cast<unsigned>(vectors)), work};
  };
  if (groups == 0) return;
  if (step == TransferStep::prolong) {
    const auto [blocks, work] = grid(a.aggregate_sites, a.vectors);
    prolong_range<Kind><<<blocks, threads, 0, stream>>>(a, idle, work);
  } else if (step == TransferStep::restrict) {
    const auto [blocks, work] = grid(2 * a.count, a.vectors);
    restrict_range<Kind><<<blocks, threads, 0, stream>>>(a, idle, work);
  } else if (step == TransferStep::orthonormalise) {
    const auto [blocks, work] = grid(2, 1);
    orthonormalise_range<Kind><<<blocks, threads, 0, stream>>>(a, work);
  } else {
    const auto [blocks, work] = grid(a.aggregate_sites, 1);
    columns_range<Kind><<<blocks, threads, 0, stream>>>(a, work);
  }
  runtime::check_launch("coarse.transfer");
}

}  // namespace

template <class F>
void launch_transfer(const TransferArguments<F>& a, TransferStep step, bool of_coarse, bool chunked, std::int64_t groups,
                     const std::int32_t* idle, runtime::CudaStream stream) {
  constexpr int chunk = site::chunk_words<F>(24);
  if (of_coarse) launch<coarse::coarse_kind>(a, step, groups, idle, stream);
  else if (chunked) launch<chunk>(a, step, groups, idle, stream);
  else launch<coarse::in_rows>(a, step, groups, idle, stream);
}

#define QUARKSTAR_TRANSFER_LAUNCH(F)                                                                                      \
  template void launch_transfer(const TransferArguments<F>&, TransferStep, bool, bool, std::int64_t, const std::int32_t*, \
                                runtime::CudaStream);
QUARKSTAR_TRANSFER_LAUNCH(float)
QUARKSTAR_TRANSFER_LAUNCH(double)

}  // namespace quarkstar::cuda
