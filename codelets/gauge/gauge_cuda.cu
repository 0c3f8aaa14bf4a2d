#include "codelets/arch/cuda.cuh"
#include "codelets/arch/cuda_sum.cuh"
#include "codelets/gauge/gauge_cuda.hpp"
#include "codelets/gauge/host_pieces.cuh"
#include "codelets/gauge/site_sums.hpp"
#include "codelets/gauge/smear/smear_site.hpp"
#include "codelets/su3/unitarize.hpp"

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

__global__ void __launch_bounds__(threads) ape_kernel(const __grid_constant__ smear::ApeArguments a) {
  const Work work = work_of_thread(a.in_shape.extents[0], a.in_shape.rows());
  if (!work.exists) return;
  Coord x = a.in_shape.row_start(work.row);
  x[0] = work.x;
  smear::write_ape_link(a, x, work.mu);
}

__global__ void __launch_bounds__(threads) unitarize_kernel(double* links, const __grid_constant__ gauge::LinkShape shape) {
  const Work work = work_of_thread(shape.extents[0], shape.rows());
  if (!work.exists) return;
  Coord x = shape.row_start(work.row);
  x[0] = work.x;
  const gauge::LinkStrides strides = shape.strides();
  site::unitarize_in_place(links + shape.offset(x) + work.mu * strides.link, strides.real);
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

}  // namespace

void launch_load(double* links, const HostGauge& host, const gauge::LoadedLinks& loaded, runtime::CudaStream stream) {
  send_pieces("gauge.load", host, times_of(loaded.place), stream, [&](const HostPiece& piece) {
    load_kernel<<<grid_of(piece.links(), 1), threads, 0, stream>>>(links, piece, host.box(), loaded);
  });
}

void launch_store(HostGauge& host, const double* links, const double* extra, const gauge::StoredLinks& stored, runtime::CudaStream stream) {
  fetch_pieces("gauge.store", host, times_of(stored.place), stream, [&](const HostPiece& piece) {
    store_kernel<<<grid_of(piece.links(), 1), threads, 0, stream>>>(piece, host.box(), links, extra, stored);
  });
}

void launch_smear(const smear::SmearArguments& arguments, runtime::CudaStream stream) {
  const gauge::LinkStrides from = arguments.in_shape.strides(), to = arguments.out_shape.strides();
  smear_kernel<<<grid_of(volume(arguments.in_shape.extents), 4), threads, 0, stream>>>(arguments, from, to);
  runtime::check_launch("smear");
}

void launch_ape(const smear::ApeArguments& arguments, runtime::CudaStream stream) {
  ape_kernel<<<grid_of(volume(arguments.in_shape.extents), 4), threads, 0, stream>>>(arguments);
  runtime::check_launch("smear.ape");
}

void launch_unitarize(double* links, const gauge::LinkShape& shape, runtime::CudaStream stream) {
  unitarize_kernel<<<grid_of(volume(shape.extents), 4), threads, 0, stream>>>(links, shape);
  runtime::check_launch("smear.unitarize");
}

void launch_copy(double* to, const double* from, const gauge::BoxCopy& box, runtime::CudaStream stream) {
  copy_kernel<<<grid_of(volume(box.extents), 1), threads, 0, stream>>>(to, from, box);
  runtime::check_launch("gauge.border");
}

void launch_link_sums(const gauge::LinkShape& shape, const double* links, runtime::BinnedSum* sums, runtime::CudaStream stream) {
  sums_kernel<<<grid_of(volume(shape.extents), 1), threads, 0, stream>>>(links, shape, shape.strides(), sum_tables());
  runtime::check_launch("gauge.sums");
  runtime::finish_sums(sums, 3, nullptr, stream);
}

}  // namespace quarkstar::cuda
