// The `adaptive` policy. While a solve runs every task stays with the owner of its block, as under `static`: what a scheduler could move
// then would have to come back for the next task. Who owns what is decided anew between solves, from what was measured
// (runtime/cut/resplit.hpp).
#include "runtime/policy/placing.hpp"
#include "runtime/policy/policy.hpp"

namespace quarkstar::runtime {

starpu_sched_policy& adaptive_policy() {
  static starpu_sched_policy policy =
      placing::policy_that_places("adaptive", "quarkstar: owners, re-split between solves", placing::push_to_owner);
  return policy;
}

}  // namespace quarkstar::runtime
