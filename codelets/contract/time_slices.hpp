#pragma once
// Zero-momentum sums: every site of a time slice.
#include "runtime/cut/coord.hpp"
#include "runtime/graph/binned_sum.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quarkstar {

/// Sums of value(site) over the sites of each time slice of a box, t counted from the source's slice on a lattice of `times` slices.
template <class Value>
std::vector<runtime::BinnedSum> sum_time_slices(const Box& box, int source_time, int times, Value&& value) {
  const std::int64_t sites_per_slice = volume(box.extents) / box.extents[3];
  std::vector<runtime::BinnedSum> sums(static_cast<std::size_t>(times), runtime::BinnedSum::zero());
  for (int slice = 0; slice < box.extents[3]; ++slice) {
    const int t = (box.origin[3] + slice - source_time + times) % times;
    for (std::int64_t site = sites_per_slice * slice; site < sites_per_slice * (slice + 1); ++site)
      runtime::add(sums[static_cast<std::size_t>(t)], value(site));
  }
  return sums;
}

inline std::vector<double> values_of(const std::vector<runtime::BinnedSum>& sums) {
  std::vector<double> values;
  for (const runtime::BinnedSum& sum : sums) values.push_back(runtime::value_of(sum));
  return values;
}

}  // namespace quarkstar
