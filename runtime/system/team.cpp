#include "runtime/system/team.hpp"

#include "runtime/system/sanitizer.hpp"
#include "runtime/system/topology.hpp"

#include <omp.h>

namespace quarkstar::runtime {

QUARKSTAR_UNWATCHED void Team::bind() const {
  // New threads inherit the caller's mask: on the one core of a worker they would wait for each other's turns, 50 ms for 14 of them.
  bind_this_thread(cores_);
  happens_before(this);
#pragma omp parallel num_threads(threads())
  {
    happens_after(this);
    bind_this_thread(cores_[static_cast<std::size_t>(omp_get_thread_num())]);
    happens_before(this);
  }
  happens_after(this);
}

QUARKSTAR_UNWATCHED void Team::run(std::int64_t items, RangeFunction function, void* object) const {
  const int count = threads();
  if (count == 1) {
    function(object, 0, items, 0);
    return;
  }
  happens_before(object);
#pragma omp parallel num_threads(count)
  {
    happens_after(object);
    // OpenMP may give fewer threads than asked for (OMP_THREAD_LIMIT, OMP_DYNAMIC, a region around this one).
    const int step = omp_get_num_threads();
    for (int part = omp_get_thread_num(); part < count; part += step)
      function(object, items * part / count, items * (part + 1) / count, part);
    happens_before(this);
  }
  happens_after(this);
}

}  // namespace quarkstar::runtime
