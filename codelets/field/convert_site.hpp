#pragma once
// One spinor between two number formats, on host and GPU.
#include "codelets/arch/lane.hpp"
#include "codelets/field/storage.hpp"

namespace quarkstar {

/// A lane of a format, alone.
template <class F>
using SiteLane = site::Lane<Real<F>>;

/// Offset of a site's first word in a block of spinors.
template <class F>
QUARKSTAR_HD std::size_t spinor_offset(int outer, int lane, int lanes) {
  return static_cast<std::size_t>(outer) * static_cast<std::size_t>(spinor_words<F> * lanes) + static_cast<std::size_t>(lane);
}

/// to <- from, rounded to nearest where `to` is narrower.
template <class To, class From>
QUARKSTAR_HD void convert_site(To* to, int to_lanes, const From* from, int from_lanes) {
  const site::SiteReader<From, SiteLane<From>> reader(from, from_lanes);
  site::Complex<SiteLane<To>> z[12];
  site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
    const auto value = reader.component(c);
    z[c] = {{static_cast<Real<To>>(value.re.v)}, {static_cast<Real<To>>(value.im.v)}};
  });
  site::write_site<To>(to, to_lanes, z);
}

}  // namespace quarkstar
