#include "runtime/graph/handle.hpp"

#include "runtime/graph/graph_failure.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/wait_for_tasks.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/observe/task_graph.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/sanitizer.hpp"

#include <fmt/format.h>
#include <starpu.h>

#include <cstdint>
#include <limits>

namespace quarkstar::runtime {
namespace {
constexpr std::size_t element_bytes = 64;  // StarPU counts elements in 32 bits: 64-byte elements reach 256 GiB per handle
}

Handle::Handle(std::size_t bytes) : bytes_(bytes), pool_(HandlePool::in_use()) {
  if (!starpu_is_initialized()) throw Error(ErrorKind::internal, "Handle", "no session is running", "create a runtime::Session first");
  const std::size_t elements = (bytes + element_bytes - 1) / element_bytes;
  if (elements > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorKind::input, "Handle", fmt::format("a block of {} bytes is more than the runtime can count", bytes),
                "cut the lattice into more blocks");
  if (pool_ != nullptr) {
    const HandlePool::Kept kept = pool_->take(bytes);
    number_ = kept.number;
    state_ = kept.state;
    if (state_ != nullptr) return;
  }
  starpu_vector_data_register(&state_, -1, 0, static_cast<std::uint32_t>(elements), element_bytes);
}

const Handle& Handle::copy_of(int owner) const {
  if (copies_ == nullptr) copies_ = std::make_unique<std::map<int, Handle>>();
  const auto [copy, fresh] = copies_->try_emplace(owner);
  if (fresh) copy->second = Handle(bytes_);
  return copy->second;
}

void Handle::freeze() {
  wait_for_tasks(*this);
  starpu_data_set_sequential_consistency_flag(state_, 0);
}

void Handle::release() noexcept {
  if (state_ != nullptr && starpu_is_initialized()) {
    GraphRecording::gone(state_);
    // With its order untracked (after freeze) nothing tells StarPU which readers are still to come: wait for them all.
    if (starpu_data_get_sequential_consistency_flag(state_) == 0) {
      wait_quietly(Session::current());
      starpu_data_unregister_no_coherency(state_);
    } else if (pool_ != nullptr && starpu_data_get_user_data(state_) == nullptr) {  // an early copy may still be on its way
      pool_->give_back(bytes_, {state_, number_});
    } else {
      starpu_data_unregister_submit(state_);
    }
  }
  state_ = nullptr;
  copies_.reset();
  pool_.reset();
}

void* detail::acquire(const Handle& handle, HostAccess access) {
  const mpi::Waits waits;
  if (starpu_task_get_current() != nullptr)  // StarPU would end the process
    throw Error(ErrorKind::internal, "HostView", "a task looks at data as the host does, and may wait for itself",
                "make them one of the task's accesses");
  if (starpu_data_acquire(handle.state(), access == HostAccess::read ? STARPU_R : access == HostAccess::modify ? STARPU_RW : STARPU_W) != 0)
    throw Error(ErrorKind::internal, "HostView", "the runtime does not give the data", "report this");
  if (GraphFailure::happened()) {
    starpu_data_release(handle.state());
    GraphFailure::throw_if_any();
  }
  void* memory = starpu_data_get_local_ptr(handle.state());
  begin_access(memory, true);
  return memory;
}

void detail::release(const Handle& handle) noexcept {
  end_access(starpu_data_get_local_ptr(handle.state()), true);
  starpu_data_release(handle.state());
}

}  // namespace quarkstar::runtime
