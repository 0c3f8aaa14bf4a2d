// Contractions on CPUs: a vector of sites at a time, one running sum for each lane, because lanes may lie in two time slices.
#include "codelets/arch/lane_sum.hpp"
#include "codelets/arch/native_width.hpp"
#include "codelets/contract/contract_kernels.hpp"

#include <vector>

namespace quarkstar::QUARKSTAR_ARCH_NAME {
namespace {

template <class Family, int VL>
void contract_range(const contract::Arguments& arguments, std::int64_t begin, std::int64_t end, runtime::BinnedSum* sums) {
  using V = Pack<double, VL>;
  const contract::Arguments a = arguments;
  const int of_slice = a.slice_sums(), groups = a.lanes / VL;
  const std::int64_t slice_sites = volume(a.shape.outer) / a.shape.outer[3];
  for (std::int64_t first = begin; first < end;) {
    const int time = static_cast<int>(first / slice_sites);
    const std::int64_t last = std::int64_t{time + 1} * slice_sites < end ? std::int64_t{time + 1} * slice_sites : end;
    std::vector<SumOfEachLane<VL>> running(static_cast<std::size_t>(of_slice * groups), SumOfEachLane<VL>(nullptr));
    for (; first < last; ++first) {
      const Coord at = coordinates(first, a.shape.outer), x = a.from_source(at);
      const double* site = a.site_at(at);
      for (int group = 0; group < groups; ++group) {
        V values[Family::numbers * Family::reals];
        Family::at_site(contract::SiteColumns<V>{a, site + group * VL}, x, values);
        const auto phase = [&](const double* table, int mu) QUARKSTAR_INLINE_LAMBDA {
          alignas(64) double re[VL], im[VL];
          for (int l = 0; l < VL; ++l) {
            const double* of_lane = a.phase_at(table, at, group * VL + l, mu);
            re[l] = of_lane[0];
            im[l] = of_lane[1];
          }
          return site::Complex<V>{V::load(re), V::load(im)};
        };
        SumOfEachLane<VL>* own = running.data() + group * of_slice;
        contract::for_summands<Family>(a, values, 0, a.momenta, phase,
                                       [own](int sum, const V& summand) QUARKSTAR_INLINE_LAMBDA { own[sum].add(summand); });
      }
    }
    for (int group = 0; group < groups; ++group)
      for (int s = 0; s < of_slice; ++s) {
        runtime::BinnedSum of_lanes[VL];
        for (runtime::BinnedSum& sum : of_lanes) sum = runtime::BinnedSum::zero();
        running[static_cast<std::size_t>(group * of_slice + s)].merge_into(of_lanes);
        for (int l = 0; l < VL; ++l) sums[a.slice_of(time, group * VL + l) * of_slice + s].merge(of_lanes[l]);
      }
  }
}

}  // namespace

template <class Family>
contract::Kernel contract_kernel(int lanes) {
  return with_native_width<double>(lanes, [](auto width) -> contract::Kernel { return contract_range<Family, width>; });
}

#define QUARKSTAR_CORRELATORS(family) template contract::Kernel contract_kernel<contract::family>(int);
#include "codelets/contract/families.inc"
#undef QUARKSTAR_CORRELATORS

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
