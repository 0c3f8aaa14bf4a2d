// Large arrays of the host: which are registered with the driver, and which are kept when they are freed.
#include "runtime/gpu/pinned_arrays.hpp"

#include "runtime/system/large_array.hpp"
#include "tests/gpu/support.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace pinned_arrays_test {

using namespace quarkstar;
using namespace quarkstar::runtime;

#ifdef QUARKSTAR_CUDA
namespace {

bool is_registered(const void* array) {
  cudaPointerAttributes attributes{};
  const bool known = cudaPointerGetAttributes(&attributes, array) == cudaSuccess;
  (void)cudaGetLastError();
  return known && attributes.type == cudaMemoryTypeHost;
}

}  // namespace

TEST_CASE("arrays are registered when they are copied, and kept for others of their size while KeptArrays is there") {
  QUARKSTAR_NEEDS_GPU("pinned arrays");
  constexpr std::size_t count = std::size_t{1} << 20, bytes = count * sizeof(double);
  const double* place = nullptr;
  {
    LargeArray<double> array(count, 1.0);
    place = array.data();
    CHECK_FALSE(is_registered(place));
    for (int copy = 0; copy < 2; ++copy) pin_array(place, bytes);
    CHECK(is_registered(place));
  }
  CHECK_FALSE(is_registered(place));
  CHECK(take_kept_array(bytes) == nullptr);
  std::optional<KeptArrays> kept(std::in_place);
  {
    LargeArray<double> array(count, 1.0), not_copied(count, 1.0);
    place = array.data();
    pin_array(place, bytes);
  }
  CHECK(is_registered(place));
  {
    const LargeArray<double> larger(count + 1, 1.0);
    CHECK(larger.data() != place);
    const LargeArray<double> array(count, 2.0), another(count, 3.0);
    CHECK(array.data() == place);
    CHECK(another.data() != place);
    CHECK(is_registered(place));
  }
  CHECK(is_registered(place));
  LargeArray<double> taken(count, 4.0);
  CHECK(taken.data() == place);
  kept.reset();  // what is in use stays as it is
  CHECK(is_registered(place));
  CHECK(taken.back() == 4.0);
  LargeArray<double>().swap(taken);  // = {} would keep its memory
  CHECK_FALSE(is_registered(place));
}
#endif

}  // namespace pinned_arrays_test
