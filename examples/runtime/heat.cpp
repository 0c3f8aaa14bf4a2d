// The heat equation on a periodic three-dimensional lattice, by explicit Euler steps, on quarkstar::runtime alone: blocks, halos, and
// ranks.
//
//   heat [POLICY] [BLOCKS_Y] [BLOCKS_Z] [STEPS]      also under mpirun
//
//   u'(x) = u(x) + c sum_mu [u(x + mu) - 2 u(x) + u(x - mu)]
//
// The lattice is cut into blocks. Before each step every block packs the layers that its neighbours need (faces), the runtime moves them
// where the neighbour is on another worker or rank, and meanwhile the interior of each block is computed, which needs no face. The layers
// at the cuts follow. Every site sums its neighbours in one order, so the result has the same bits for any cut. The start is a product of
// sines, which a step multiplies by 1 - 4 c sum_mu sin^2(pi k_mu / N_mu): the result is compared with that.
#include "runtime/cut/halo.hpp"
#include "runtime/graph/array.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/typed_codelet.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/mpi/rank_grid.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::runtime;

namespace {

/// The blocks of the runtime are four-dimensional: two temperatures, with different starts, lie side by side in the fourth direction.
constexpr Coord lattice{24, 16, 32, 2};
constexpr std::array<int, 3> waves[] = {{1, 2, 1}, {2, 1, 3}};
constexpr double c = 0.1;

/// Where the neighbours of a block's surface are: for each direction 2 mu (+mu) and 2 mu + 1 (-mu) the place of its face in the list of
/// faces; -1 where the lattice is not cut, and the neighbour is in the block itself.
using Faces = std::array<int, 6>;
using Site = std::array<std::int64_t, 4>;

/// Place of a site in the face of a block of these extents, across mu.
std::int64_t place_in_face(const Site& site, const Site& extents, std::size_t mu) {
  const std::size_t first = mu == 0 ? 1 : 0, second = mu == 2 ? 1 : 2;
  return site[first] + extents[first] * (site[second] + extents[second] * site[3]);
}

double step_at(const View<const double, 4>& u, const std::vector<In<double, 1>>& faces, const Faces& places, const Site& site) {
  double sum = 0;
  for (std::size_t mu = 0; mu < 3; ++mu)
    for (std::size_t side = 0; side < 2; ++side) {
      const int face = places[2 * mu + side];
      Site there = site;
      there[mu] += side == 0 ? 1 : -1;
      if (face >= 0 && (there[mu] < 0 || there[mu] == u.extents[mu])) {
        sum += faces[static_cast<std::size_t>(face)][place_in_face(site, u.extents, mu)];
      } else {
        there[mu] = (there[mu] + u.extents[mu]) % u.extents[mu];
        sum += u(there[0], there[1], there[2], there[3]);
      }
    }
  return u(site[0], site[1], site[2], site[3]) + c * (sum - 6 * u(site[0], site[1], site[2], site[3]));
}

/// Whether a site has neighbours in other blocks.
bool is_surface(const Site& site, const Site& extents, const Faces& places) {
  for (std::size_t mu = 0; mu < 3; ++mu)
    if (places[2 * mu] >= 0 && (site[mu] == 0 || site[mu] == extents[mu] - 1)) return true;
  return false;
}

template <bool Surface>
void step_sites(Call& call, const View<const double, 4>& u, const View<double, 4>& next, const std::vector<In<double, 1>>& faces,
                const Faces& places) {
  call.team().for_range(u.size(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Site& e = u.extents;
      const Site site{i % e[0], i / e[0] % e[1], i / (e[0] * e[1]) % e[2], i / (e[0] * e[1] * e[2])};
      if (is_surface(site, e, places) == Surface) next[i] = step_at(u, faces, places, site);
    }
  });
}

const TypedCodelet interior("heat.interior", CodeletKind::stencil, [](Call& call, In<double, 4> u, Out<double, 4> next, Faces places) {
  step_sites<false>(call, u, next, {}, places);
});
const TypedCodelet boundary("heat.boundary", CodeletKind::stencil,
                            [](Call& call, In<double, 4> u, InOut<double, 4> next, const std::vector<In<double, 1>>& faces, Faces places) {
                              step_sites<true>(call, u, next, faces, places);
                            });

/// The layer that the neighbour who looks along `direction` sees.
const TypedCodelet pack("heat.pack", CodeletKind::pack, [](Call&, In<double, 4> u, Out<double, 1> face, int direction) {
  const auto mu = static_cast<std::size_t>(direction / 2);
  Site layer = u.extents;
  layer[mu] = 1;
  for (std::int64_t i = 0; i < u.size() / u.extents[mu]; ++i) {
    Site site{i % layer[0], i / layer[0] % layer[1], i / (layer[0] * layer[1]) % layer[2], i / (layer[0] * layer[1] * layer[2])};
    site[mu] = direction % 2 == 0 ? 0 : u.extents[mu] - 1;
    face[place_in_face(site, u.extents, mu)] = u(site[0], site[1], site[2], site[3]);
  }
});

double start_at(const Coord& site) {
  double product = 1;
  for (std::size_t mu = 0; mu < 3; ++mu) product *= std::sin(2 * M_PI * waves[site[3]][mu] * (site[mu] + 0.5) / lattice[mu]);
  return product;
}

/// What so many steps multiply the start by.
double amplitude(int temperature, int steps) {
  double factor = 1;
  for (std::size_t mu = 0; mu < 3; ++mu) {
    const double sine = std::sin(M_PI * waves[temperature][mu] / lattice[mu]);
    factor -= 4 * c * sine * sine;
  }
  return std::pow(factor, steps);
}

class Heat {
 public:
  explicit Heat(const Decomposition& decomposition)
      : decomposition_(decomposition),
        halo_(
            decomposition, [this](int block, int direction) { return face_bytes(block, direction); }, "face") {
    for (const int b : decomposition.local()) {
      const Coord& e = decomposition.block(b).extents;
      for (auto& fields : u_) fields.emplace_back(e[0], e[1], e[2], e[3]);
    }
    each_site(HostAccess::overwrite, [](double& u, const Coord& site) { u = start_at(site); });
  }

  void step() {
    halo_.next();
    for (const int b : decomposition_.local())
      for (int direction = 0; direction < 6; ++direction)
        if (const auto bytes = static_cast<double>(face_bytes(b, direction)); bytes > 0)
          submit(pack.on(of(now_, b), halo_.outgoing(b, direction), direction), {0, 2 * bytes}, place(b, true));
    halo_.exchange();
    for (const int b : decomposition_.local()) {
      const double sites = static_cast<double>(volume(decomposition_.block(b).extents));
      submit(interior.on(of(now_, b), of(1 - now_, b), faces_of(b)), {8 * sites, 16 * sites}, place(b, false));
    }
    for (const int b : decomposition_.local()) {
      std::vector<const Handle*> faces;
      double bytes = 0;
      for (int direction = 0; direction < 6; ++direction)
        if (face_bytes(b, direction) > 0) {
          faces.push_back(&halo_.incoming(b, direction));
          bytes += static_cast<double>(face_bytes(b, direction));
        }
      if (!faces.empty()) submit(boundary.on(of(now_, b), of(1 - now_, b), faces, faces_of(b)), {bytes, 3 * bytes}, place(b, true));
    }
    now_ = 1 - now_;
  }

  /// visit(value, site) on the host.
  template <class Visit>
  void each_site(HostAccess access, Visit&& visit) {
    for (const int b : decomposition_.local()) {
      const Block& block = decomposition_.block(b);
      const HostArray u(of(now_, b), access);
      const Box box(block.origin, block.extents);
      for (std::int64_t i = 0; i < volume(block.extents); ++i) visit(u[i], site_of(box, i));
    }
  }

 private:
  const Array<double, 4>& of(int buffer, int block) const {
    return u_[static_cast<std::size_t>(buffer)][static_cast<std::size_t>(decomposition_.local_index(block))];
  }
  Placement place(int block, bool urgent) const { return {.owner = decomposition_.block(block).owner, .block = block, .urgent = urgent}; }
  std::size_t face_bytes(int block, int direction) const {
    const int mu = direction / 2;
    const Coord& extents = decomposition_.block(block).extents;
    return decomposition_.is_cut(mu) ? sizeof(double) * static_cast<std::size_t>(volume(extents) / extents[static_cast<std::size_t>(mu)])
                                     : 0;
  }
  Faces faces_of(int block) const {
    Faces place{};
    int next = 0;
    for (int direction = 0; direction < 6; ++direction)
      place[static_cast<std::size_t>(direction)] = face_bytes(block, direction) > 0 ? next++ : -1;
    return place;
  }

  const Decomposition& decomposition_;
  Halo halo_;
  std::array<std::vector<Array<double, 4>>, 2> u_;
  int now_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  const std::string policy = argc > 1 ? argv[1] : "static";
  const int blocks_y = argc > 2 ? std::stoi(argv[2]) : 1, blocks_z = argc > 3 ? std::stoi(argv[3]) : 2,
            steps = argc > 4 ? std::stoi(argv[4]) : 50;
  mpi::Job job;
  const Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0, .policy = policy});
  const std::vector<double> speeds(static_cast<std::size_t>(job.size()), 1.0);
  const RankGrid ranks = mpi::make_rank_grid(lattice, Coord{1, 1, job.size(), 1}, speeds, job.rank());
  const Decomposition decomposition(lattice, ranks, {1, blocks_y, blocks_z, 1}, static_cast<int>(session.workers().size()));

  double worst = 0, checked = 0;
  {
    Heat heat(decomposition);
    for (int step = 0; step < steps; ++step) heat.step();
    heat.each_site(HostAccess::read, [&](double u, const Coord& site) {
      const double factor = amplitude(site[3], steps);
      worst = std::max(worst, std::abs(u - factor * start_at(site)) / factor);
      if (site == Coord{3, 5, 7, 1}) checked = u;
    });
  }
  std::array<double, 1> largest{worst}, value{checked};
  job.combine(largest, mpi::Combine::maximum);
  job.combine(value, mpi::Combine::sum);
  if (job.is_root())
    std::printf("heat: after %d steps it differs from the exact result by %.1e, u(3, 5, 7) = %.17g\n", steps, largest[0], value[0]);
  return largest[0] < 1e-12 ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
