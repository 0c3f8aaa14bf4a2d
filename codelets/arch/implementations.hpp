#pragma once
// What the constructor of runtime::Codelet takes of a function template that exists for CPUs, and with CUDA for GPUs.

/// QUARKSTAR_BOTH(function, T...): function<T...>, and its CUDA implementation function_on_cuda<T...> where the build has CUDA.
#ifdef QUARKSTAR_CUDA
#define QUARKSTAR_BOTH(function, ...) function<__VA_ARGS__>, function##_on_cuda<__VA_ARGS__>
#else
#define QUARKSTAR_BOTH(function, ...) function<__VA_ARGS__>
#endif
