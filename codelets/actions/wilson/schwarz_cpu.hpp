#pragma once
// CPU driver: minimal residual on Schwarz domains: a domain stays in the cache for all of its steps.
#include "codelets/actions/wilson/schwarz_kernels.hpp"
#include "codelets/actions/wilson/schwarz_site.hpp"
#include "codelets/arch/lanes.hpp"

#include <limits>
#include <utility>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// The neighbours of one site of the domains in lanes [lane0, lane0 + VL), in working memory: [site][component][re, im][lane].
template <class F, int W, int VL, int Reals>
struct DomainNeighbours {
  using V = Pack<Real<F>, VL>;
  const std::uint32_t* entries;
  const Real<F>* field;
  const F* links;  // of this outer site
  int lane0;

  template <int D, int Projector>
  inline __attribute__((always_inline)) void half_spinor(site::HalfSpinor<V>& h) {
    const Real<F>* p = field + static_cast<std::size_t>(entries[D]) * (24 * VL);
    wilson::project_in_domain<F, D / 2, Projector>(h, [p](auto c) QUARKSTAR_INLINE_LAMBDA -> site::Complex<V> {
      return {V::load(p + 2 * c * VL), V::load(p + (2 * c + 1) * VL)};
    });
  }
  template <int D>
  inline __attribute__((always_inline)) void link(site::Link<V>& u) {
    site::load_link<F, Reals, site::PlainLoads>(u, links + D * NumberFormat<F>::link_words(Reals) * W + lane0, W);
  }
};

/// The domains in one group of lanes of one domain number.
template <class F, int W, int VL, int Reals>
class DomainSolver {
  using T = Real<F>;
  using V = Pack<T, VL>;
  static constexpr int site_reals = 24 * VL;
  static constexpr std::size_t site_links = std::size_t{8} * NumberFormat<F>::link_words(Reals) * W;

 public:
  DomainSolver(const wilson::SchwarzArguments<F>& a, std::int64_t domain, int lane0, T* memory) : a_(a), lane0_(lane0) {
    const std::size_t field = static_cast<std::size_t>(a.domain_sites) * site_reals;
    r_ = memory;
    z_ = r_ + field;
    image_ = z_ + field;
    even_ = image_ + field;
    for (int parity = 0; parity < 2; ++parity) sites_[parity] = a.sites[parity] + domain * a.domain_sites;
  }

  /// z = `steps` steps of minimal residual from 0 on A z = r.
  void solve() {
    load();
    for (int step = 0; step < a_.steps; ++step) {
      hop(0, even_, r_);
      hop(1, image_, even_);
      const site::Complex<V> alpha = finish_image();
      advance(alpha, step + 1 < a_.steps);
    }
    store();
  }

 private:
  static inline __attribute__((always_inline)) site::Complex<V> read(const T* field, int i, int c) {
    const T* p = field + static_cast<std::size_t>(i) * site_reals + 2 * c * VL;
    return {V::load(p), V::load(p + VL)};
  }
  static inline __attribute__((always_inline)) void write(T* field, int i, int c, const site::Complex<V>& z) {
    T* p = field + static_cast<std::size_t>(i) * site_reals + 2 * c * VL;
    z.re.store(p);
    z.im.store(p + VL);
  }

  void load() {
    const site::Complex<V> zero{V::broadcast(0), V::broadcast(0)};
    for (int i = 0; i < a_.domain_sites; ++i) {
      const site::SiteReader<F, V> in(a_.in + place(1, i), W);
      site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
        write(r_, i, c, in.component(c));
        write(z_, i, c, zero);
      });
    }
  }
  void store() {
    for (int i = 0; i < a_.domain_sites; ++i) {
      site::Complex<V> z[12];
      site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA { z[c] = read(z_, i, c); });
      site::write_site<F>(a_.out + place(1, i), W, z);
    }
  }
  std::size_t place(int parity, int i) const {
    return static_cast<std::size_t>(sites_[parity][i]) * static_cast<std::size_t>(a_.vectors * spinor_words<F> * W) +
           static_cast<std::size_t>(lane0_);
  }

  /// to = H from on the sites of `parity`, by the hops that stay in the domain.
  __attribute__((noinline)) void hop(int parity, T* to, const T* from) const {
    for (int i = 0; i < a_.domain_sites; ++i) {
      DomainNeighbours<F, W, VL, Reals> neighbours{a_.neighbours[parity] + i * 8, from, a_.links[parity] + sites_[parity][i] * site_links,
                                                   lane0_};
      site::Spinor<V> h;
      wilson::hops_in_domain(h, neighbours);
      site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA { write(to, i, c, h[c / 3][c % 3]); });
    }
  }

  /// image = diagonal r + scale image, which is A r then; returns <A r, r> / |A r|^2. Sums run in the order of the domain's sites.
  site::Complex<V> finish_image() {
    const V diagonal = V::broadcast(a_.diagonal), scale = V::broadcast(a_.scale);
    wilson::DomainSums<V> sums;
    for (int i = 0; i < a_.domain_sites; ++i)
      sums = sums + wilson::image_in_domain(
                        diagonal, scale, [&](auto c) QUARKSTAR_INLINE_LAMBDA { return read(r_, i, c); },
                        [&](auto c) QUARKSTAR_INLINE_LAMBDA { return read(image_, i, c); },
                        [&](auto c, const site::Complex<V>& z) QUARKSTAR_INLINE_LAMBDA { write(image_, i, c, z); });
    return sums.alpha(std::numeric_limits<T>::min());
  }

  /// z += alpha r;  r -= alpha A r where another step follows.
  void advance(const site::Complex<V>& alpha, bool again) {
    for (int i = 0; i < a_.domain_sites; ++i)
      site::unroll<12>([&](auto c) QUARKSTAR_INLINE_LAMBDA {
        const site::Complex<V> r = read(r_, i, c);
        write(z_, i, c, site::multiply_add(alpha, r, read(z_, i, c)));
        if (again) write(r_, i, c, site::multiply_add(site::Complex<V>{-alpha.re, -alpha.im}, read(image_, i, c), r));
      });
  }

  const wilson::SchwarzArguments<F>& a_;
  int lane0_;
  const std::uint32_t* sites_[2];
  T *r_, *z_, *image_, *even_;
};

template <class F, int W, int VL, int Reals>
void schwarz_range(const wilson::SchwarzArguments<F>& a, std::int64_t begin, std::int64_t end, Real<F>* memory) {
  constexpr int groups = W / VL;
  for (std::int64_t item = begin; item < end; ++item)
    DomainSolver<F, W, VL, Reals>(a, item / groups, static_cast<int>(item % groups) * VL, memory).solve();
}

template <class F, int... Ws>
wilson::SchwarzKernel<F> find_schwarz(int lanes, int link_reals, std::integer_sequence<int, Ws...>) {
  wilson::SchwarzKernel<F> found;
  const auto consider = [&](auto w, auto reals) {
    constexpr int width = vector_lanes<F, w>;
    if (lanes == w && link_reals == reals) found = {schwarz_range<F, w, width, reals>, w / width};
  };
  ((consider(site::Index<Ws>{}, site::Index<18>{}), consider(site::Index<Ws>{}, site::Index<12>{}),
    consider(site::Index<Ws>{}, site::Index<8>{})),
   ...);
  return found;
}

template <class F>
wilson::SchwarzKernel<F> schwarz_kernel(int lanes, int link_reals) {
  return find_schwarz<F>(lanes, link_reals, LaneCounts<F>{});
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME

/// In a *_kernel.cpp: the kernels of one format.
#define QUARKSTAR_SCHWARZ_KERNELS(F)                             \
  namespace quarkstar::QUARKSTAR_ARCH_NAME {                     \
  template wilson::SchwarzKernel<F> schwarz_kernel<F>(int, int); \
  }
