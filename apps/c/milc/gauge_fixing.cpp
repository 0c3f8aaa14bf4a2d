// Gauge fixing by overrelaxation, on the host. Sources: docs/conventions.md and Mandula and Ogilvie 1990. A gauge that is fixed to a
// tolerance depends on the path, and sources that are not gauge invariant with it: parities, subgroups and the end are as MILC has them.
#include "apps/c/fields.hpp"
#include "apps/c/milc/milc.hpp"
#include "codelets/gauge/heatbath/link_update.hpp"
#include "codelets/gauge/observables.hpp"
#include "codelets/lattice/boxes.hpp"
#include "codelets/su3/matrix.hpp"
#include "runtime/graph/thread_sums.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::c;
using namespace quarkstar::c::milc;

namespace {

using Matrix = site::Link<double>;

Matrix adjoint(const Matrix& a) {
  Matrix result;
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column) result[row][column] = {a[column][row].re, -a[column][row].im};
  return result;
}

/// g that increases Re tr (g k), subgroup after subgroup, overrelaxed: the part outside of 1 is `boost` times as large, to first order.
Matrix relaxed(const Matrix& k, double boost) {
  Matrix g{};
  for (int i = 0; i < 3; ++i) g[i][i].re = 1;
  const auto step = [boost](const heatbath::Su2& w) {
    const double h0 = w.a0 * w.a0, outside = w.a1 * w.a1 + w.a2 * w.a2 + w.a3 * w.a3;
    const double x = (boost * h0 + outside) / (h0 + outside), size = std::sqrt(h0 + x * x * outside);
    if (!(size > 0)) return heatbath::Su2{1, 0, 0, 0};  // nothing to be gained
    return heatbath::Su2{w.a0 / size, -w.a1 * x / size, -w.a2 * x / size, -w.a3 * x / size};
  };
  heatbath::multiply_from_left<0, 1>(step(heatbath::subgroup_part<0, 1>(g, k)), g);
  heatbath::multiply_from_left<1, 2>(step(heatbath::subgroup_part<1, 2>(g, k)), g);
  heatbath::multiply_from_left<0, 2>(step(heatbath::subgroup_part<0, 2>(g, k)), g);
  return g;
}

/// Links of this rank's part, and transformations of them that maximise F over the first d directions. Collective.
class GaugeFixing {
 public:
  GaugeFixing(Context& context, HostGauge part, int directions)
      : context_(context), team_(context.session->cpu_team()), cut_(cut(context)), part_(std::move(part)), directions_(directions) {}

  HostGauge& links() { return part_; }

  /// Transforms odd sites, then even ones. Returns F, the mean of both times.
  double sweep(double boost) {
    transform(1, boost);
    const double half = functional();
    transform(0, boost);
    return 0.5 * (half + functional());
  }

  /// sum of tr A A^+ / (3 V), A the traceless part of Delta - Delta^+, Delta = sum of U_mu(x-mu) - U_mu(x).
  double theta() const {
    const HostGauge before = with_sites_before();
    const auto size2_of = [&](std::int64_t i) {
      Matrix delta{};
      for (int mu = 0; mu < directions_; ++mu)
        delta = delta + neighbour(before, i, mu) + site::scaled(-1.0, site::read_link(part_.link(i, mu).data()));
      const Matrix a = delta + site::scaled(-1.0, adjoint(delta));  // antihermitian
      const double third = (a[0][0].im + a[1][1].im + a[2][2].im) / 3;
      double size2 = 0;
      for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column) {
          const double im = a[row][column].im - (row == column ? third : 0);
          size2 += a[row][column].re * a[row][column].re + im * im;
        }
      return size2;
    };
    return sum_of(size2_of) / numbers();
  }

 private:
  /// F = sum over sites and directions of Re tr U / (3 V d).
  double functional() const {
    const auto trace = [&](std::int64_t i) {
      double sum = 0;
      for (int mu = 0; mu < directions_; ++mu) {
        const Matrix u = site::read_link(part_.link(i, mu).data());
        sum += u[0][0].re + u[1][1].re + u[2][2].re;
      }
      return sum;
    };
    return sum_of(trace) / (numbers() * directions_);
  }

  double numbers() const { return 3 * static_cast<double>(volume(lattice())); }

  /// Sum of summand(i-th site of the part) over the lattice.
  template <class Summand>
  double sum_of(Summand&& summand) const {
    std::array<runtime::BinnedSum, 1> sum;
    runtime::ThreadSums of_threads(team_.threads(), 1);
    team_.for_range(volume(part_.extents), [&](std::int64_t begin, std::int64_t end, int thread) {
      for (std::int64_t i = begin; i < end; ++i) runtime::add(*of_threads.of(thread), summand(i));
    });
    of_threads.merge_into(sum.data(), 1);
    context_.job->combine(sum);
    return runtime::value_of(sum[0]);
  }

  HostGauge with_sites_before() const { return collected(part_, cut_, with_border(cut_.part(), lattice(), 1, 0)); }

  /// U_mu(x - mu), x the i-th site of the part.
  Matrix neighbour(const HostGauge& before, std::int64_t i, int mu) const {
    Coord site = site_of(part_.box(), i);
    site[mu] = (site[mu] - 1 + lattice()[mu]) % lattice()[mu];
    return site::read_link(before.link(index_in(before.box(), site, lattice()), mu).data());
  }

  /// Transforms the sites of a parity, none of which are neighbours.
  void transform(int parity, double boost) {
    constexpr std::size_t reals = 18;
    const HostGauge before = with_sites_before();
    const std::int64_t sites = volume(part_.extents);
    std::vector<double> g(static_cast<std::size_t>(sites) * reals);
    const Matrix one = relaxed(Matrix{}, boost);
    team_.for_range(sites, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        double* const mine = g.data() + static_cast<std::size_t>(i) * reals;
        if (parity_of(site_of(part_.box(), i)) != parity) {
          site::write_link(mine, one);
          continue;
        }
        Matrix k{};
        for (int mu = 0; mu < directions_; ++mu) k = k + site::read_link(part_.link(i, mu).data()) + adjoint(neighbour(before, i, mu));
        site::write_link(mine, relaxed(k, boost));
      }
    });
    const Box wanted = with_border(cut_.part(), lattice(), 0, 1);
    const HostReals around = collected(g, reals, cut_, wanted);
    team_.for_range(sites, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i)
        for (int mu = 0; mu < 4; ++mu) {
          Coord site = site_of(part_.box(), i);
          site[mu] = (site[mu] + 1) % lattice()[mu];
          const double* const next = around.data() + static_cast<std::size_t>(index_in(wanted, site, lattice())) * reals;
          const Matrix mine = site::read_link(g.data() + static_cast<std::size_t>(i) * reals);
          double* const link = part_.link(i, mu).data();
          site::write_link(link, site::multiply_adjoint(multiply(mine, site::read_link(link)), site::read_link(next)));
        }
    });
  }

  Context& context_;
  const runtime::Team& team_;
  const runtime::Decomposition cut_;
  HostGauge part_;
  const int directions_;
};

}  // namespace

void qudaGaugeFixingOVR(int precision, unsigned int direction, int most_steps, int report_every, double relaxation, double tolerance,
                        unsigned int reunitarize_every, unsigned int stop_by_theta, QudaMILCSiteArg_t* site) {
  const qs_links links = links_at(__func__, precision, site);
  if (!(relaxation > 0) || relaxation >= 2)
    end(__func__, fmt::format("relaxation {}: give a number between 0 and 2, usually 1.5", relaxation));
  work(__func__, [&](Context& context) {
    const runtime::Team& team = context.session->cpu_team();
    constexpr unsigned int coulomb = 3;
    GaugeFixing fixing(context, links_from(links, cut(context).part(), team), direction == coulomb ? 3 : 4);
    double last = 0;
    for (int step = 1; step <= most_steps; ++step) {
      const double now = fixing.sweep(relaxation), change = std::abs(now - std::exchange(last, now));
      const bool ends = stop_by_theta != 0 ? fixing.theta() < tolerance : step > 1 && change < tolerance;
      if (ends || step == most_steps || (report_every > 0 && step % report_every == 0))  // MILC counts from 0
        spdlog::info("gauge fixing: step {}, F = {:.9g}, changed by {:.4g}, theta = {:.6g}", step - 1, now, change, fixing.theta());
      if (ends) break;
      if (reunitarize_every > 0 && step % static_cast<int>(reunitarize_every) == 0) gauge::reunitarize(fixing.links(), team);
    }
    gauge::reunitarize(fixing.links(), team);
    links_to(links, fixing.links(), team);
  });
}
