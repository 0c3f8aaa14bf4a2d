#include "runtime/graph/device_loss.hpp"

#include "runtime/gpu/cuda_failure.hpp"

#include <exception>
#include <mutex>
#include <utility>

namespace quarkstar::runtime {
namespace {

std::mutex loss_mutex;
std::function<void(int, const std::string&)> loss_listener;  ///< empty: none

}  // namespace

DeviceLoss::DeviceLoss(std::function<void(int worker, const std::string& why)> lost) {
  const std::lock_guard lock(loss_mutex);
  loss_listener = std::move(lost);
#ifdef QUARKSTAR_CUDA
  on_abort_.emplace(tell_of_broken_gpu);
#endif
}

DeviceLoss::~DeviceLoss() {
  const std::lock_guard lock(loss_mutex);
  loss_listener = nullptr;
}

void DeviceLoss::tell(int worker, const std::string& why) noexcept {
  thread_local bool telling = false;
  if (std::exchange(telling, true)) return;  // what is called here has aborted
  const std::lock_guard lock(loss_mutex);    // held while a new program begins: of several devices that fail together the first one counts
  try {
    if (worker >= 0 && loss_listener) std::exchange(loss_listener, nullptr)(worker, why);
  } catch (const std::exception&) {  // no memory for a command: the session ends
  }
  telling = false;
}

}  // namespace quarkstar::runtime
