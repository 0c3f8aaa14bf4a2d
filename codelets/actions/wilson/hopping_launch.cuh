#pragma once
// Which hopping kernel for which format and number of vectors.
#include "codelets/actions/wilson/hopping_cuda.cuh"

namespace quarkstar::cuda {

/// Calls body(words side by side). Half precision has no pairs: there they gain nothing.
template <class F, class Body>
void with_words_side_by_side(bool pairs, Body&& body) {
  if (!pairs) return body(site::Index<1>{});
  if constexpr (!is_half<F>) body(site::Index<2>{});
  else runtime::fail_as_defect("wilson hopping: half precision has no pairs");
}

template <class F, class Epilogue>
void launch_hopping(const wilson::KernelChoice& choice, const wilson::ArgumentsOf<F, Epilogue>& arguments, std::int64_t count,
                    const VectorStatus* status, Obedience obedience, runtime::CudaStream stream) {
  if (count == 0) return;
  const bool alone = arguments.vectors == 1 && choice.lanes > 1;  // odd extents are rare: not worth kernels of their own
  with_words_side_by_side<F>(choice.pairs, [&](auto k) {
    if (alone) launch_hopping_with<Epilogue, F, k, true>(choice, arguments, count, status, obedience, stream);
    else launch_hopping_with<Epilogue, F, k, false>(choice, arguments, count, status, obedience, stream);
  });
}

template <class F, class Epilogue>
void launch_epilogue(const wilson::ArgumentsOf<F, Epilogue>& arguments, int lanes, std::int64_t outer_sites, const VectorStatus* status,
                     Obedience obedience, runtime::CudaStream stream) {
  launch_epilogue_of<Epilogue, 12, F>(arguments, lanes, outer_sites, status, obedience, stream);
}

}  // namespace quarkstar::cuda

/// In one .cu of an epilogue: its launches, whose kernels are in others (QUARKSTAR_HOPPING_LAUNCH).
#define QUARKSTAR_HOPPING_LAUNCH_OF(F, ...)                                                                        \
  template void quarkstar::cuda::launch_hopping<F, __VA_ARGS__>(                                                   \
      const quarkstar::wilson::KernelChoice&, const quarkstar::wilson::ArgumentsOf<F, __VA_ARGS__>&, std::int64_t, \
      const quarkstar::VectorStatus*, quarkstar::Obedience, quarkstar::runtime::CudaStream);
#define QUARKSTAR_HOPPING_LAUNCHES(...)                                                                                                                                                                                                                                                                      \
  extern QUARKSTAR_HOPPING_LAUNCH(quarkstar::Half, 1, true, __VA_ARGS__) extern QUARKSTAR_HOPPING_LAUNCH(quarkstar::Half, 1, false, __VA_ARGS__) extern QUARKSTAR_HOPPING_LAUNCH(float, 1, true, __VA_ARGS__) extern QUARKSTAR_HOPPING_LAUNCH(float, 1, false, __VA_ARGS__) extern QUARKSTAR_HOPPING_LAUNCH( \
      float, 2, true,                                                                                                                                                                                                                                                                                        \
      __VA_ARGS__) extern QUARKSTAR_HOPPING_LAUNCH(float, 2, false,                                                                                                                                                                                                                                          \
                                                   __VA_ARGS__) extern QUARKSTAR_HOPPING_LAUNCH(double, 1, true,                                                                                                                                                                                             \
                                                                                                __VA_ARGS__) extern QUARKSTAR_HOPPING_LAUNCH(double,                                                                                                                                                         \
                                                                                                                                             1,                                                                                                                                                              \
                                                                                                                                             false,                                                                                                                                                          \
                                                                                                                                             __VA_ARGS__) extern QUARKSTAR_HOPPING_LAUNCH(double,                                                                                                            \
                                                                                                                                                                                          2,                                                                                                                 \
                                                                                                                                                                                          true,                                                                                                              \
                                                                                                                                                                                          __VA_ARGS__) extern QUARKSTAR_HOPPING_LAUNCH(double,                                                               \
                                                                                                                                                                                                                                       2,                                                                    \
                                                                                                                                                                                                                                       false,                                                                \
                                                                                                                                                                                                                                       __VA_ARGS__)                                                          \
      QUARKSTAR_HOPPING_LAUNCH_OF(quarkstar::Half, __VA_ARGS__) QUARKSTAR_HOPPING_LAUNCH_OF(float, __VA_ARGS__)                                                                                                                                                                                              \
          QUARKSTAR_HOPPING_LAUNCH_OF(double, __VA_ARGS__)

/// The same for the epilogue without hops.
#define QUARKSTAR_EPILOGUE_LAUNCH(F, ...)                                                                                                  \
  template void quarkstar::cuda::launch_epilogue<F, __VA_ARGS__>(const quarkstar::wilson::ArgumentsOf<F, __VA_ARGS__>&, int, std::int64_t, \
                                                                 const quarkstar::VectorStatus*, quarkstar::Obedience,                     \
                                                                 quarkstar::runtime::CudaStream);
#define QUARKSTAR_EPILOGUE_LAUNCHES(...)                  \
  QUARKSTAR_EPILOGUE_LAUNCH(quarkstar::Half, __VA_ARGS__) \
  QUARKSTAR_EPILOGUE_LAUNCH(float, __VA_ARGS__)           \
  QUARKSTAR_EPILOGUE_LAUNCH(double, __VA_ARGS__)
