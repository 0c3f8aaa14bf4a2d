#include "runtime/graph/on_workers.hpp"

#include "runtime/system/sanitizer.hpp"

#include <starpu.h>

#include <algorithm>

namespace quarkstar::runtime {
namespace {

struct Work {
  const std::vector<int>& ids;
  const std::function<void(std::size_t, const Worker&)>& body;
};

void run(void* argument) {
  happens_after(argument);
  const auto& work = *static_cast<const Work*>(argument);
  const int worker = starpu_worker_get_id_check();
  const auto i = std::find(work.ids.begin(), work.ids.end(), worker) - work.ids.begin();
  work.body(static_cast<std::size_t>(i), Session::current().worker(worker));
  happens_before(argument);
}

}  // namespace

void on_workers(const std::vector<int>& ids, const std::function<void(std::size_t, const Worker&)>& body) {
  Work work{ids, body};
  std::vector<unsigned> workers(ids.begin(), ids.end());
  happens_before(&work);
  starpu_execute_on_specific_workers(run, &work, static_cast<unsigned>(workers.size()), workers.data(), "on_workers");
  happens_after(&work);
}

}  // namespace quarkstar::runtime
