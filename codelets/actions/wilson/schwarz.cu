// CUDA driver of Schwarz domains: a block of threads solves one domain, or two in lanes that follow each other, in shared memory.
#include "codelets/actions/wilson/schwarz_cuda.hpp"
#include "codelets/actions/wilson/schwarz_site.hpp"
#include "codelets/arch/block_threads.hpp"
#include "codelets/arch/cuda_words.cuh"
#include "runtime/gpu/cuda_launch.cuh"

#include <algorithm>
#include <limits>

namespace quarkstar::cuda {
namespace {

constexpr int most_threads = 256;

/// Which domains a block of threads has, and its fields in shared memory: [component][re, im][slot]. A slot is a site of one parity of one
/// of its domains, slots of a site's lanes follow each other.
template <class T>
struct DomainFields {
  using V = Lane<T>;
  T* memory;
  int slots;

  __device__ __forceinline__ site::Complex<V> read(int slot, int c) const {
    return {{memory[2 * c * slots + slot]}, {memory[(2 * c + 1) * slots + slot]}};
  }
  __device__ __forceinline__ void write(int slot, int c, const site::Complex<V>& z) const {
    memory[2 * c * slots + slot] = z.re.v;
    memory[(2 * c + 1) * slots + slot] = z.im.v;
  }
  __device__ __forceinline__ DomainFields next() const { return {memory + 24 * slots, slots}; }
};

/// The neighbours of one slot.
template <class F, int Reals, bool Chunked>
struct NeighboursInBlock {
  using V = Lane<Real<F>>;
  static constexpr int link_words = NumberFormat<F>::link_words(Reals);
  const std::uint32_t* entries;
  DomainFields<Real<F>> from;
  const F* links;  ///< of this outer site
  int lanes, lane, together, of_pair;

  template <int D, int Projector>
  __device__ __forceinline__ void half_spinor(site::HalfSpinor<V>& h) {
    const int slot = static_cast<int>(entries[D]) * together + of_pair;
    wilson::project_in_domain<F, D / 2, Projector>(h, [&](auto c) { return from.read(slot, c); });
  }
  template <int D>
  __device__ __forceinline__ void link(site::Link<V>& u) {
    constexpr int chunk = Chunked ? site::chunk_words<F>(link_words) : 1;
    F words[link_words];
    load_words<chunk, 0, CachedLoads>(words, links + D * link_words * lanes, lanes, lane);
    site::load_link<F, Reals, site::PlainLoads>(u, words, 1);
  }
};

/// wilson::Schwarz on domains of one vector. together: domains side by side, in so many lanes. Threads take slots; where sums are wanted
/// one thread for each adds what the sites have left in shared memory, in their order, which no number of threads changes.
template <class F, int Reals, bool Chunked>
__global__ void __launch_bounds__(most_threads, sizeof(Real<F>) == 8 ? 1 : 2)
    schwarz_domains(const __grid_constant__ wilson::SchwarzArguments<F> a, int lanes, int together, const VectorStatus* status,
                    Obedience obedience) {
  using T = Real<F>;
  using V = Lane<T>;
  constexpr int head = site::head_words<F>, words_of_site = spinor_words<F>,
                chunk = Chunked ? site::chunk_words<F>(words_of_site - head) : 1;
  constexpr int sums_of_domain = 3;
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ T totals[2 * sums_of_domain];
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  const std::int32_t* left_out = obedience.left_out(status);
  const auto vectors = static_cast<unsigned>(a.vectors);
  const unsigned vector = blockIdx.x % vectors, item = blockIdx.x / vectors, groups = static_cast<unsigned>(lanes / together);
  if (left_out != nullptr && left_out[vector] != 0) return;
  const int lane0 = static_cast<int>(item % groups) * together, slots = a.domain_sites * together;
  const std::size_t first_site = std::size_t{item / groups} * static_cast<std::size_t>(a.domain_sites);
  const std::uint32_t* const sites[2] = {a.sites[0] + first_site, a.sites[1] + first_site};
  const DomainFields<T> r{reinterpret_cast<T*>(dynamic), slots}, z = r.next(), image = z.next(), even = image.next();
  T* const summands = even.next().memory;  // [sum][slot]
  const auto over_slots = [&](const auto& body) {
    for (int slot = static_cast<int>(threadIdx.x); slot < slots; slot += static_cast<int>(blockDim.x))
      body(slot, slot / together, slot % together);
  };
  const auto place = [&](int i) { return (std::size_t{sites[1][i]} * vectors + vector) * static_cast<std::size_t>(words_of_site * lanes); };
  const auto hops_to = [&](site::Spinor<V>& h, int parity, const DomainFields<T>& from, int i, int of_pair) {
    const std::size_t outer = sites[parity][i];
    NeighboursInBlock<F, Reals, Chunked> neighbours{
        a.neighbours[parity] + i * 8,
        from,
        a.links[parity] + outer * static_cast<std::size_t>(8 * NumberFormat<F>::link_words(Reals) * lanes),
        lanes,
        lane0 + of_pair,
        together,
        of_pair};
    wilson::hops_in_domain(h, neighbours);
  };

  over_slots([&](int slot, int i, int of_pair) {
    F words[words_of_site];
    load_words<chunk, head, CachedLoads>(words, a.in + place(i), lanes, lane0 + of_pair);
    const site::SiteReader<F, V> in(words, 1);
    site::unroll<12>([&](auto c) {
      r.write(slot, c, in.component(c));
      z.write(slot, c, {V{0}, V{0}});
    });
  });
  const V diagonal{a.diagonal}, scale{a.scale};
  for (int step = 0; step < a.steps; ++step) {
    __syncthreads();
    over_slots([&](int slot, int i, int of_pair) {
      site::Spinor<V> h;
      hops_to(h, 0, r, i, of_pair);
      site::unroll<12>([&](auto c) { even.write(slot, c, h[c / 3][c % 3]); });
    });
    __syncthreads();
    over_slots([&](int slot, int i, int of_pair) {
      site::Spinor<V> h;
      hops_to(h, 1, even, i, of_pair);
      const wilson::DomainSums<V> of_site = wilson::image_in_domain(
          diagonal, scale, [&](auto c) { return r.read(slot, c); }, [&](auto c) { return h[c / 3][c % 3]; },
          [&](auto c, const site::Complex<V>& t) { image.write(slot, c, t); });
      summands[slot] = of_site.norm.v;
      summands[slots + slot] = of_site.dot_re.v;
      summands[2 * slots + slot] = of_site.dot_im.v;
    });
    __syncthreads();
    if (const int number = static_cast<int>(threadIdx.x); number < sums_of_domain * together) {
      const T* summand = summands + number / together * slots + number % together;
      T total = 0;
#pragma unroll 16
      for (int i = 0; i < a.domain_sites; ++i) total = total + summand[i * together];
      totals[number] = total;
    }
    __syncthreads();
    const bool again = step + 1 < a.steps;
    over_slots([&](int slot, int, int of_pair) {
      const wilson::DomainSums<V> sums{{totals[of_pair]}, {totals[together + of_pair]}, {totals[2 * together + of_pair]}};
      const site::Complex<V> alpha = sums.alpha(std::numeric_limits<T>::min());
      site::unroll<12>([&](auto c) {
        const site::Complex<V> of_r = r.read(slot, c);
        z.write(slot, c, site::multiply_add(alpha, of_r, z.read(slot, c)));
        if (again) r.write(slot, c, site::multiply_add(site::Complex<V>{-alpha.re, -alpha.im}, image.read(slot, c), of_r));
      });
    });
  }
  over_slots([&](int slot, int i, int of_pair) {
    site::Complex<V> result[12];
    site::unroll<12>([&](auto c) { result[c] = z.read(slot, c); });
    F words[words_of_site];
    site::write_site<F>(words, 1, result);
    store_words<chunk, head>(a.out + place(i), lanes, lane0 + of_pair, words);
  });
}

}  // namespace

template <class F>
void launch_schwarz(const SchwarzLayout& layout, const wilson::SchwarzArguments<F>& a, std::int64_t outer_sites, const VectorStatus* status,
                    Obedience obedience, runtime::CudaStream stream) {
  // Two lanes are what a sector of memory holds, in chunks of 16 bytes; two blocks of threads hide each other's waits.
  constexpr std::size_t most_bytes_of_pair = 112 * 1024;
  const std::size_t bytes = wilson::gpu_domain_bytes(a.domain_sites, sizeof(Real<F>));
  const int together = layout.lanes % 2 == 0 && 2 * bytes <= most_bytes_of_pair ? 2 : 1;
  const int slots = a.domain_sites * together,
            threads = std::min(most_threads, (slots + arch::warp_threads - 1) / arch::warp_threads * arch::warp_threads);
  const auto blocks = static_cast<unsigned>(outer_sites / a.domain_sites * (layout.lanes / together) * a.vectors);
  bool started = false;
  const auto consider = [&](auto reals, auto chunked) {
    if (layout.link_reals != reals || layout.chunked != chunked) return;
    started = true;
    runtime::launch_with_shared_memory(schwarz_domains<F, reals, chunked>, static_cast<std::size_t>(together) * bytes, false, blocks,
                                       static_cast<unsigned>(threads), stream, a, layout.lanes, together, status, obedience);
  };
  const auto over_links = [&](auto chunked) {
    consider(site::Index<18>{}, chunked);
    consider(site::Index<12>{}, chunked);
    consider(site::Index<8>{}, chunked);
  };
  over_links(std::true_type{});
  over_links(std::false_type{});
  if (!started) runtime::fail_as_defect("wilson schwarz: no kernel of that kind was compiled");
  runtime::check_launch("wilson schwarz");
}

#define QUARKSTAR_SCHWARZ_LAUNCH(F)                                                                                                    \
  template void launch_schwarz(const SchwarzLayout&, const wilson::SchwarzArguments<F>&, std::int64_t, const VectorStatus*, Obedience, \
                               runtime::CudaStream);
QUARKSTAR_SCHWARZ_LAUNCH(Half)
QUARKSTAR_SCHWARZ_LAUNCH(float)
QUARKSTAR_SCHWARZ_LAUNCH(double)

}  // namespace quarkstar::cuda
