// Memory of a GPU that somebody else has allocated, in CUDA's runtime's own context and from a pool. Other contexts:
// tests/clients/device.c.
#include "runtime/gpu/foreign_memory.hpp"

#include "runtime/system/error.hpp"
#include "tests/gpu/support.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

namespace foreign_memory_test {

using namespace quarkstar;
using namespace quarkstar::runtime;

#ifdef QUARKSTAR_CUDA
TEST_CASE("rows in GPU memory are copied behind what is enqueued on their stream, and nothing between them") {
  QUARKSTAR_NEEDS_GPU("foreign memory");
  constexpr std::size_t rows = 1000, width = 24, pitch = 40, first = 8, reals = first + rows * pitch;
  std::vector<double> host(reals);
  std::iota(host.begin(), host.end(), 1.0);
  const gpu_testing::Stream stream;
  for (const bool from_pool : {false, true}) {
    double* there = nullptr;
    REQUIRE((from_pool ? cudaMallocAsync(reinterpret_cast<void**>(&there), reals * sizeof(double), stream.stream)
                       : cudaMalloc(reinterpret_cast<void**>(&there), reals * sizeof(double))) == cudaSuccess);
    REQUIRE(cudaMemsetAsync(there, 0, reals * sizeof(double), stream.stream) == cudaSuccess);
    require_foreign_memory(there + first, "field");
    ForeignRows what{there + first, host.data() + first, width * sizeof(double), pitch * sizeof(double), rows};
    copy_foreign(what, ForeignCopy::to_device, stream.stream);
    std::vector<double> whole(reals, -1);
    copy_foreign({there, whole.data(), reals * sizeof(double), reals * sizeof(double), 1}, ForeignCopy::to_host, stream.stream);
    for (std::size_t i = 0; i < reals; ++i) REQUIRE(whole[i] == (i >= first && (i - first) % pitch < width ? host[i] : 0));
    std::vector<double> back(reals, -1);
    what.host = back.data() + first;
    copy_foreign(what, ForeignCopy::to_host, nullptr);
    for (std::size_t i = 0; i < reals; ++i) REQUIRE(back[i] == (i >= first && (i - first) % pitch < width ? host[i] : -1));
    int device = -1;
    CHECK(cudaGetDevice(&device) == cudaSuccess);
    CHECK(device == 0);
    cudaFree(there);
  }
  CHECK_THROWS_WITH_AS(require_foreign_memory(host.data(), "field"), doctest::Contains("GPU memory"), Error);
  void* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, 100) == cudaSuccess);
  CHECK_THROWS_WITH_AS(require_foreign_memory(pinned, "field"), doctest::Contains("the host"), Error);
  cudaFreeHost(pinned);
}
#endif

TEST_CASE("without a GPU no address is one of it") {
  if (!gpus().empty()) return;
  double number = 0;
  CHECK(!kernels_reach(&number, sizeof number, 0));
  try {
    require_foreign_memory(&number, "field");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    CHECK(error.parameter() == "field");
    CHECK(std::string(error.what()).find("GPU memory") != std::string::npos);
  }
}

}  // namespace foreign_memory_test
