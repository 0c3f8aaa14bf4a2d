#include "apps/studies/estimates.hpp"

#include "apps/studies/hisq_model.hpp"

namespace quarkstar::app::model {

int cached_neighbours(double cache_bytes, const Coord& lattice) {
  constexpr double vector = 24;
  const double held = cache_bytes / vector;
  double slice = 0.5;  // sites of one parity inside a direction
  int hits = 0;
  for (int mu = 0; mu < 4; ++mu) {
    const double inner = slice * lattice[mu];
    const int all = mu == 0 ? 3 : 4;  // the first site of a row has to come from memory
    if (held >= inner) hits += all;
    else return hits + (mu > 0 && held >= 4 * slice ? 2 : 0);
    slice = inner;
  }
  return hits;
}

double HisqCg::bytes(int n, double cache_hits) { return 2 * hisq_model::bytes(n, cache_hits) + n * vectors * 24; }

double HisqCg::intensity(int n, double cache_hits) { return flops * n / bytes(n, cache_hits); }

double cg_speed(const Coord& lattice, int n, double cache_hits, double bandwidth, double overhead_us) {
  const double sites = static_cast<double>(volume(lattice)) / 2;
  const double seconds = sites * HisqCg::bytes(n, cache_hits) / (bandwidth * 1e9) + HisqCg::kernels * overhead_us * 1e-6;
  return sites * n * HisqCg::flops / seconds * 1e-9;
}

double SeedWilson::bytes_a_flop(int link_reals, int bytes_of_a_real) { return (8. * link_reals + 10. * 24) * bytes_of_a_real / flops; }

double Wilson::bytes(int link_reals, int bytes_of_a_real) {
  const double spinor = 24. * bytes_of_a_real + (bytes_of_a_real == 2 ? 4 : 0);
  return 8. * link_reals * bytes_of_a_real + 9 * spinor;
}

double wilson_speed(const Coord& lattice, int link_reals, int bytes_of_a_real, double bandwidth, double overhead_us) {
  const double sites = static_cast<double>(volume(lattice)) / 2;
  const double seconds = sites * Wilson::bytes(link_reals, bytes_of_a_real) / (bandwidth * 1e9) + overhead_us * 1e-6;
  return sites * Wilson::flops / seconds * 1e-9;
}

}  // namespace quarkstar::app::model
