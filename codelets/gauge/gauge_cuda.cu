#include "codelets/arch/cuda.cuh"
#include "codelets/arch/cuda_sum.cuh"
#include "codelets/arch/items.cuh"
#include "codelets/arch/on_cuda.hpp"
#include "codelets/gauge/gauge_field.hpp"
#include "codelets/gauge/host_links.hpp"
#include "codelets/gauge/host_pieces.cuh"
#include "codelets/gauge/observables.hpp"
#include "codelets/gauge/site_sums.hpp"
#include "codelets/gauge/smear/link_items.hpp"
#include "codelets/gauge/smear/smear_kernels.hpp"
#include "codelets/gauge/smear/smear_site.hpp"

#include <cuda_runtime.h>

namespace quarkstar::cuda {
namespace {

constexpr unsigned threads = 128;

/// One thread per site and direction; neighbouring threads are neighbouring sites of a row.
struct Work {
  std::int64_t row;
  int x, mu;
  bool exists;
};

__device__ __forceinline__ Work work_of_thread(int row_length, std::int64_t rows) {
  const std::int64_t id = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  return {id / row_length, static_cast<int>(id % row_length), static_cast<int>(blockIdx.y), id < rows * row_length};
}

dim3 grid_of(std::int64_t items, unsigned copies) { return {static_cast<unsigned>((items + threads - 1) / threads), copies, 1}; }

__global__ void __launch_bounds__(threads)
    smear_kernel(const __grid_constant__ smear::SmearArguments a, const __grid_constant__ gauge::LinkStrides from,
                 const __grid_constant__ gauge::LinkStrides to) {
  const Work work = work_of_thread(a.in_shape.extents[0], a.in_shape.rows());
  if (!work.exists) return;
  Coord x = a.in_shape.row_start(work.row);
  x[0] = work.x;
  const gauge::StridedLinks<Lane<double>> links(a.in, from);
  site::Link<Lane<double>> result;
  if (a.naik) smear::naik_link(result, links, a.in_shape.offset(x), work.mu, a.naik_weight);
  else smear::smeared_link(result, links, a.in_shape.offset(x), work.mu, a.weights);
  double* out = a.out + a.out_shape.offset(x) + work.mu * to.link;
  site::unroll<9>([&](auto e) {
    out[2 * e * to.real] = result[e / 3][e % 3].re.v;
    out[(2 * e + 1) * to.real] = result[e / 3][e % 3].im.v;
  });
}

/// One thread per site, its reals in turn.
__global__ void __launch_bounds__(threads) copy_kernel(double* to, const double* from, const __grid_constant__ gauge::BoxCopy box) {
  const Work work = work_of_thread(box.extents[0], box.rows());
  if (!work.exists) return;
  Coord start = box.row_start(work.row);
  start[0] = work.x;
  box.copy<1>(to, from, start);
}

/// The link of a thread of a kernel with one for each of a piece, and the coordinates of its site.
__device__ __forceinline__ bool find_link(const HostPiece& piece, const Box& box, const gauge::LinkPlace& place, std::int64_t& id, Coord& x,
                                          Coord& local) {
  id = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (id >= piece.links()) return false;
  x = site_of(box, piece.first + id / 4);
  for (int mu = 0; mu < 4; ++mu) x[mu] = (x[mu] + place.lattice[mu]) % place.lattice[mu];
  return place.find(x, local);
}

__global__ void __launch_bounds__(threads) load_kernel(double* links, const __grid_constant__ HostPiece piece,
                                                       const __grid_constant__ Box box, const __grid_constant__ gauge::LoadedLinks loaded) {
  std::int64_t id;
  Coord x, local;
  if (find_link(piece, box, loaded.place, id, x, local))
    loaded.write(links, local, static_cast<int>(id % 4), piece.reals + id * gauge::LinkShape::link_reals, x);
}

__global__ void __launch_bounds__(threads)
    store_kernel(const __grid_constant__ HostPiece piece, const __grid_constant__ Box box, const double* links, const double* extra,
                 const __grid_constant__ gauge::StoredLinks stored) {
  std::int64_t id;
  Coord x, local;
  if (find_link(piece, box, stored.place, id, x, local))
    stored.read(piece.reals + id * gauge::LinkShape::link_reals, links, extra, local, static_cast<int>(id % 4), x);
}

TimeSlices times_of(const gauge::LinkPlace& place) {
  return {place.origin[3] + place.sites.origin[3], place.sites.extents[3], place.lattice[3]};
}

__global__ void __launch_bounds__(threads) sums_kernel(const double* memory, const __grid_constant__ gauge::LinkShape shape,
                                                       const __grid_constant__ gauge::LinkStrides strides, SumTable* tables) {
  const Work work = work_of_thread(shape.extents[0], shape.rows());
  double sum[3] = {0, 0, 0};
  if (work.exists) {
    Coord x = shape.row_start(work.row);
    x[0] = work.x;
    const gauge::StridedLinks<double> links(memory, strides);
    gauge::site_sums(sum, gauge::LinksOfSite{links, shape.offset(x)});
  }
  for (int i = 0; i < 3; ++i) add_to_table(tables[i], sum[i]);
}

cudaStream_t stream_of(const runtime::Call& call) { return static_cast<cudaStream_t>(call.stream()); }

void copy(const runtime::Call& call, int to, int from, const gauge::BoxCopy& box) {
  copy_kernel<<<grid_of(volume(box.extents), 1), threads, 0, stream_of(call)>>>(call.buffer<double>(to), call.buffer<const double>(from),
                                                                                box);
  runtime::check_launch("gauge.border");
}

}  // namespace
}  // namespace quarkstar::cuda

namespace quarkstar::gauge {

/// The host's links are read until the stream has ended.
void run_load_on_cuda(runtime::Call& call) {
  const auto& [loaded, host] = call.arguments<LoadTask>();
  cuda::send_pieces("gauge.load", *host, cuda::times_of(loaded.place), cuda::stream_of(call), [&](const cuda::HostPiece& piece) {
    cuda::load_kernel<<<cuda::grid_of(piece.links(), 1), cuda::threads, 0, cuda::stream_of(call)>>>(call.buffer<double>(0), piece,
                                                                                                    host->box(), loaded);
  });
}

/// At the times of the block, of which the host has all sites: they are there when the stream has ended.
void run_store_on_cuda(runtime::Call& call) {
  const auto& task = call.arguments<StoreTask>();
  cuda::fetch_pieces("gauge.store", *task.host, cuda::times_of(task.stored.place), cuda::stream_of(call),
                     [&](const cuda::HostPiece& piece) {
                       cuda::store_kernel<<<cuda::grid_of(piece.links(), 1), cuda::threads, 0, cuda::stream_of(call)>>>(
                           piece, task.host->box(), call.buffer<const double>(0), task.extra(call), task.stored);
                     });
}

void run_sums_on_cuda(runtime::Call& call) {
  const auto& shape = call.arguments<LinkShape>();
  cuda::sums_kernel<<<cuda::grid_of(volume(shape.extents), 1), cuda::threads, 0, cuda::stream_of(call)>>>(
      call.buffer<const double>(1), shape, shape.strides(), cuda::sum_tables());
  runtime::check_launch("gauge.sums");
  runtime::finish_sums(&call.buffer<LinkSums>(0)->spatial, 3, nullptr, cuda::stream_of(call));
}

void BorderCopies::launch(const runtime::Call& call, int first_face) const {
  for (int i = 0; i < count; ++i)
    cuda::copy(call, Part::buffer(parts[i].to, first_face), Part::buffer(parts[i].from, first_face), parts[i].box);
}

void run_copies_on_cuda(runtime::Call& call) { call.arguments<BorderCopies>().launch(call, 1); }

}  // namespace quarkstar::gauge

namespace quarkstar::smear {

void smear_on_cuda(runtime::Call& call) {
  const auto a = with_out_and_in<SmearArguments>(call);
  cuda::smear_kernel<<<cuda::grid_of(volume(a.in_shape.extents), 4), cuda::threads, 0, cuda::stream_of(call)>>>(a, a.in_shape.strides(),
                                                                                                                a.out_shape.strides());
  runtime::check_launch("smear");
}

}  // namespace quarkstar::smear

QUARKSTAR_ITEMS_ON_CUDA(quarkstar::smear::SmearApe)
QUARKSTAR_ITEMS_ON_CUDA(quarkstar::smear::Unitarize)
