#include "runtime/gpu/gpu_uuids.hpp"

#ifdef QUARKSTAR_CUDA
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string_view>
#endif

namespace quarkstar::runtime {

#ifdef QUARKSTAR_CUDA

std::vector<std::string> gpu_uuids() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  std::vector<std::string> uuids(static_cast<std::size_t>(count));
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    std::string& uuid = uuids[static_cast<std::size_t>(device)];
    uuid = std::string_view(properties.name).find(" MIG ") == std::string_view::npos ? "GPU" : "MIG";
    for (int i = 0; i < 16; ++i) {
      const bool begins_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
      uuid += fmt::format("{}{:02x}", begins_group ? "-" : "", static_cast<unsigned char>(properties.uuid.bytes[i]));
    }
  }
  (void)cudaGetLastError();  // so that nobody else meets it
  return uuids;
}

#else

std::vector<std::string> gpu_uuids() { return {}; }

#endif

}  // namespace quarkstar::runtime
