#pragma once
// Functions that a CPU kernel and a GPU kernel share. Always inline: objects compiled for different CPUs must not share copies.
#ifdef __CUDACC__
#define QUARKSTAR_HD __host__ __device__ __forceinline__
#else
#define QUARKSTAR_HD inline __attribute__((always_inline))
#endif
