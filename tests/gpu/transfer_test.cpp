// Arrays in the memory of a GPU, to fields and back: the bytes of the same arrays in host memory, which CPUs move.
#include "codelets/field/transfer.hpp"

#include "runtime/gpu/foreign_memory.hpp"
#include "runtime/system/error.hpp"
#include "tests/gpu/support.hpp"
#include "tests/reference/random.hpp"
#include "tests/unit/runtime_support.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace transfer_test {

#ifdef QUARKSTAR_CUDA
using namespace quarkstar;

namespace {

using Bytes = std::vector<std::byte>;
constexpr Coord extents{8, 4, 6, 8};
constexpr std::uint64_t seed = 272;

/// An order of numbers: a gap in the struct of a site, or a propagator, whose columns lie between each other.
struct Order {
  bool even_first, propagator;
  std::size_t gap;  ///< numbers
};

/// Vectors of numbers in one piece of memory, at `first` from its beginning.
struct Arrays {
  VectorArrays there;
  std::vector<std::size_t> first;
  std::size_t bytes;
};
Arrays described(const Order& order, int n, int components, bool is_single) {
  const std::size_t number = 2 * (is_single ? sizeof(float) : sizeof(double)), columns = order.propagator ? 12 : 1,
                    sites = static_cast<std::size_t>(volume(extents)), of_site = static_cast<std::size_t>(components) * columns;
  Arrays arrays;
  arrays.there.count = n;
  arrays.there.components = components;
  arrays.there.box = Box{{0, 0, 0, 0}, extents};
  arrays.there.is_single = is_single ? 1 : 0;
  arrays.there.even_first = order.even_first ? 1 : 0;
  arrays.there.colour_bytes = columns * number;
  arrays.there.spin_bytes = 3 * arrays.there.colour_bytes;
  arrays.there.site_bytes = (of_site + order.gap) * number;
  const std::size_t of_vector = sites * arrays.there.site_bytes;
  for (std::size_t v = 0; v < static_cast<std::size_t>(n); ++v) {
    arrays.first.push_back(order.propagator ? v * number : v * of_vector + order.gap * number);
    arrays.there.factors[v] = 0.3 + static_cast<double>(v);
  }
  arrays.bytes = order.propagator ? of_vector : static_cast<std::size_t>(n) * of_vector;
  return arrays;
}
VectorArrays at(const Arrays& arrays, std::byte* memory, bool on_gpu) {
  VectorArrays there = arrays.there;
  for (std::size_t v = 0; v < arrays.first.size(); ++v) there.data[v] = memory + arrays.first[v];
  there.on_gpu = on_gpu ? 1 : 0;
  return there;
}

Bytes noise(std::size_t bytes, bool is_single) {
  Bytes all(bytes);
  reference::Random random(seed);
  const std::size_t real = is_single ? sizeof(float) : sizeof(double);
  for (std::size_t i = 0; i + real <= bytes; i += real) {
    const double wide = random.normal().real();
    const auto narrow = static_cast<float>(wide);
    if (is_single) std::memcpy(&all[i], &narrow, real);
    else std::memcpy(&all[i], &wide, real);
  }
  return all;
}

Bytes bytes_of(const Field& field) {
  const runtime::HostView<const std::byte> view(field.block(0));
  return Bytes(view.get(), view.get() + static_cast<std::size_t>(field.block_bytes(0)));
}

void check(const LatticePointer& lattice, int n, int components, const Order& order, bool is_single, runtime::CudaStream stream) {
  INFO(std::string(name_of(lattice->precision()))
       << ", vectors in lanes " << lattice->vectors_in_lanes() << ", " << n << " vectors of " << components << ", single " << is_single
       << ", even first " << order.even_first << ", propagator " << order.propagator << ", gap " << order.gap);
  const Arrays arrays = described(order, n, components, is_single);
  Bytes numbers = noise(arrays.bytes, is_single), stored(arrays.bytes, std::byte{7});
  const gpu_testing::OnGpu<std::byte> untouched(stored);
  const gpu_testing::Zeroed<std::byte> there(arrays.bytes);
  // What comes to the memory on its stream comes before the tasks.
  REQUIRE(cudaMemcpyAsync(there.get(), numbers.data(), numbers.size(), cudaMemcpyHostToDevice, stream) == cudaSuccess);
  runtime::wait_for_foreign(there.get(), stream);
  for (const int parity : {0, 1}) {
    const Field by_cpu(lattice, parity, components, n), by_gpu(lattice, parity, components, n);
    transfer::load(by_cpu, at(arrays, numbers.data(), false));
    transfer::load(by_gpu, at(arrays, there.get(), true));
    CHECK(bytes_of(by_cpu) == bytes_of(by_gpu));
    transfer::store(at(arrays, stored.data(), false), by_cpu);
    transfer::store(at(arrays, untouched.get(), true), by_cpu);
    runtime::Session::current().wait_all();
    CHECK(stored == untouched.read());
  }
  const FullField both(lattice, components, n);
  const gpu_testing::OnGpu<std::byte> by_one_task(Bytes(arrays.bytes, std::byte{7}));
  transfer::load({both.even, both.odd}, at(arrays, there.get(), true));
  transfer::store(at(arrays, by_one_task.get(), true), {both.even, both.odd});
  runtime::Session::current().wait_all();
  CHECK(stored == by_one_task.read());
  CHECK(there.read() == numbers);
}

}  // namespace

TEST_CASE("arrays in the memory of a GPU go to fields and back with the bits of those in host memory, and nothing between them changes") {
  QUARKSTAR_NEEDS_GPU("transfer");
  runtime::SessionOptions settings = runtime_testing::options(1);
  settings.cuda_workers = 1;
  const runtime::Session session(settings);
  const runtime::Decomposition decomposition = runtime::Decomposition::uncut(extents, 0);
  CHECK(Lattice::only_gpu(decomposition) == session.worker(0).device);
  const gpu_testing::Stream stream;
  for (const Precision precision : {Precision::half, Precision::single, Precision::double_})
    for (const int in_lanes : {1, 8, 12}) {
      if (in_lanes > 1 && precision == Precision::half) continue;
      const auto lattice = std::make_shared<const Lattice>(decomposition, precision, periodic, LayoutRequest{.vectors_in_lanes = in_lanes});
      for (const int components : {colour_components, spinor_components}) {
        if (in_lanes > 1 && components == colour_components) continue;
        for (const int n : in_lanes > 1 ? std::vector{in_lanes} : std::vector{1, 3, 12})
          for (const Order& order : {Order{false, false, 0}, {true, false, 0}, {true, false, 2}, {true, true, 0}})
            for (const bool is_single : {false, true}) check(lattice, n, components, order, is_single, stream);
      }
    }
}

TEST_CASE("arrays on a GPU are refused where others have the lattice, too") {
  QUARKSTAR_NEEDS_GPU("transfer");
  runtime::SessionOptions settings = runtime_testing::options(1);
  settings.cuda_workers = 1;
  settings.cpu_share = 0.5;
  const runtime::Session session(settings);
  const runtime::Decomposition decomposition(extents, {1, 1, 1, 2}, 2);
  CHECK(!Lattice::only_gpu(decomposition));
  const Field field(std::make_shared<const Lattice>(decomposition, Precision::double_, periodic), 0, spinor_components);
  const Arrays arrays = described({false, false, 0}, 1, spinor_components, false);
  const gpu_testing::Zeroed<std::byte> there(arrays.bytes);
  CHECK_THROWS_AS(transfer::load(field, at(arrays, there.get(), true)), ShapeError);
}

TEST_CASE("which memory kernels reach, and what is waited for") {
  QUARKSTAR_NEEDS_GPU("transfer");
  REQUIRE(cudaSetDevice(0) == cudaSuccess);  // where there are several, cases before may leave another one
  const gpu_testing::Stream stream;
  cudaStream_t blocking = nullptr;
  REQUIRE(cudaStreamCreate(&blocking) == cudaSuccess);
  void *pooled = nullptr, *managed = nullptr;
  const gpu_testing::Zeroed<std::byte> plain(100);
  REQUIRE(cudaMallocAsync(&pooled, 100, stream) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&managed, 100, cudaMemAttachGlobal) == cudaSuccess);
  for (const void* address : {static_cast<const void*>(plain.get()), static_cast<const void*>(pooled), static_cast<const void*>(managed)}) {
    CHECK(runtime::kernels_reach(address, 100, 0));
    CHECK(!runtime::kernels_reach(address, 100, 1));
    // The default stream waits for those that are not apart.
    for (const auto& [busy, told] : {std::pair<cudaStream_t, cudaStream_t>{stream, stream}, {blocking, nullptr}}) {
      bool done = false;
      const auto work = [](void* argument) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        *static_cast<bool*>(argument) = true;
      };
      REQUIRE(cudaLaunchHostFunc(busy, work, &done) == cudaSuccess);
      runtime::wait_for_foreign(address, told);
      CHECK(done);
    }
  }
  CHECK(!runtime::kernels_reach(plain.get(), std::size_t{1} << 30, 0));
  // Several of one allocation, and of two.
  const std::byte *const first = plain.get(), *const last = first + 50;
  CHECK(runtime::kernels_reach(std::array<const void*, 3>{first, last, pooled}, 50, 0));
  CHECK(!runtime::kernels_reach(std::array<const void*, 3>{first, last + 1, pooled}, 50, 0));
  CHECK(!runtime::kernels_reach(std::array<const void*, 2>{first, &blocking}, sizeof blocking, 0));
  CHECK(!runtime::kernels_reach(&blocking, sizeof blocking, 0));
  cudaFree(managed);
  cudaFree(pooled);
  cudaStreamDestroy(blocking);
}
#endif

}  // namespace transfer_test
