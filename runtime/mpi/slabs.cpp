#include "runtime/mpi/slabs.hpp"

#include "runtime/system/number_variable.hpp"

#include <algorithm>
#include <cstdlib>

namespace quarkstar::runtime::mpi {

std::vector<Box> slabs_of(const Box& box, std::int64_t most) {
  int mu = 3;  // the direction that is cut
  std::int64_t layer = volume(box.extents) / box.extents[3];
  for (; mu > 0 && layer > most; --mu) layer /= box.extents[mu - 1];
  const int thick = static_cast<int>(std::clamp<std::int64_t>(most / layer, 1, box.extents[mu]));
  Coord above{1, 1, 1, 1};
  for (int nu = mu + 1; nu < 4; ++nu) above[nu] = box.extents[nu];
  std::vector<Box> slabs;
  for (std::int64_t i = 0; i < volume(above); ++i) {
    const Coord place = coordinates(i, above);
    for (int first = 0; first < box.extents[mu]; first += thick) {
      Box slab = box;
      slab.origin[mu] += first;
      slab.extents[mu] = std::min(thick, box.extents[mu] - first);
      for (int nu = mu + 1; nu < 4; ++nu) {
        slab.origin[nu] += place[nu];
        slab.extents[nu] = 1;
      }
      slabs.push_back(slab);
    }
  }
  return slabs;
}

std::int64_t sites_a_slab(std::size_t record_bytes) {
  constexpr std::size_t usual = std::size_t{128} << 20, most = std::size_t{1} << 30;
  const auto wanted = static_cast<std::size_t>(number_in("QUARKSTAR_IO_SLAB", std::getenv("QUARKSTAR_IO_SLAB")).value_or(0));
  return static_cast<std::int64_t>(std::max<std::size_t>(std::min(wanted > 0 ? wanted : usual, most) / record_bytes, 1));
}

}  // namespace quarkstar::runtime::mpi
