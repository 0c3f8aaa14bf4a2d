// Operations on colour vectors: contractions, shifts, spin and taste, smearing. They run on the host.
#include "apps/c/fields.hpp"
#include "apps/c/milc/milc.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/graph/binned_sum.hpp"
#include "runtime/system/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

using namespace quarkstar;
using namespace quarkstar::c;
using namespace quarkstar::c::milc;

namespace {

using Complex = std::complex<double>;
enum class Hop { forward = 1, backward = 2, symmetric = 3 };

/// Links for hops of vectors, with the address that they were taken from and a sample of what was there.
struct Transport {
  const void* address;
  std::uint64_t sample;
  HostGauge links;
};
std::optional<Transport> transport, two_link_transport;

/// Takes links that are new, or not the ones that are there.
const HostGauge& taken_links(const char* function, Context& context, std::optional<Transport>& kept, int precision, const void* links,
                             bool are_new) {
  const Coord extents = cut(context).part().extents;
  const std::size_t bytes = static_cast<std::size_t>(volume(extents)) * HostGauge::reals_per_site *
                            (precision_of(function, precision) == QS_SINGLE ? sizeof(float) : sizeof(double));
  const std::uint64_t sample = sample_of(bytes, links, extents, bytes);
  const bool is_there = kept.has_value() && !are_new && (links == nullptr || (links == kept->address && sample == kept->sample));
  if (context.job->any(!is_there)) {
    context.job->together([&] {
      if (links == nullptr) refuse("links", "there are none", fmt::format("give them to {}", function));
      kept = Transport{links, sample, links_from(links_at(function, precision, links), cut(context).part(), context.session->cpu_team())};
    });
  }
  return kept->links;
}

HostField vector_from(const char* function, Context& context, int precision, const void* vector) {
  HostField field;
  void* const address = const_cast<void*>(vector);  // only read
  context.job->together([&] {
    require(vector, "vector");
    field =
        vectors_from(vectors_at(function, precision, &address, 1), 1, colour_components, cut(context).part(), context.session->cpu_team())
            .front();
  });
  return field;
}

void give_vector(const char* function, Context& context, int precision, void* vector, const HostField& field) {
  require(vector, "vector");
  vector_to(vectors_at(function, precision, &vector, 1), 0, field, context.session->cpu_team());
}

/// U v, or U^+ v.
template <bool Dagger>
std::array<Complex, 3> multiplied(std::span<const double, 18> u, const Complex* v) {
  std::array<Complex, 3> product{};
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column) {
      const std::size_t entry = Dagger ? 3 * column + row : 3 * row + column;
      const Complex link{u[2 * entry], Dagger ? -u[2 * entry + 1] : u[2 * entry + 1]};
      product[row] += link * v[column];
    }
  return product;
}

/// Hops of colour vectors of this rank's part. Collective.
class Hopping {
 public:
  Hopping(Context& context, const HostGauge& links) : team_(context.session->cpu_team()), cut_(cut(context)), links_(links) {}

  const runtime::Team& team() const { return team_; }

  /// forward: U_mu(x) v(x+mu), backward: U_mu^+(x-mu) v(x-mu), symmetric: half of their sum.
  HostField operator()(const HostField& v, int mu, Hop hop) const {
    if (hop != Hop::symmetric) return hop == Hop::forward ? forward(v, mu) : backward(v, mu);
    HostField sum = forward(v, mu);
    const HostField other = backward(v, mu);
    for (std::size_t i = 0; i < sum.data.size(); ++i) sum.data[i] = 0.5 * (sum.data[i] + other.data[i]);
    return sum;
  }

 private:
  template <class Site>
  HostField each_site(const HostField& v, Site&& site) const {
    HostField result(colour_components, v.box());
    team_.for_range(volume(v.extents), [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) std::ranges::copy(site(i), &result.at(i, 0));
    });
    return result;
  }
  /// v one site further in direction mu.
  HostField neighbours(const HostField& v, int mu, int step) const {
    Box wanted = v.box();
    wanted.origin[mu] = (wanted.origin[mu] + step + lattice()[mu]) % lattice()[mu];
    const auto numbers = std::span(reinterpret_cast<const double*>(v.data.data()), 2 * v.data.size());
    const HostReals there = collected(numbers, 2 * colour_components, cut_, wanted);
    HostField result(colour_components, v.box());
    std::ranges::copy(there, reinterpret_cast<double*>(result.data.data()));
    return result;
  }
  HostField forward(const HostField& v, int mu) const {
    const HostField next = neighbours(v, mu, 1);
    return each_site(v, [&](std::int64_t i) { return multiplied<false>(links_.link(i, mu), &next.at(i, 0)); });
  }
  HostField backward(const HostField& v, int mu) const {
    return neighbours(each_site(v, [&](std::int64_t i) { return multiplied<true>(links_.link(i, mu), &v.at(i, 0)); }), mu, -1);
  }

  const runtime::Team& team_;
  const runtime::Decomposition cut_;
  const HostGauge& links_;
};

/// v(x) <- (-1)^(sum of x_mu over the bits of `signs`) v(x), bits x = 1, y = 2, z = 4, t = 8.
void apply_signs(HostField& v, int signs) {
  for (std::int64_t i = 0; i < volume(v.extents); ++i) {
    const Coord site = site_of(v.box(), i);
    int sum = 0;
    for (int mu = 0; mu < 4; ++mu) sum += (signs >> mu & 1) * site[mu];
    if ((sum & 1) != 0)
      for (int c = 0; c < colour_components; ++c) v.at(i, c) = -v.at(i, c);
  }
}

constexpr int all_directions = 15;

/// eta_mu zeta_mu = (-1)^(x+y+z+t) (-1)^x_mu of every direction in `gammas`.
int signs_of(int gammas) {
  int signs = 0;
  for (int mu = 0; mu < 4; ++mu)
    if ((gammas >> mu & 1) != 0) signs ^= all_directions ^ 1 << mu;
  return signs;
}

/// The meson operator of MILC's general_spin_taste_op() with its origin at 0: signs of the spin's matrices, symmetric shifts with the signs
/// eta_mu zeta_mu in the directions in which spin and taste differ, antisymmetrized over their order, and (-1)^(x+y+z+t) of the antiquark.
HostField spin_taste(const Hopping& hop, HostField v, int spin, int taste) {
  std::vector<int> directions;
  for (int mu = 0; mu < 4; ++mu)
    if (((spin ^ taste) >> mu & 1) != 0) directions.push_back(mu);
  apply_signs(v, signs_of(spin));
  HostField sum(colour_components, v.box());
  std::vector<int> order = directions;
  double orders = 0;
  do {
    HostField shifted = v;
    for (const int mu : order) {
      shifted = hop(shifted, mu, Hop::symmetric);
      apply_signs(shifted, signs_of(1 << mu));
    }
    int exchanges = 0;
    for (std::size_t a = 0; a < order.size(); ++a)
      for (std::size_t b = a + 1; b < order.size(); ++b) exchanges += order[a] > order[b] ? 1 : 0;
    // Of two shifts MILC counts the order xy, yz, zx and mu t as the odd one.
    const bool is_zx = order.size() == 2 && (spin ^ taste) == 5;
    const bool is_odd = (exchanges + (order.size() == 2 && !is_zx ? 1 : 0)) % 2 != 0;
    for (std::size_t i = 0; i < sum.data.size(); ++i) sum.data[i] += is_odd ? -shifted.data[i] : shifted.data[i];
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  for (Complex& number : sum.data) number /= orders;
  apply_signs(sum, all_directions);
  return sum;
}

/// The factor of one direction in a Fourier sum.
Complex fourier_factor(const char* function, QudaFFTSymmType type, double theta) {
  switch (type) {
    case QUDA_FFT_SYMM_ODD:
      return {0, std::sin(theta)};
    case QUDA_FFT_SYMM_EVEN:
      return {std::cos(theta), 0};
    case QUDA_FFT_SYMM_EO:
      return std::polar(1.0, theta);
    default:
      end(function, fmt::format("type {} of a Fourier factor: give one of QudaFFTSymmType", static_cast<int>(type)));
  }
}

}  // namespace

void quarkstar::c::milc::forget_transport() {
  transport.reset();
  two_link_transport.reset();
}

void qudaContractFT(int precision, QudaContractArgs_t* arguments, void* antiquark, void* quark, double* correlator) {
  const char* const function = __func__;
  const double start = runtime::now_us();
  const int modes = arguments->n_mom, times = lattice()[3];
  work(function, [&](Context& context) {
    const HostField a = vector_from(function, context, precision, antiquark), b = vector_from(function, context, precision, quark);
    const Box part = a.box();
    // factors[mode][mu][x_mu]
    std::vector<std::array<std::vector<Complex>, 4>> factors(static_cast<std::size_t>(modes));
    for (std::size_t mode = 0; mode < factors.size(); ++mode)
      for (std::size_t mu = 0; mu < 4; ++mu)
        for (int x = 0; x < lattice()[mu]; ++x) {
          const double theta =
              2 * std::numbers::pi * arguments->mom_modes[4 * mode + mu] * (x - arguments->source_position[mu]) / lattice()[mu];
          factors[mode][mu].push_back(fourier_factor(function, arguments->fft_type[4 * mode + mu], theta));
        }
    std::vector<runtime::BinnedSum> sums(static_cast<std::size_t>(modes * times * 2), runtime::BinnedSum::zero());
    const std::int64_t slice = volume(part.extents) / part.extents[3];
    context.session->cpu_team().for_range(part.extents[3], [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin * slice; i < end * slice; ++i) {
        const Coord site = site_of(part, i);
        Complex product = 0;
        for (int c = 0; c < colour_components; ++c) product += std::conj(a.at(i, c)) * b.at(i, c);
        for (std::size_t mode = 0; mode < factors.size(); ++mode) {
          Complex term = product;
          for (std::size_t mu = 0; mu < 4; ++mu) term *= factors[mode][mu][static_cast<std::size_t>(site[mu])];
          const std::size_t at = 2 * (mode * static_cast<std::size_t>(times) + static_cast<std::size_t>(site[3]));
          runtime::add(sums[at], term.real());
          runtime::add(sums[at + 1], term.imag());
        }
      }
    });
    context.job->combine(sums);
    for (std::size_t i = 0; i < sums.size(); ++i) correlator[i] += runtime::value_of(sums[i]);
  });
  arguments->dtime = (runtime::now_us() - start) * 1e-6;
  arguments->flops = static_cast<double>(volume(lattice())) * (24 + 26.0 * modes);
}

void qudaShift(int external_precision, int, const void* links, const void* source, void* image, int direction, int symmetry, int reload) {
  const char* const function = __func__;
  if (direction < 0 || direction > 3) end(function, fmt::format("direction {}: give 0 to 3", direction));
  if (symmetry < 1 || symmetry > 3) end(function, fmt::format("symmetry {}: give 1, 2 or 3", symmetry));
  work(function, [&](Context& context) {
    const Hopping hop(context, taken_links(function, context, transport, external_precision, links, reload != 0));
    const HostField v = vector_from(function, context, external_precision, source);
    give_vector(function, context, external_precision, image, hop(v, direction, static_cast<Hop>(symmetry)));
  });
}

void qudaSpinTaste(int external_precision, int, const void* links, const void* source, void* image, int spin, int taste, int reload) {
  const char* const function = __func__;
  if (spin < 0 || spin > all_directions || taste < 0 || taste > all_directions)
    end(function, fmt::format("spin {} and taste {}: give four bits each", spin, taste));
  if (reload != 0) transport.reset();  // also where this call needs none: the next one is not told
  work(function, [&](Context& context) {
    const HostGauge none{cut(context).part().extents, {}, cut(context).part().origin};
    const bool is_local = spin == taste;
    const Hopping hop(context, is_local ? none : taken_links(function, context, transport, external_precision, links, reload != 0));
    const HostField v = vector_from(function, context, external_precision, source);
    give_vector(function, context, external_precision, image, spin_taste(hop, v, spin, taste));
  });
}

void qudaTwoLinkGaussianSmear(int external_precision, int, void* links, void* vector, QudaTwoLinkQuarkSmearArgs_t arguments) {
  const char* const function = __func__;
  constexpr int space = 3;
  if (arguments.laplaceDim != space) end(function, fmt::format("a Laplacian in {} dimensions: only 3 are there", arguments.laplaceDim));
  if (arguments.n_steps < 0) end(function, fmt::format("{} steps: give 0 or more", arguments.n_steps));
  const double weight = arguments.width * arguments.width / (16.0 * std::max(1, arguments.n_steps));
  work(function, [&](Context& context) {
    const Hopping hop(context, taken_links(function, context, two_link_transport, external_precision, links, arguments.compute_2link != 0));
    HostField v = vector_from(function, context, external_precision, vector);
    for (int step = 0; step < arguments.n_steps; ++step) {
      HostField sum = v;
      for (Complex& number : sum.data) number *= 1 - 2 * space * weight;
      for (int mu = 0; mu < space; ++mu)
        for (const Hop side : {Hop::forward, Hop::backward}) {
          const HostField there = hop(hop(v, mu, side), mu, side);
          for (std::size_t i = 0; i < sum.data.size(); ++i) sum.data[i] += weight * there.data[i];
        }
      const std::int64_t slice = volume(v.extents) / v.extents[3];
      for (std::int64_t i = 0; i < volume(v.extents); ++i)
        if (arguments.t0 < 0 || v.origin[3] + i / slice == arguments.t0)
          for (int c = 0; c < colour_components; ++c) v.at(i, c) = sum.at(i, c);
    }
    give_vector(function, context, external_precision, vector, v);
  });
  if (arguments.delete_2link != 0) two_link_transport.reset();
}

void qudaFreeTwoLink(void) { two_link_transport.reset(); }
