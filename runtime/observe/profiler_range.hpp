#pragma once
// Named ranges for profilers of NVIDIA's (NVTX): what a worker's thread is at. Without a profiler a range costs a few nanoseconds.
#if defined(QUARKSTAR_CUDA) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define QUARKSTAR_NVTX 1
#endif

namespace quarkstar::runtime {

/// From its construction to its end, on this thread. On a GPU worker it holds the launches; the kernels themselves show up on their stream.
class ProfilerRange {
 public:
#ifdef QUARKSTAR_NVTX
  explicit ProfilerRange(const char* name) { nvtxRangePushA(name); }
  ~ProfilerRange() { nvtxRangePop(); }
#else
  explicit ProfilerRange(const char*) {}
  ~ProfilerRange() {}
#endif
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace quarkstar::runtime
