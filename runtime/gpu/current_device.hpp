#pragma once
// CUDA only.
#include <cuda_runtime_api.h>

namespace quarkstar::runtime {

/// Makes a device the current one of this thread while it lives, and the one before again at the end.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    cudaGetDevice(&before_);
    cudaSetDevice(device);
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace quarkstar::runtime
