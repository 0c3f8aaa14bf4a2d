#pragma once
// Which hopping kernel for which format and number of vectors.
#include "codelets/actions/wilson/hopping_in_lanes_cuda.cuh"
#include "codelets/actions/wilson/single_hop_cuda.hpp"

namespace quarkstar::cuda {

template <class F, class Epilogue>
void launch_hopping(const wilson::KernelChoice& choice, const wilson::ArgumentsOf<F, Epilogue>& arguments, std::int64_t count,
                    const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  if (count == 0) return;
  if (choice.forward_along >= 0) {
    if constexpr (!is_half<F>) return launch_single_hop<F>(choice, arguments, count, status, obedience, stream);
    else runtime::fail_as_defect("wilson hopping: half precision has no single hops");
  }
  if (choice.vectors_in_lanes > 1) {
    if constexpr (!is_half<F>) return launch_hopping_in_lanes<Epilogue, F>(choice, arguments, count, status, obedience, stream);
    else runtime::fail_as_defect("wilson hopping: half precision has no vectors in lanes");
  }
  const bool alone = arguments.vectors == 1 && choice.lanes > 1;  // odd extents are rare: not worth kernels of their own
  const auto launch = [&](auto chunked) {
    if constexpr (chunked || has_all_kernels<Epilogue>)
      if (alone) return launch_hopping_with<Epilogue, F, chunked, true>(choice, arguments, count, status, obedience, stream);
    launch_hopping_with<Epilogue, F, chunked, false>(choice, arguments, count, status, obedience, stream);
  };
  if (choice.chunked) launch(std::true_type{});
  else launch(std::false_type{});
}

template <class F, class Epilogue>
void launch_epilogue(const wilson::KernelChoice& choice, const wilson::ArgumentsOf<F, Epilogue>& arguments, std::int64_t outer_sites,
                     const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  launch_epilogue_of<Epilogue, 12, F>(choice, arguments, outer_sites, status, obedience, stream);
}

}  // namespace quarkstar::cuda

/// In one .cu of an epilogue: its launches, whose kernels are in others (QUARKSTAR_HOPPING_LAUNCH, QUARKSTAR_HOPPING_IN_LANES_LAUNCH).
#define QUARKSTAR_HOPPING_LAUNCHES(...)                         \
  QUARKSTAR_HOPPING_LAUNCHES_OF(quarkstar::Half, __VA_ARGS__)   \
  QUARKSTAR_HOPPING_LAUNCHES_OF(float, __VA_ARGS__)             \
  QUARKSTAR_HOPPING_LAUNCHES_OF(double, __VA_ARGS__)            \
  extern QUARKSTAR_HOPPING_IN_LANES_LAUNCH(float, __VA_ARGS__); \
  extern QUARKSTAR_HOPPING_IN_LANES_LAUNCH(double, __VA_ARGS__)
#define QUARKSTAR_HOPPING_LAUNCHES_OF(F, ...)                                                                      \
  extern QUARKSTAR_HOPPING_LAUNCH(F, false, true, __VA_ARGS__);                                                    \
  extern QUARKSTAR_HOPPING_LAUNCH(F, false, false, __VA_ARGS__);                                                   \
  extern QUARKSTAR_HOPPING_LAUNCH(F, true, true, __VA_ARGS__);                                                     \
  extern QUARKSTAR_HOPPING_LAUNCH(F, true, false, __VA_ARGS__);                                                    \
  template void quarkstar::cuda::launch_hopping<F, __VA_ARGS__>(                                                   \
      const quarkstar::wilson::KernelChoice&, const quarkstar::wilson::ArgumentsOf<F, __VA_ARGS__>&, std::int64_t, \
      const quarkstar::VectorStatus*, quarkstar::Obedience, quarkstar::runtime::CudaStream);

/// The same for the epilogue without hops.
#define QUARKSTAR_EPILOGUE_LAUNCHES(...)                     \
  QUARKSTAR_EPILOGUE_LAUNCH_OF(quarkstar::Half, __VA_ARGS__) \
  QUARKSTAR_EPILOGUE_LAUNCH_OF(float, __VA_ARGS__)           \
  QUARKSTAR_EPILOGUE_LAUNCH_OF(double, __VA_ARGS__)
#define QUARKSTAR_EPILOGUE_LAUNCH_OF(F, ...)                                                                       \
  template void quarkstar::cuda::launch_epilogue<F, __VA_ARGS__>(                                                  \
      const quarkstar::wilson::KernelChoice&, const quarkstar::wilson::ArgumentsOf<F, __VA_ARGS__>&, std::int64_t, \
      const quarkstar::VectorStatus*, quarkstar::Obedience, quarkstar::runtime::CudaStream);
