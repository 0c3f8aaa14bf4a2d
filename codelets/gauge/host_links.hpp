#pragma once
// Links between a block of a GaugeField and host order, one link at a time, for host and GPU alike.
#include "codelets/gauge/block_links.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/graph/codelet.hpp"

namespace quarkstar::gauge {

/// Sites of a block, and where it is in the lattice.
struct LinkPlace {
  LinkShape shape;
  Coord origin, lattice;
  Box sites;  ///< in coordinates of the block, border included; no site of the lattice twice

  /// Coordinates in the block of a site of the lattice; whether it has it.
  QUARKSTAR_HD bool find(const Coord& x, Coord& local) const {
    Box in_lattice = sites;
    for (int mu = 0; mu < 4; ++mu) in_lattice.origin[mu] += origin[mu];
    const bool has = find_in(in_lattice, x, lattice, local);
    for (int mu = 0; mu < 4; ++mu) local[mu] += sites.origin[mu];
    return has;
  }
};

/// Links with the boundary's phases.
struct LoadedLinks {
  LinkPlace place;
  site::Complex<double> boundary[4];  ///< e^{i pi theta}

  QUARKSTAR_HD void write(double* links, const Coord& local, int mu, const double* from, const Coord& x) const {
    const LinkStrides strides = place.shape.strides();
    const bool at_edge = x[mu] == place.lattice[mu] - 1;
    const double re = at_edge ? boundary[mu].re : 1, im = at_edge ? boundary[mu].im : 0;
    double* to = links + place.shape.offset(local) + mu * strides.link;
    for (int i = 0; i < LinkShape::link_reals; i += 2) {
      to[i * strides.real] = re * from[i] - im * from[i + 1];
      to[(i + 1) * strides.real] = re * from[i + 1] + im * from[i];
    }
  }
};

/// eta_mu(x) (scale links + extra_scale extra).
struct StoredLinks {
  LinkPlace place;
  LinkShape extra_shape;
  double scale, extra_scale;
  bool staggered_phases;

  /// extra: or nullptr.
  QUARKSTAR_HD void read(double* to, const double* links, const double* extra, const Coord& local, int mu, const Coord& x) const {
    const std::ptrdiff_t step = place.shape.strides().real;
    const double phase = staggered_phases ? staggered_phase(x, mu) : 1;
    const double* from = links + place.shape.offset(local) + mu * place.shape.strides().link;
    for (int i = 0; i < LinkShape::link_reals; ++i) to[i] = phase * (scale * from[i * step]);
    if (extra == nullptr) return;
    const double* more = extra + extra_shape.offset(local) + mu * extra_shape.strides().link;
    for (int i = 0; i < LinkShape::link_reals; ++i) to[i] += phase * (extra_scale * more[i * extra_shape.strides().real]);
  }

 private:
  /// MILC's: eta_x = (-1)^t, eta_y = (-1)^(t+x), eta_z = (-1)^(t+x+y), eta_t = 1.
  QUARKSTAR_HD static double staggered_phase(const Coord& x, int mu) {
    const int exponent = mu == 3 ? 0 : x[3] + (mu > 0 ? x[0] : 0) + (mu > 1 ? x[1] : 0);
    return exponent % 2 == 0 ? 1.0 : -1.0;
  }
};

struct LoadTask {
  LoadedLinks loaded;
  const HostGauge* host;
};

/// Buffers: the links, then the extra links (where there are any).
struct StoreTask {
  StoredLinks stored;
  HostGauge* host;
  bool has_extra;

  const double* extra(const runtime::Call& call) const { return has_extra ? call.buffer<const double>(1) : nullptr; }
};

}  // namespace quarkstar::gauge
