// The `static` policy, with and without batches as one task (keeps_owners). StarPU keeps a priority list for each worker; pushing to the
// owner's list is all there is to do.
#include "runtime/policy/placing.hpp"
#include "runtime/policy/policy.hpp"

namespace quarkstar::runtime {

starpu_sched_policy& static_policy() {
  static starpu_sched_policy policy = placing::policy_that_places("static", "quarkstar: every block has an owner", placing::push_to_owner);
  return policy;
}

starpu_sched_policy& static_unfused_policy() {
  static starpu_sched_policy policy =
      placing::policy_that_places("static-unfused", "quarkstar: every block has an owner, every task is seen", placing::push_to_owner);
  return policy;
}

}  // namespace quarkstar::runtime
