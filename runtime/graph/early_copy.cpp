#include "runtime/graph/early_copy.hpp"

#include "runtime/policy/policy.hpp"
#include "runtime/simulate/early_copy.hpp"
#include "runtime/simulate/simulate.hpp"
#include "runtime/system/error.hpp"

#include <starpu.h>

#include <cstdint>

namespace quarkstar::runtime {
namespace {

constexpr std::intptr_t nowhere = -1;

/// StarPU keeps a pointer for us with each handle, nullptr at first: the memory node + 1, set once.
std::intptr_t wanted_on(starpu_data_handle_t data) { return reinterpret_cast<std::intptr_t>(starpu_data_get_user_data(data)) - 1; }

void has_arrived(void* argument) {
  auto* data = static_cast<starpu_data_handle_t>(argument);
  starpu_data_release_on_node(data, static_cast<int>(wanted_on(data)));
}

}  // namespace

bool copies_early_under(const std::string& policy) { return find_own_policy(policy) != nullptr || policy.starts_with("dmda"); }

void copy_early(const Handle& handle, int writer, int reader) {
  const unsigned node = starpu_worker_get_memory_node(static_cast<unsigned>(reader));
  if (node == starpu_worker_get_memory_node(static_cast<unsigned>(writer))) return;
  if (const std::intptr_t before = wanted_on(handle.state()); before != nowhere && before != static_cast<std::intptr_t>(node))
    throw Error(ErrorKind::internal, "copy_early", "the data are copied to another memory already", "take a handle for each reader");
  starpu_data_set_user_data(handle.state(), reinterpret_cast<void*>(static_cast<std::intptr_t>(node) + 1));
}

void detail::submit_early_copy(const Handle& handle) {
  const std::intptr_t node = wanted_on(handle.state());
  if (node == nowhere) return;
  if constexpr (simulate::active) simulate::pay_for_early_copy();
  if (starpu_data_acquire_on_node_cb(handle.state(), static_cast<int>(node), STARPU_R, has_arrived, handle.state()) != 0)
    throw Error(ErrorKind::internal, "copy_early", "the runtime refuses the copy", "report this");
}

}  // namespace quarkstar::runtime
