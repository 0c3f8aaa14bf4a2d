#pragma once
// CUDA driver of the Wilson hopping term: one thread per lane of an outer site and vector (threadIdx.y), around the same site body as the
// CPU. The threads of a block that differ in the vector alone need the same links. In half precision one of them loads a link and puts it
// together for all, in shared memory; else each loads it, all but the first from the caches.
#include "codelets/actions/wilson/face_words.hpp"
#include "codelets/actions/wilson/hopping_cuda.hpp"
#include "codelets/actions/wilson/wilson_site.hpp"
#include "codelets/arch/cuda_sum.cuh"
#include "codelets/lattice/neighbour_entry.hpp"
#include "codelets/stencil/epilogue_cuda.cuh"
#include "runtime/gpu/cuda_launch.cuh"

#include <algorithm>

namespace quarkstar::cuda {

/// x with its sign bit flipped where `flip` is 0x80000000, as it is where `flip` is 0.
__device__ __forceinline__ float flip_sign(float x, unsigned flip) { return __uint_as_float(__float_as_uint(x) ^ flip); }
__device__ __forceinline__ double flip_sign(double x, unsigned flip) {
  return __hiloint2double(__double2hiint(x) ^ static_cast<int>(flip), __double2loint(x));
}

/// h = upper two rows of (1 + sign Projector gamma_Mu) psi, where sign is nothing or a number 1 or -1, and `words` those of psi in one
/// lane, in half precision in units of the site: the bits of wilson::read_projected_integers().
template <int Mu, int Projector, class F, class V, class... Number>
__device__ __forceinline__ void read_projected_integers(site::HalfSpinor<V>& h, const F (&words)[spinor_words<F>], Number... sign) {
  if constexpr (is_half<F>) {
    // Integers with their bias: where they are added, it is subtracted twice. Every step is exact.
    const V bias = V::broadcast(site::fixed_point_bias);
    site::unroll<6>([&](auto c) {
      constexpr int row = c / 3, power = site::power_of_i(Mu, Projector, row), other = 3 * site::gamma_entry(Mu, row).column + c % 3;
      constexpr bool adds_re = power == 0 || power == 3, adds_im = power < 2;
      const site::Complex<V> a = V::biased(words[1 + c].word), b = site::times_i<power>(V::biased(words[1 + other].word));
      const auto projected = [&](bool adds, V of_a, V of_b) {
        if constexpr (sizeof...(sign) > 0) return fma(sign..., of_b, of_a - (adds ? fma(sign..., bias, bias) : fnma(sign..., bias, bias)));
        else return (adds ? of_a - (bias + bias) : of_a) + of_b;
      };
      h[row][c % 3] = {projected(adds_re, a.re, b.re), projected(adds_im, a.im, b.im)};
    });
  } else {
    const site::SiteReader<F, V> stored(words, 1);
    site::Spinor<V> psi;
    site::unroll<12>([&](auto c) { psi[c / 3][c % 3] = stored.raw(c); });
    site::project<Mu, Projector>(h, psi, sign...);
  }
}

/// The unit of half precision, `words` those of a spinor in one lane.
__device__ __forceinline__ Lane<float> unit_of(const Half (&words)[spinor_words<Half>], Lane<float> unit_of_link) {
  return site::SiteReader<Half, Lane<float>>(words, 1).unit * unit_of_link;
}

/// The same times the units of the site and of the link that it will meet, which may carry the sign of a boundary (other precisions do not
/// use it).
template <int Mu, int Projector, class F, class V, class... Number>
__device__ __forceinline__ void read_projected(site::HalfSpinor<V>& h, const F (&words)[spinor_words<F>], V unit_of_link, Number... sign) {
  read_projected_integers<Mu, Projector>(h, words, sign...);
  if constexpr (is_half<F>) {
    const V unit = unit_of(words, unit_of_link);
    site::unroll<6>([&](auto c) { h[c / 3][c % 3] = {h[c / 3][c % 3].re * unit, h[c / 3][c % 3].im * unit}; });
  }
}

/// Words of a chunk of a spinor and of a link.
template <class F, bool Chunked>
inline constexpr int spinor_chunk = Chunked ? site::chunk_words<F>(spinor_words<F> - site::head_words<F>) : 1;
template <class F, int Reals, bool Chunked>
inline constexpr int link_chunk = Chunked ? site::chunk_words<F>(NumberFormat<F>::link_words(Reals)) : 1;

/// The links of a thread's lane, loaded where they are needed.
template <class F, int W, int Reals, bool Chunked, class Loads>
struct LinksInMemory {
  using V = Lane<Real<F>>;
  static constexpr int words = NumberFormat<F>::link_words(Reals);
  const F* links;
  int lane;
  __device__ __forceinline__ void load(F (&of_link)[words], int direction) const {
    load_words<link_chunk<F, Reals, Chunked>, 0, Loads>(of_link, links + direction * (words * W), W, lane);
  }
  __device__ __forceinline__ void load(site::Link<V>& u, int direction) const {
    F of_link[words];
    load(of_link, direction);
    site::load_link<F, Reals, site::PlainLoads>(u, of_link, 1);
  }
};

/// The eight links of each of a row of lanes of sites, which the threads of a block have put together for each other.
struct SharedLinks {
  float4 pairs[8][4][arch::warp_threads];  ///< of entries, all but the last
  float2 last[8][arch::warp_threads];
};

/// Those of a thread's lane.
struct LinksOfBlock {
  const SharedLinks* shared;
  int lane;
  __device__ __forceinline__ void load(site::Link<Lane<float>>& u, int direction) const {
    site::unroll<4>([&](auto i) {
      constexpr int e = 2 * i;
      const float4 pair = shared->pairs[direction][i][lane];
      u[e / 3][e % 3] = {{pair.x}, {pair.y}};
      u[(e + 1) / 3][(e + 1) % 3] = {{pair.z}, {pair.w}};
    });
    const float2 entry = shared->last[direction][lane];
    u[2][2] = {{entry.x}, {entry.y}};
  }
};

/// The neighbours of one vector in one lane of an outer site, and the links to them. With vectors in lanes a group is in the place of a
/// vector.
/// Edged: a bit for each direction that may have a face or a phase; the others have none, but for the times, which may have a sign (one in
/// every direction costs 5 % at 16^4, single precision, 12 reals: docs/results/2026-11-23-h200-wilson.md). No hop takes a branch, so that
/// the compiler can load one direction's data while it computes another (twice as fast). Links: load(u, direction).
/// Sign: 1 or -1 as `sign`, which is not read then, or 0. AnyEntries: `entries` may lie elsewhere than in global
/// memory. LastLoads: how the field is read in the last direction.
template <class F, int W, unsigned Edged, bool Chunked, class Links, int Sign = 0, bool AnyEntries = false, class LastLoads = CachedLoads>
struct CudaNeighbours {
  using T = Real<F>;
  using V = Lane<T>;
  static constexpr int vector_words = spinor_words<F> * W;
  const wilson::HoppingArguments<F>& a;
  const std::uint32_t* entries;
  const std::uint32_t* faces_at;
  Links links;
  int lane, vector, vectors;
  V sign;

  /// Lanes in the half that ends at the edge; all of them where the direction is not split.
  __device__ __forceinline__ bool on_edge(int mu, bool forward) const {
    const int stride = a.stride[mu];
    return stride == 0 || ((lane & stride) != 0) == forward;
  }

  template <int D, int Projector>
  __device__ __forceinline__ void half_spinor(site::HalfSpinor<V>& h) {
    constexpr int mu = D / 2;
    constexpr bool forward = D % 2 == 0;
    const std::uint32_t entry = AnyEntries ? entries[D] : __ldg(entries + D);
    const auto read_field = [&](V unit_of_link) {
      const int from = (entry & neighbour_entry::exchange) != 0 ? lane ^ a.stride[mu] : lane;
      const auto site_words = static_cast<std::uint32_t>(vectors * vector_words);
      const F* p = a.in + std::uint64_t{entry >> neighbour_entry::shift} * site_words + vector * vector_words;
      F words[spinor_words<F>];
      load_words<spinor_chunk<F, Chunked>, site::head_words<F>, std::conditional_t<D == 7, LastLoads, CachedLoads>>(words, p, W, from);
      if constexpr (Sign == 0) read_projected<mu, Projector>(h, words, unit_of_link, sign);
      else read_projected<mu, Projector>(h, words, unit_of_link);
    };
    if constexpr ((Edged >> D & 1) == 0) {
      constexpr bool has_sign = (both_times >> D & 1) != 0;
      const bool minus = has_sign && (entry & neighbour_entry::phase) != 0 && on_edge(mu, forward) && a.phase_re[D] < 0;
      read_field(V::broadcast(minus ? -site::link_unit : site::link_unit));
      if constexpr (has_sign && !is_half<F>) {
        const unsigned flip = minus ? 0x80000000u : 0u;
        site::unroll<6>([&](auto c) {
          h[c / 3][c % 3] = {{flip_sign(h[c / 3][c % 3].re.v, flip)}, {flip_sign(h[c / 3][c % 3].im.v, flip)}};
        });
      }
    } else {
      const bool edge = on_edge(mu, forward);
      read_field(V::broadcast(site::link_unit));
      replace_by_face(h, D, (entry & neighbour_entry::face) != 0 && edge);
      const bool turned = (entry & neighbour_entry::phase) != 0 && edge;
      const site::Complex<V> phase{{a.phase_re[D]}, {a.phase_im[D]}};
      site::unroll<6>([&](auto c) {
        site::Complex<V>& z = h[c / 3][c % 3];
        const site::Complex<V> product = site::multiply(phase, z);
        z = {{turned ? product.re.v : z.re.v}, {turned ? product.im.v : z.im.v}};
      });
    }
  }

  /// A lane that wants no face reads any one number.
  __device__ __forceinline__ void replace_by_face(site::HalfSpinor<V>& h, int direction, bool wanted) const {
    const int stride = a.stride[direction / 2];
    const int width = stride == 0 ? W : W / 2, step = wanted ? width : 0;
    const int face_lane = stride == 0 ? lane : (lane & (stride - 1)) | ((lane >> 1) & ~(stride - 1));
    const std::uint32_t place = wanted ? faces_at[direction] : 0;  // there is no table where nothing is cut
    constexpr int words = wilson::face_words<F>;
    const T* of_face = a.faces[direction] + (static_cast<std::size_t>(place) * vectors + vector) * (words * width) + face_lane;
    const T* p = wanted ? of_face : reinterpret_cast<const T*>(a.in);
    const auto replace = [&](auto&& component) {
      site::unroll<6>([&](auto c) {
        const site::Complex<V> of_face = component(c);
        site::Complex<V>& z = h[c / 3][c % 3];
        z = {{wanted ? of_face.re.v : z.re.v}, {wanted ? of_face.im.v : z.im.v}};
      });
    };
    if constexpr (is_half<F>) {
      const V head[wilson::face_head]{{p[0]}, {p[step]}};
      replace([&](auto c) { return wilson::read_face_pair<c, std::uint32_t>(head, V{p[(wilson::face_head + c) * step]}); });
    } else {
      replace([&](auto c) { return site::Complex<V>{{p[2 * c * step]}, {p[(2 * c + 1) * step]}}; });
    }
  }

  /// r += the hop in direction D; the first direction stores it.
  template <int D>
  __device__ __forceinline__ void add_hop(site::Spinor<V>& r) {
    site::HalfSpinor<V> h;
    site::Link<V> u;
    half_spinor<D, wilson::projector_of(D, Sign == 0 ? 1 : Sign)>(h);
    links.load(u, D);
    if constexpr (Sign == 0) wilson::add_hop<D, 1>(r, u, h, sign);
    else wilson::add_hop<D, Sign>(r, u, h);
  }
  /// r = sum over the eight directions.
  __device__ __forceinline__ void hopping_term(site::Spinor<V>& r) {
    site::unroll<8>([&](auto d) { add_hop<d>(r); });
  }
};

/// What a thread adds to the sums.
template <class V>
struct Summands {
  V norm{0}, dot_re{0}, dot_im{0};
};

/// Gives the sum of hops r in one lane to the epilogue, stores the result and adds its summands. site.x, y: where the words of x and y for
/// all lanes of the site begin; LoadsOfY: how y is read.
template <class Epilogue, class F, bool Chunked, class Stores, class LoadsOfY, class Arguments, class V, class Site>
__device__ __forceinline__ void finish_site(const Arguments& a, const site::Spinor<V>& r, std::size_t at, const Site& site, const F* y,
                                            Summands<V>& summands) {
  site::Complex<V> z[12];
  site::unroll<12>([&](auto c) { z[c] = r[c / 3][c % 3]; });
  Epilogue::apply(z, a, site);
  F words[spinor_words<F>];
  site::write_site<F>(words, 1, z);
  store_words<spinor_chunk<F, Chunked>, site::head_words<F>, Stores>(a.out + at, site.lanes, site.lane, words);
  if (a.sums.norm) site::unroll<12>([&](auto c) { summands.norm = fma(z[c].im, z[c].im, fma(z[c].re, z[c].re, summands.norm)); });
  if (a.sums.dot)
    site.template with_vector<LoadsOfY>(y, [&](const auto& of_y) {
      site::unroll<12>([&](auto c) {
        const site::Complex<V> value = of_y.component(c);
        summands.dot_re = fma(value.im, z[c].im, fma(value.re, z[c].re, summands.dot_re));
        summands.dot_im = fnma(value.im, z[c].re, fma(value.re, z[c].im, summands.dot_im));
      });
    });
}

/// Blocks of the largest size on a multiprocessor: what the compiler makes fit into 65536 registers, so 255
/// registers per thread in double precision, 128 in single, 80 in half, whose loads are short and whose latency is hidden
/// by more threads (64 are 3 to 18 % slower; docs/results/2026-11-21-h200-staggered.md).
template <class F>
inline constexpr int resident_blocks = sizeof(Real<F>) == 8 ? 1
                                       : is_half<F>         ? 3
                                                            : 2;

/// In half precision putting a link together costs as many instructions as a third of a hop, and instructions are the limit.
template <class F, bool Alone>
inline constexpr bool shares_links = is_half<F> && !Alone;

/// Words of an epilogue's first field of records at an outer site; 0: it has none.
template <class Epilogue, class F, int W>
constexpr int words_of_records() {
  if constexpr (requires { Epilogue::Records::record_reals; })
    return Epilogue::Records::records_per_site * NumberFormat<F>::site_words(Epilogue::Records::record_reals) * W;
  else return 0;
}
/// Whether they come to shared memory, for all vectors of a block, while it puts links together (one H200, 32^4, clover, half precision, 8
/// and 12 right-hand sides: 3 to 8 % faster).
template <class Epilogue, class F, bool Chunked, bool Alone>
inline constexpr bool stages_records = shares_links<F, Alone>&& Chunked&& words_of_records<Epilogue, F, 1>() > 0;

/// Every combination of layout, links and edges has a kernel of its own with the linear epilogue; others have fewer, because they take long
/// to compile: links of 18 and 12 reals; without chunks those for any number of vectors, with edges in all directions.
template <class Epilogue>
inline constexpr bool has_all_kernels = std::is_empty_v<typename Epilogue::template Arguments<float>>;

/// Vectors that a block has at most, and so many blocks of a multiprocessor. Where links are put together all 12 of a spinor source share
/// them (one H200, 32^4: 2 to 3 % faster than two blocks of six).
template <class F, bool Alone>
inline constexpr int most_vectors_of_block = shares_links<F, Alone> ? 12 : arch::most_block_threads / arch::warp_threads;
template <class F, bool Alone>
inline constexpr int blocks_of_vectors = shares_links<F, Alone> ? 2 : resident_blocks<F>;

/// Where blocks have eight vectors, four of them on a multiprocessor, with 64 registers, are faster than three with 80 (one H200, 32^4, 8
/// and 16 right-hand sides: 2 to 6 %); fewer vectors are up to 7 % slower so. Not for every kernel, because they take long to compile.
inline constexpr int eight_vectors = 8, blocks_of_eight = 4;
template <class Epilogue, class F, int Reals, unsigned Edged, bool Chunked, bool Alone>
inline constexpr bool has_blocks_of_eight =
    shares_links<F, Alone>&& Chunked&& has_all_kernels<Epilogue>&& Reals == 12 && Edged != all_directions;

/// Kernels for H and for its adjoint, where a number 1 or -1 would cost instructions (half precision: 3 to 4 %).
template <class F, bool Chunked, bool Alone>
inline constexpr bool has_signs = shares_links<F, Alone>&& Chunked;
/// launch(integral constant): the sign that a kernel is for, or 0 where it is an argument.
template <class F, bool Chunked, bool Alone, class Launch>
void with_sign(int sign, Launch&& launch) {
  if constexpr (!has_signs<F, Chunked, Alone>) launch(site::Index<0>{});
  else if (sign > 0) launch(site::Index<1>{});
  else launch(site::Index<-1>{});
}

/// A block: threadIdx.x is the lane, .y the vector, .z the site, of as many sites as make a warp for each vector. The blocks of a site's
/// vectors, where one does not hold them all, follow each other, so that they find its links in L2. Alone: there is one vector, and the
/// block has one dimension.
template <class Epilogue, class F, int W, int Reals, unsigned Edged, bool Chunked, bool Alone, int Sign,
          int MostVectors = most_vectors_of_block<F, Alone>, int Blocks = blocks_of_vectors<F, Alone>>
__global__ void __launch_bounds__(arch::warp_threads* MostVectors, Blocks)
    hopping_kernel(const __grid_constant__ wilson::ArgumentsOf<F, Epilogue> a, Real<F> sign, std::uint32_t sites,
                   std::uint32_t vector_blocks, const VectorStatus* status, Obedience obedience, SumTable* tables) {
  using V = Lane<Real<F>>;
  constexpr bool shares = shares_links<F, Alone>, stages = stages_records<Epilogue, F, Chunked, Alone>;
  extern __shared__ __align__(16) unsigned char dynamic[];  // summands, as many as the block has, and records
  auto* const exchange = reinterpret_cast<Real<F>*>(dynamic);
  runtime::wait_for_predecessors();
  if (const std::int32_t* idle = obedience.idle(status); idle != nullptr && *idle != 0) return;
  std::uint32_t site_block = blockIdx.x, vector_block = 0;
  if (!Alone && vector_blocks > 1) {
    site_block = blockIdx.x / vector_blocks;
    vector_block = blockIdx.x - site_block * vector_blocks;
  }
  const int vectors = Alone ? 1 : a.vectors;
  const std::uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = static_cast<int>(Alone ? id % W : threadIdx.x), first_vector = static_cast<int>(vector_block * blockDim.y);
  std::uint32_t i = Alone ? id / W : site_block * blockDim.z + threadIdx.z;
  const int vector = Alone ? 0 : first_vector + static_cast<int>(threadIdx.y);
  bool wanted = i < sites && vector < vectors;
  if (const std::int32_t* left_out = obedience.left_out(status); !Alone && wanted && left_out != nullptr) wanted = left_out[vector] == 0;
  Summands<V> summands;
  if (wanted || shares) {
    if (shares) i = min(i, sites - 1);
    // The second of a pair of hopping terms has an x. It goes through the sites backward, because what the first has written last is still
    // in L2 (one H200, 32^4, half precision: an iteration of BiCGStab 3 % faster; with several vectors little of them is).
    if (Alone && a.sites == nullptr && a.x != nullptr) i = sites - 1 - i;
    const std::size_t outer = a.sites != nullptr ? __ldg(a.sites + i) : i;
    // Links are read once: they should not push spinors, which are read eight times, out of the caches.
    using Loads = std::conditional_t<Alone, StreamedLoads, PassingLoads>;
    const LinksInMemory<F, W, Reals, Chunked, Loads> stored{a.links + outer * (8 * NumberFormat<F>::link_words(Reals) * W), lane};
    using Stores = std::conditional_t<shares && MostVectors == eight_vectors, PassingStores, CachedStores>;
    [[maybe_unused]] const auto records_of = [&](unsigned z) {
      auto* const records = reinterpret_cast<F*>(exchange + a.sums.count(1) * static_cast<int>(blockDim.x * blockDim.y * blockDim.z));
      return records + static_cast<int>(z) * words_of_records<Epilogue, F, W>();
    };
    // Where the block puts links together, entries of neighbours come meanwhile (3 % faster with two and four right-hand sides; slower, by
    // as much, where records come, too).
    constexpr bool entries_ahead = shares && !stages;
    std::uint32_t ahead[8];
    if constexpr (entries_ahead) site::unroll<8>([&](auto d) { ahead[d] = __ldg(a.neighbours + outer * 8 + d); });
    const auto compute = [&](const auto& links) {
      CudaNeighbours<F, W, Edged, Chunked, std::remove_cvref_t<decltype(links)>, Sign, entries_ahead> neighbours{
          a, entries_ahead ? ahead : a.neighbours + outer * 8, a.faces_at + std::size_t{i} * 8, links, lane, vector, vectors, V{sign}};
      site::Spinor<V> r;
      neighbours.hopping_term(r);
      const std::size_t at = (outer * vectors + vector) * (spinor_words<F> * W);
      SiteOfThread<F, 24, Chunked, stages> site{a.x + at, outer, vector, W, lane, W, lane};
      if constexpr (stages) site.staged = records_of(threadIdx.z);
      finish_site<Epilogue, F, Chunked, Stores, CachedLoads>(a, r, at, site, a.y + at, summands);
    };
    if constexpr (shares) {
      if constexpr (stages) {
        if (const F* field = Epilogue::Records::first_field(a.epilogue)) {
          constexpr int words = words_of_records<Epilogue, F, W>(), at_a_time = 16 / sizeof(F);
          static_assert(words % at_a_time == 0);
          for (int word = (static_cast<int>(threadIdx.y) * W + lane) * at_a_time; word < words;
               word += static_cast<int>(blockDim.y) * W * at_a_time)
            start_copy(reinterpret_cast<uint4*>(records_of(threadIdx.z) + word),
                       reinterpret_cast<const uint4*>(field + outer * words + word));
        }
      }
      // Each thread puts the links of some directions together, for all vectors of its lane; all of them come before it begins (one H200,
      // two right-hand sides: 6 % faster).
      __shared__ SharedLinks shared;
      const int shared_lane = static_cast<int>(threadIdx.z) * W + lane, apart = static_cast<int>(blockDim.y);
      const auto share_links = [&](auto at_once) {
        for (int first = static_cast<int>(threadIdx.y); first < 8; first += at_once * apart) {
          F words[at_once][decltype(stored)::words];
          site::unroll<at_once>([&](auto k) { stored.load(words[k], first + k * apart); });
          site::unroll<at_once>([&](auto k) {
            site::Link<V> u;
            site::load_link<F, Reals, site::PlainLoads>(u, words[k], 1);
            const int d = first + k * apart;
            site::unroll<4>([&](auto pair) {
              const site::Complex<V>&one = u[2 * pair / 3][2 * pair % 3], &two = u[(2 * pair + 1) / 3][(2 * pair + 1) % 3];
              shared.pairs[d][pair][shared_lane] = {one.re.v, one.im.v, two.re.v, two.im.v};
            });
            shared.last[d][shared_lane] = {u[2][2].re.v, u[2][2].im.v};
          });
        }
      };
      if (apart == 2) share_links(site::Index<4>{});
      else if (apart == 4) share_links(site::Index<2>{});
      else share_links(site::Index<1>{});
      if constexpr (stages) wait_for_own_copies();
      __syncthreads();
      if (wanted) compute(LinksOfBlock{&shared, shared_lane});
    } else {
      compute(stored);
    }
  }
  if (!a.sums.norm && !a.sums.dot) return;
  const auto own = static_cast<int>(Alone ? threadIdx.x : (threadIdx.y * blockDim.z + threadIdx.z) * W + threadIdx.x);
  Real<F> x[3];
  const int count = a.sums.wanted(summands.norm.v, summands.dot_re.v, summands.dot_im.v, x);
  add_to_tables(x, count, own, exchange, [&](int row, int sum) -> SumTable* {
    const int vector_of_row = Alone ? 0 : first_vector + row;
    return vector_of_row < vectors ? tables + sum * vectors + vector_of_row : nullptr;
  });
}

template <class Epilogue, class F, int W, int Reals, unsigned Edged, bool Chunked, bool Alone>
void launch_hopping_of(const wilson::KernelChoice& choice, const wilson::ArgumentsOf<F, Epilogue>& a, std::int64_t sites,
                       const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  const std::int64_t threads = sites * W * a.vectors;
  dim3 shape;
  std::int64_t blocks = 0;
  int vector_blocks = 1;
  if (Alone) {
    const int usual = wilson::usual_block_threads(sizeof(Real<F>) == 8, threads);
    shape = dim3(static_cast<unsigned>(choice.launch.block_threads > 0 ? choice.launch.block_threads : usual));
    blocks = (threads + shape.x - 1) / shape.x;
  } else {
    // A warp's worth of lanes for each vector, so that whole warps of summands are added. More vectors in a block share more of the work on
    // links, fewer leave the caches to the neighbours (one H200: 0 to 7 % faster).
    const int room = most_vectors_of_block<F, Alone>, usual = shares_links<F, Alone> ? room : a.vectors > 4 ? 2 : 4;
    const int wanted = choice.launch.vectors_a_thread > 0 ? std::min(choice.launch.vectors_a_thread, room) : usual;
    const int most = choice.launch.block_threads > 0 ? std::min(wanted, choice.launch.block_threads / arch::warp_threads) : wanted;
    vector_blocks = (a.vectors + most - 1) / most;
    constexpr int sites_of_block = arch::warp_threads / W;
    shape = dim3(W, static_cast<unsigned>((a.vectors + vector_blocks - 1) / vector_blocks), sites_of_block);
    blocks = (sites + sites_of_block - 1) / sites_of_block * vector_blocks;
  }
  const std::size_t of_summands = static_cast<std::size_t>(a.sums.count(1)) * shape.x * shape.y * shape.z * sizeof(Real<F>);
  std::size_t of_records = 0;
  if constexpr (stages_records<Epilogue, F, Chunked, Alone>)
    if (Epilogue::Records::first_field(a.epilogue) != nullptr) of_records = words_of_records<Epilogue, F, W>() * sizeof(F) * shape.z;
  const auto launch = [&](auto sign) {
    auto* kernel = hopping_kernel<Epilogue, F, W, Reals, Edged, Chunked, Alone, sign>;
    if constexpr (has_blocks_of_eight<Epilogue, F, Reals, Edged, Chunked, Alone>)
      if (shape.y == eight_vectors)
        kernel = hopping_kernel<Epilogue, F, W, Reals, Edged, Chunked, Alone, sign, eight_vectors, blocks_of_eight>;
    runtime::launch_with_shared_memory(kernel, of_summands + of_records, threads >= runtime::least_overlapping,
                                       static_cast<unsigned>(blocks), shape, stream, a, static_cast<Real<F>>(choice.sign),
                                       static_cast<std::uint32_t>(sites), static_cast<std::uint32_t>(vector_blocks), status, obedience,
                                       of_summands > 0 ? sum_tables() : nullptr);
  };
  with_sign<F, Chunked, Alone>(choice.sign, launch);
}

/// Directions with a face, or with a phase that kernels of edges alone know: a bit for each. A sign in time is none.
template <class F>
unsigned edged_directions(const wilson::HoppingArguments<F>& a) {
  unsigned edged = 0;
  for (int d = 0; d < 8; ++d) {
    const bool in_time = (both_times >> d & 1) != 0;
    const bool has_phase = a.phase_im[d] != 0 || (a.phase_re[d] != 1 && !in_time);
    if (a.faces[d] != nullptr || has_phase) edged |= 1u << d;
  }
  return edged;
}

template <class Epilogue, class F, bool Chunked, bool Alone>
void launch_hopping_with(const wilson::KernelChoice& choice, const wilson::ArgumentsOf<F, Epilogue>& arguments, std::int64_t count,
                         const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  const unsigned edged = edged_directions(arguments);
  bool started = false;
  const auto over_lanes = [&](auto w) {
    const auto consider = [&](auto reals) {
      if (choice.lanes != w || choice.link_reals != reals) return;
      started = true;
      const auto start = [&](auto directions) {
        launch_hopping_of<Epilogue, F, w, reals, directions, Chunked, Alone>(choice, arguments, count, status, obedience, stream);
      };
      // What is rare has fewer kernels: odd extents, and several vectors in lanes narrower than the usual.
      if constexpr (has_all_kernels<Epilogue> ? Alone || w == full_lanes<F> : Chunked) {
        if (edged == 0) return start(std::integral_constant<unsigned, no_directions>{});
        if ((edged & ~both_times) == 0) return start(std::integral_constant<unsigned, both_times>{});
      }
      start(std::integral_constant<unsigned, all_directions>{});
    };
    consider(site::Index<18>{});
    consider(site::Index<12>{});
    if constexpr (has_all_kernels<Epilogue>) consider(site::Index<8>{});
  };
  over_lanes(site::Index<full_lanes<F>>{});
  if constexpr (!Chunked) over_lanes(site::Index<full_lanes<F> / 2>{});
  if constexpr (!Chunked && !Alone) over_lanes(site::Index<1>{});
  if (!started) runtime::fail_as_defect("wilson hopping: no kernel of that kind was compiled");
  runtime::check_launch("wilson hopping");
}

}  // namespace quarkstar::cuda

/// In a .cu: the launches of one format, chunked or not, for one vector alone or for any number of them, with an epilogue.
#define QUARKSTAR_HOPPING_LAUNCH(F, Chunked, Alone, ...)                                                           \
  template void quarkstar::cuda::launch_hopping_with<__VA_ARGS__, F, Chunked, Alone>(                              \
      const quarkstar::wilson::KernelChoice&, const quarkstar::wilson::ArgumentsOf<F, __VA_ARGS__>&, std::int64_t, \
      const quarkstar::VectorStatus*, quarkstar::Obedience, quarkstar::runtime::CudaStream)
