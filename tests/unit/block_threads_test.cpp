// Sizes of GPU blocks that kernels can take.
#include "codelets/arch/block_threads.hpp"

#include "codelets/actions/staggered/room.hpp"
#include "codelets/actions/wilson/hopping_arguments.hpp"
#include "runtime/system/error.hpp"

#include <doctest/doctest.h>

namespace block_threads_test {

using namespace quarkstar;

TEST_CASE("GPU blocks are whole warps up to what kernels have registers for") {
  for (const int threads : {0, 32, 96, 256}) CHECK_NOTHROW(arch::require_block_size(threads));
  for (const int threads : {-32, 1, 40, 288, 384, 512}) CHECK_THROWS_AS(arch::require_block_size(threads), Error);
  for (const bool is_double : {false, true}) {
    for (const std::int64_t kernel : {1, 1 << 16, 1 << 20}) CHECK(arch::is_block_size(wilson::usual_block_threads(is_double, kernel)));
    for (const bool is_half : {false, true})
      for (const int count : {1, 2, 3, 4, 8}) CHECK(arch::is_block_size(staggered::room_of(is_double, is_half, count).threads));
  }
}

}  // namespace block_threads_test
