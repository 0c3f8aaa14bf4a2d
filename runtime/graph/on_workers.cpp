#include "runtime/graph/on_workers.hpp"

#include "runtime/system/sanitizer.hpp"

#include <starpu.h>

#include <algorithm>
#include <exception>
#include <mutex>

namespace quarkstar::runtime {
namespace {

struct Work {
  const std::vector<int>& ids;
  const std::function<void(std::size_t, const Worker&)>& body;
  std::mutex mutex{};
  std::exception_ptr error{};  ///< the first one
};

void run(void* argument) noexcept {
  happens_after(argument);
  auto& work = *static_cast<Work*>(argument);
  const int worker = starpu_worker_get_id_check();
  const auto i = std::find(work.ids.begin(), work.ids.end(), worker) - work.ids.begin();
  try {
    work.body(static_cast<std::size_t>(i), Session::current().worker(worker));
  } catch (...) {
    const std::lock_guard lock(work.mutex);
    if (work.error == nullptr) work.error = std::current_exception();
  }
  happens_before(argument);
}

}  // namespace

void on_workers(const std::vector<int>& ids, const std::function<void(std::size_t, const Worker&)>& body) {
  Work work{ids, body};
  std::vector<unsigned> workers(ids.begin(), ids.end());
  happens_before(&work);
  starpu_execute_on_specific_workers(run, &work, static_cast<unsigned>(workers.size()), workers.data(), "on_workers");
  happens_after(&work);
  if (work.error != nullptr) std::rethrow_exception(work.error);
}

}  // namespace quarkstar::runtime
