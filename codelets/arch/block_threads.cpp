#include "codelets/arch/block_threads.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::arch {

void require_block_size(int threads) {
  if (is_block_size(threads)) return;
  throw Error(ErrorKind::input, Parameter("block-threads"), fmt::format("{} threads of a GPU block", threads),
              fmt::format("use a multiple of {} up to {}, or 0 for the kernel's own choice", warp_threads, most_block_threads));
}

}  // namespace quarkstar::arch
