#pragma once
// What makes one link of another: one body for CPUs and GPUs.
#include "codelets/arch/items.hpp"
#include "codelets/gauge/staple.hpp"
#include "codelets/su3/maximal_trace.hpp"
#include "codelets/su3/unitarize.hpp"

namespace quarkstar::smear {

/// U_mu(x) on the sites inside the border of a block, as they are in memory.
struct LinkItem {
  Coord x;
  int mu;
  static std::int64_t items(const gauge::LinkShape& shape) { return 4 * volume(shape.extents); }
  QUARKSTAR_HD LinkItem(std::int64_t item, const gauge::LinkShape& shape) {
    const VectorItem place(item, 4, shape.extents[0]);
    x = shape.row_start(place.outer);
    x[0] = place.lane;
    mu = place.vector;
  }
};

struct ApeArguments {
  gauge::LinkShape out_shape, in_shape;  ///< equal extents
  double alpha;
};

/// ape_links().
struct SmearApe {
  static constexpr const char* name = "smear.ape";
  static constexpr auto kind = runtime::CodeletKind::stencil;
  static std::int64_t items(const ApeArguments& a) { return LinkItem::items(a.in_shape); }
  QUARKSTAR_HD static void run(const ApeArguments& a, std::int64_t item, double* out, const double* in) {
    const auto [x, mu] = LinkItem(item, a.in_shape);
    const gauge::LinkStrides from = a.in_shape.strides(), to = a.out_shape.strides();
    const gauge::StridedLinks<double> links(in, from);
    const std::ptrdiff_t p = a.in_shape.offset(x);
    site::Link<double> u = links.load(p, mu);
    if (mu < 3) {
      const site::Link<double> staples = gauge::staple_sum<3>(links, p, mu);  // from x + mu to x
      const double old = 1 - a.alpha, each = a.alpha / 4;
      const site::Link<double> sum =
          site::link_of<double>([&](auto i, auto j) { return site::scaled(old, u[i][j]) + site::scaled(each, site::conj(staples[j][i])); });
      site::maximise_trace(u, sum);
    }
    site::write_link(out + a.out_shape.offset(x) + mu * to.link, u, to.real);
  }
};

/// unitarize_links().
struct Unitarize {
  static constexpr const char* name = "smear.unitarize";
  static constexpr auto kind = runtime::CodeletKind::other;
  static std::int64_t items(const gauge::LinkShape& shape) { return LinkItem::items(shape); }
  QUARKSTAR_HD static void run(const gauge::LinkShape& shape, std::int64_t item, double* links) {
    const auto [x, mu] = LinkItem(item, shape);
    const gauge::LinkStrides strides = shape.strides();
    site::unitarize_in_place(links + shape.offset(x) + mu * strides.link, strides.real);
  }
};

}  // namespace quarkstar::smear
