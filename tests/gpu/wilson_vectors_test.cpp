// The hopping term of several right-hand sides on a GPU, and vector operations on right-hand sides in lanes: each vector and its sums have
// the bits that the CPU's kernel gives it alone.
#ifdef QUARKSTAR_CUDA
#include "codelets/actions/wilson/hopping_cuda.hpp"
#include "codelets/actions/wilson/hopping_kernels.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/field/blas_cuda.hpp"
#include "codelets/field/word_place.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "tests/gpu/support.hpp"
#include "tests/kernels/wilson_case.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace wilson_vectors_test {

using namespace quarkstar;
using gpu_testing::OnGpu;
using gpu_testing::Stream;
using gpu_testing::Zeroed;
using kernels::MadeUpField;
using kernels::Numbers;
using kernels::WilsonCase;
using runtime::BinnedSum;

namespace {

constexpr int sites = 37;

/// Which hops may be special: none but for a sign in time, those in time, all.
enum class Edges { none, times, all };

template <class T>
bool same_bytes(const T* a, const T* b, std::size_t count) {
  return std::memcmp(a, b, count * sizeof(T)) == 0;
}

/// The same sites or links of so many words and lanes in chunks, or back. head: words before the chunks.
template <class F>
std::vector<F> in_chunks(const std::vector<F>& plain, int words, int lanes, int head, bool back = false) {
  std::vector<F> moved(plain.size());
  const int row = words * lanes, chunk = site::chunk_words<F>(words - head);
  for (std::size_t i = 0; i < plain.size(); i += static_cast<std::size_t>(row))
    for (int w = 0; w < words; ++w)
      for (int l = 0; l < lanes; ++l) {
        const std::size_t here = i + static_cast<std::size_t>(w * lanes + l);
        const std::size_t there = i + static_cast<std::size_t>(site::word_place(w, l, lanes, chunk, head));
        moved[back ? here : there] = plain[back ? there : here];
      }
  return moved;
}

/// One block, its links and neighbours, and n vectors on it.
template <class F>
struct Block {
  using T = Real<F>;
  static constexpr int words = spinor_words<F>;
  WilsonCase<F> made;
  int lanes, reals, vectors, count;
  std::vector<MadeUpField<F, 12>> in, x, y;
  std::vector<std::vector<T>> faces[8];  ///< [direction][vector], [position][word][face lane]

  Block(int block_lanes, int link_reals, int n, Edges edges, int outer_sites = sites)
      : made(block_lanes, link_reals, outer_sites, true), lanes(block_lanes), reals(link_reals), vectors(n), count(outer_sites) {
    for (int d = 0; d < 8; ++d) {
      if (edges == Edges::all || (edges == Edges::times && d / 2 == 3)) continue;
      for (std::size_t i = static_cast<std::size_t>(d); i < made.neighbours.entries.size(); i += 8)
        made.neighbours.entries[i] &= ~neighbour_entry::face;
      made.arguments.faces[d] = nullptr;
      made.arguments.phase_re[d] = static_cast<T>(d / 2 == 3 ? -1 : 1);
      made.arguments.phase_im[d] = 0;
    }
    for (int v = 0; v < n; ++v) {
      Numbers numbers(static_cast<std::uint64_t>(100 + v));
      in.emplace_back(numbers, count, lanes);
      x.emplace_back(numbers, count, lanes);
      y.emplace_back(numbers, count, lanes);
      for (int d = 0; d < 8; ++d) {
        std::vector<T> face(made.faces[d].size());
        for (T& number : face) number = static_cast<T>(numbers.real() * (is_half<F> ? 3e-5 : 1));
        faces[d].push_back(face);
      }
    }
  }
  double scale(int v) const { return -0.375 + 0.0625 * v; }
  double diagonal(int v) const { return 1.25 - 0.125 * v; }
  int face_width(int d) const { return made.stride[static_cast<std::size_t>(d / 2)] == 0 ? lanes : lanes / 2; }

  /// What the CPU makes of vector v alone.
  std::vector<F> expected(int v, int sign, std::vector<BinnedSum>& sums) {
    const auto place = static_cast<std::size_t>(v);
    wilson::HoppingArguments<F> a = made.arguments;
    std::vector<F> out(in[place].stored.size());
    a.in = in[place].stored.data();
    a.x = x[place].stored.data();
    a.y = y[place].stored.data();
    a.out = out.data();
    for (int d = 0; d < 8; ++d)
      if (a.faces[d] != nullptr) a.faces[d] = faces[d][place].data();
    a.scale[0] = static_cast<T>(scale(v));
    a.diagonal[0] = static_cast<T>(diagonal(v));
    sums.assign(3, BinnedSum::zero());
    wilson::hopping_kernel<F>({lanes, reals, sign, wilson::default_launch})(a, 0, count, nullptr, sums.data());
    return out;
  }

  /// [outer site][vector][word][lane] from [vector][outer site][word][lane]; `row` numbers of a vector and place.
  template <class Number, class Get>
  std::vector<Number> together(std::size_t row, std::size_t places, Get&& get) const {
    std::vector<Number> all;
    for (std::size_t i = 0; i < places; ++i)
      for (int v = 0; v < vectors; ++v) all.insert(all.end(), get(v) + i * row, get(v) + (i + 1) * row);
    return all;
  }
  std::vector<F> together(const std::vector<MadeUpField<F, 12>>& fields) const {
    return together<F>(static_cast<std::size_t>(words * lanes), static_cast<std::size_t>(count),
                       [&](int v) { return fields[static_cast<std::size_t>(v)].stored.data(); });
  }
};

/// [place][vector][number] to [place][group of vectors][number][vector of the group], or back; the numbers in chunks behind `head` of them.
template <class Number>
std::vector<Number> in_lanes(const std::vector<Number>& apart, int numbers, int in_group, int chunk, int head, bool back = false) {
  std::vector<Number> moved(apart.size());
  const int group = numbers * in_group;
  for (std::size_t i = 0; i < apart.size(); i += static_cast<std::size_t>(group))
    for (int v = 0; v < in_group; ++v)
      for (int w = 0; w < numbers; ++w) {
        const std::size_t here = i + static_cast<std::size_t>(v * numbers + w);
        const std::size_t there = i + static_cast<std::size_t>(site::word_place(w, v, in_group, chunk, head));
        moved[back ? here : there] = apart[back ? there : here];
      }
  return moved;
}

/// A launch on copies of what `made` has, whose results and sums are those that each vector has alone. vectors_in_lanes: of a block of one
/// lane.
template <class F>
void check_vectors(int lanes, int reals, int n, int sign, Edges edges, int left_out, bool chunked, int vectors_in_lanes = 1,
                   int outer_sites = sites) {
  INFO(kernels::describe(NumberFormat<F>::precision, lanes)
       << " links " << reals << " n " << n << " sign " << sign << " edges " << static_cast<int>(edges) << " left out " << left_out
       << " chunked " << chunked << " in lanes " << vectors_in_lanes << " sites " << outer_sites);
  Block<F> block(lanes, reals, n, edges, outer_sites);
  const WilsonCase<F>& made = block.made;
  const OnGpu<std::uint32_t> entries(made.neighbours.entries), faces_at(made.neighbours.faces_at), list(made.list);
  constexpr int words = Block<F>::words, head = site::head_words<F>;
  const bool groups = vectors_in_lanes > 1;
  const auto arranged = [&](const std::vector<F>& plain, bool back = false) {
    if (groups) return in_lanes(plain, words, vectors_in_lanes, site::chunk_words<F>(words - head), head, back);
    return chunked ? in_chunks(plain, words, lanes, head, back) : plain;
  };
  const OnGpu<F> links(chunked ? in_chunks(made.links, NumberFormat<F>::link_words(reals), lanes, 0) : made.links),
      in(arranged(block.together(block.in))), x(arranged(block.together(block.x))), y(arranged(block.together(block.y)));
  const Zeroed<F> out(static_cast<std::size_t>(outer_sites * n * words * lanes));
  std::vector<std::unique_ptr<OnGpu<Real<F>>>> faces;
  wilson::HoppingArguments<F> a = made.arguments;
  for (int d = 0; d < 8; ++d) {
    if (a.faces[d] == nullptr) continue;
    const auto face =
        block.template together<Real<F>>(static_cast<std::size_t>(wilson::face_words<F> * block.face_width(d)), kernels::face_sites,
                                         [&](int v) { return block.faces[d][static_cast<std::size_t>(v)].data(); });
    faces.push_back(std::make_unique<OnGpu<Real<F>>>(groups ? in_lanes(face, wilson::face_words<F>, vectors_in_lanes, 1, 0) : face));
    a.faces[d] = faces.back()->get();
  }
  a.neighbours = entries.get();
  a.faces_at = faces_at.get();
  // Faces are by position in the list, which is backward; without them groups are marched over in order, as in a solve.
  a.sites = groups && edges == Edges::none ? nullptr : list.get();
  a.links = links.get();
  a.in = in.get();
  a.x = x.get();
  a.y = y.get();
  a.out = out.get();
  a.vectors = n;
  for (int v = 0; v < n; ++v) {
    a.scale[v] = static_cast<Real<F>>(block.scale(v));
    a.diagonal[v] = static_cast<Real<F>>(block.diagonal(v));
  }
  VectorStatus status;
  if (left_out >= 0) status.stopped[left_out] = 1;
  const OnGpu<VectorStatus> state({status});
  const int count = a.sums.count(n);
  const OnGpu<BinnedSum> sums(std::vector<BinnedSum>(static_cast<std::size_t>(count), BinnedSum::zero()));
  const Stream stream;
  cuda::launch_hopping<F, stencil::LinearEpilogue>(
      {.lanes = lanes, .link_reals = reals, .sign = sign, .vectors_in_lanes = vectors_in_lanes, .chunked = chunked}, a, outer_sites,
      state.get(), {}, stream);
  runtime::enqueue_finish({runtime::sum_tables(), sums.get(), nullptr, count}, stream);
  stream.wait();
  const std::vector<F> found = arranged(out.read(), true);
  const std::vector<BinnedSum> found_sums = sums.read();
  const auto row = static_cast<std::size_t>(words * lanes);
  for (int v = 0; v < n; ++v) {
    if (v == left_out) continue;
    std::vector<BinnedSum> expected_sums;
    const std::vector<F> expected = block.expected(v, sign, expected_sums);
    bool same = true;
    for (std::size_t i = 0; i < static_cast<std::size_t>(outer_sites); ++i)
      same = same && same_bytes(found.data() + (i * static_cast<std::size_t>(n) + static_cast<std::size_t>(v)) * row,
                                expected.data() + i * row, row);
    INFO("vector " << v);
    CHECK(same);
    for (int s = 0; s < 3; ++s)
      CHECK(same_bytes(&found_sums[static_cast<std::size_t>(s * n + v)], &expected_sums[static_cast<std::size_t>(s)], 1));
  }
}

template <class F>
void check_format(std::initializer_list<int> widths) {
  for (const int lanes : widths)
    for (const int reals : {18, 12, 8})
      for (const int sign : {1, -1})
        for (const Edges edges : {Edges::none, Edges::times, Edges::all})
          for (const int n : {1, 2, 3, 5, 8, 32}) {
            if (n == 32 && (reals != 12 || sign < 0)) continue;
            for (const bool chunked : {false, true}) {
              if (chunked && lanes != *widths.begin()) continue;
              check_vectors<F>(lanes, reals, n, sign, edges, -1, chunked);
              if (n == 5 && reals == 12) check_vectors<F>(lanes, reals, n, sign, edges, 2, chunked);
            }
          }
}

/// Vectors in lanes.
template <class F>
void check_groups() {
  for (const int in_group : {8, 12, 16})
    for (const int reals : {18, 12})
      for (const int sign : {1, -1})
        for (const Edges edges : {Edges::none, Edges::times, Edges::all}) {
          check_vectors<F>(1, reals, in_group, sign, edges, -1, true, in_group);
          check_vectors<F>(1, reals, in_group, sign, edges, 0, true, in_group);
          check_vectors<F>(1, reals, 2 * in_group, sign, edges, in_group + 1, true, in_group);
        }
  // So many sites that blocks march over three tiles and more, of which the last is not whole.
  check_vectors<F>(1, 12, 8, 1, Edges::all, -1, true, 8, 100001);
  check_vectors<F>(1, 18, 8, 1, Edges::none, 3, true, 8, 100001);
  for (const int in_group : {12, 16}) {
    check_vectors<F>(1, 12, in_group, 1, Edges::none, -1, true, in_group, 20001);
    check_vectors<F>(1, 12, in_group, -1, Edges::all, 5, true, in_group, 20001);
  }
}

/// A vector operation on groups of vectors in lanes; sites that fill no whole tile of a block are among them.
template <class F, class Operation>
void check_operation(int in_group, int groups, int outer_sites, int left_out) {
  constexpr int fields = blas::field_count<Operation>, words = spinor_words<F>, chunk = site::chunk_words<F>(words);
  const int n = in_group * groups, count = Operation::sums * n;
  INFO(Operation::name << " " << name_of(NumberFormat<F>::precision) << " in lanes " << in_group << " groups " << groups << " sites "
                       << outer_sites << " left out " << left_out);
  std::vector<F> apart[fields];  // [site][vector][word]
  std::vector<MadeUpField<F, 12>> made[fields];
  std::vector<std::unique_ptr<OnGpu<F>>> on_gpu;
  blas::Arguments<F> a{};
  a.vectors = groups;
  a.lanes = in_group;
  for (int i = 0; i < fields; ++i) {
    Numbers numbers(static_cast<std::uint64_t>(1000 + i));
    for (int v = 0; v < n; ++v) made[i].emplace_back(numbers, outer_sites, 1);
    for (int s = 0; s < outer_sites; ++s)
      for (const MadeUpField<F, 12>& of_vector : made[i])
        apart[i].insert(apart[i].end(), of_vector.stored.begin() + s * words, of_vector.stored.begin() + (s + 1) * words);
    on_gpu.push_back(std::make_unique<OnGpu<F>>(in_lanes(apart[i], words, in_group, chunk, 0)));
    a.fields[i] = on_gpu.back()->get();
    a.vectors_of[i] = groups;
  }
  blas::Coefficient coefficients[blas::Arguments<F>::most_coefficients];
  for (int k = 0; k < Operation::coefficients; ++k)
    for (int v = 0; v < n; ++v) coefficients[k].values[v] = {0.25 * (k + 1) - 0.03125 * v, 0.125 * v - k};
  VectorStatus status;
  if (left_out >= 0) status.stopped[left_out] = 1;
  const OnGpu<VectorStatus> state({status});
  const OnGpu<BinnedSum> sums(std::vector<BinnedSum>(static_cast<std::size_t>(std::max(1, count)), BinnedSum::zero()));
  const Stream stream;
  cuda::launch_blas<F, 12, true, Operation>(a, in_group, coefficients, state.get(), {}, outer_sites, stream);
  if (count > 0) runtime::enqueue_finish({runtime::sum_tables(), sums.get(), nullptr, count}, stream);
  stream.wait();
  static constexpr arch::KernelTable<blas::Kernel<F> (*)(int)> kernels = QUARKSTAR_KERNEL_TABLE(blas_kernel<F, 12, Operation>);
  const std::vector<BinnedSum> found_sums = sums.read();
  std::vector<F> found[fields];
  for (int i = 0; i < fields; ++i) found[i] = in_lanes(on_gpu[static_cast<std::size_t>(i)]->read(), words, in_group, chunk, 0, true);
  for (int v = 0; v < n; ++v) {
    blas::Arguments<F> of_one{};
    blas::Numbers<F> numbers{};
    of_one.vectors = of_one.lanes = 1;
    for (int i = 0; i < fields; ++i) {
      of_one.fields[i] = made[i][static_cast<std::size_t>(v)].stored.data();
      of_one.vectors_of[i] = 1;
    }
    for (int k = 0; k < Operation::coefficients; ++k) {
      numbers.re[k][0] = static_cast<F>(coefficients[k].values[v].re);
      numbers.im[k][0] = static_cast<F>(coefficients[k].values[v].im);
    }
    std::vector<BinnedSum> expected_sums(static_cast<std::size_t>(std::max(1, Operation::sums)), BinnedSum::zero());
    if (v != left_out) kernels.current()(1)(of_one, numbers, 0, outer_sites, expected_sums.data());
    INFO("vector " << v);
    for (int i = 0; i < fields; ++i) {
      bool same = true;
      for (int s = 0; s < outer_sites; ++s)
        same = same && same_bytes(found[i].data() + (s * n + v) * words, of_one.fields[i] + s * words, static_cast<std::size_t>(words));
      CHECK(same);
    }
    for (int s = 0; s < Operation::sums && v != left_out; ++s)
      CHECK(same_bytes(&found_sums[static_cast<std::size_t>(s * n + v)], &expected_sums[static_cast<std::size_t>(s)], 1));
  }
}

template <class F>
void check_operations() {
  const auto check = [](auto operation) {
    for (const int in_group : {8, 12, 16})
      for (const int outer_sites : {1, 37, 48})
        for (const int left_out : {-1, 3}) {
          check_operation<F, decltype(operation)>(in_group, 1, outer_sites, left_out);
          check_operation<F, decltype(operation)>(in_group, 2, outer_sites, left_out);
        }
  };
#define QUARKSTAR_BLAS_OPERATION(operation) check(blas::operation{});
  QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)
#undef QUARKSTAR_BLAS_OPERATION
}

template <class F>
void check_packs(int lanes, int n, int sign, bool chunked) {
  Block<F> block(lanes, 18, n, Edges::all);
  const std::vector<F> plain = block.together(block.in);
  const OnGpu<F> in(chunked ? in_chunks(plain, Block<F>::words, lanes, site::head_words<F>) : plain);
  const OnGpu<std::uint32_t> list(block.made.list);
  const Stream stream;
  for (int d = 0; d < 8; ++d) {
    INFO(kernels::describe(NumberFormat<F>::precision, lanes)
         << " n " << n << " sign " << sign << " direction " << d << " chunked " << chunked);
    const int stride = block.made.stride[static_cast<std::size_t>(d / 2)];
    const auto row = static_cast<std::size_t>(wilson::face_words<F> * block.face_width(d));
    const Zeroed<Real<F>> out(sites * static_cast<std::size_t>(n) * row);
    cuda::launch_pack<F>({.lanes = lanes, .direction = d, .sign = sign, .chunked = chunked}, {list.get(), in.get(), out.get(), stride, n},
                         sites, nullptr, stream);
    stream.wait();
    std::vector<std::vector<Real<F>>> expected;
    for (int v = 0; v < n; ++v) {
      expected.emplace_back(sites * row);
      wilson::pack_kernel<F>(lanes, d, sign)(
          {block.made.list.data(), block.in[static_cast<std::size_t>(v)].stored.data(), expected.back().data(), stride, 1}, 0, sites);
    }
    const auto all = block.template together<Real<F>>(row, sites, [&](int v) { return expected[static_cast<std::size_t>(v)].data(); });
    CHECK(same_bytes(out.read().data(), all.data(), all.size()));
  }
}

}  // namespace

TEST_CASE("faces of several right-hand sides have the bits of the CPU's") {
  QUARKSTAR_NEEDS_GPU("gpu packs of several vectors");
  for (const int n : {1, 3})
    for (const int sign : {1, -1})
      for (const bool chunked : {false, true}) {
        check_packs<double>(8, n, sign, chunked);
        check_packs<float>(16, n, sign, chunked);
        check_packs<float>(8, n, sign, chunked);
        check_packs<Half>(16, n, sign, chunked);
        if (!chunked) check_packs<Half>(1, n, sign, chunked);
      }
}

TEST_CASE("each of the right-hand sides in lanes has the bits of the hopping term alone") {
  QUARKSTAR_NEEDS_GPU("gpu hopping of vectors in lanes");
  check_groups<double>();
  check_groups<float>();
}

TEST_CASE("vector operations on right-hand sides in lanes have the bits of each alone") {
  QUARKSTAR_NEEDS_GPU("gpu vector operations in lanes");
  check_operations<double>();
  check_operations<float>();
}

TEST_CASE("each of several right-hand sides has the bits of the hopping term alone") {
  QUARKSTAR_NEEDS_GPU("gpu hopping of several vectors");
  check_format<double>({8, 4, 1});
  check_format<float>({16, 8, 1});
  check_format<Half>({16, 8, 1});
}

}  // namespace wilson_vectors_test
#endif
