// Which kernel for which format and kind of long link; the gathering of faces.
#include "codelets/actions/staggered/dslash_cuda.cuh"

#include <algorithm>

namespace quarkstar::cuda {

#define QUARKSTAR_ELSEWHERE(F)                                                                               \
  extern QUARKSTAR_DSLASH_LAUNCH(F, 0) extern QUARKSTAR_DSLASH_LAUNCH(F, 18) extern QUARKSTAR_DSLASH_LAUNCH( \
      F, 14) extern QUARKSTAR_DSLASH_LAUNCH(F, 13) extern QUARKSTAR_DSLASH_LAUNCH(F, 9)
QUARKSTAR_ELSEWHERE(Half)
QUARKSTAR_ELSEWHERE(float)
QUARKSTAR_ELSEWHERE(double)

template <class F>
void launch_dslash(const staggered::KernelChoice& choice, const staggered::DslashArguments<F>& arguments, std::int64_t count,
                   const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  if (count == 0) return;
  bool started = false;
  const auto consider = [&](auto reals) {
    if (choice.link_reals != reals) return;
    started = true;
    launch_dslash_with<F, reals>(choice, arguments, count, status, obedience, stream);
  };
  consider(site::Index<0>{});
  consider(site::Index<18>{});
  consider(site::Index<14>{});
  consider(site::Index<13>{});
  consider(site::Index<9>{});
  if (!started) runtime::fail_as_defect("staggered dslash: no kernel of that kind was compiled");
}

template <class F>
void launch_colour_pack(int lanes, bool forward, bool remote, const staggered::PackArguments<F>& arguments, std::int64_t count,
                        const std::int32_t* stop, runtime::CudaStream stream) {
  if (count == 0) return;
  constexpr unsigned width = 128;
  const auto threads = static_cast<std::uint32_t>(count * (arguments.stride == 0 ? lanes : lanes / 2));
  // The link between GPUs is the limit: one small block a multiprocessor fills it, and the interior keeps the rest.
  constexpr unsigned most_remote = 128;
  const unsigned blocks = (threads + width - 1) / width;
  runtime::launch_overlapping(colour_pack_kernel<F>, remote ? std::min(blocks, most_remote) : blocks, width, stream, arguments, lanes,
                              forward, threads, stop);
  runtime::check_launch("staggered pack");
}

#define QUARKSTAR_LAUNCHES(F)                                                                                                          \
  template void launch_dslash(const staggered::KernelChoice&, const staggered::DslashArguments<F>&, std::int64_t, const VectorStatus*, \
                              Obedience, runtime::CudaStream);                                                                         \
  template void launch_colour_pack(int, bool, bool, const staggered::PackArguments<F>&, std::int64_t, const std::int32_t*,             \
                                   runtime::CudaStream);
QUARKSTAR_LAUNCHES(Half)
QUARKSTAR_LAUNCHES(float)
QUARKSTAR_LAUNCHES(double)

}  // namespace quarkstar::cuda
