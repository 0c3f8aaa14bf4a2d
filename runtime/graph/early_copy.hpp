#pragma once
// Faces that travel while kernels run.
#include "runtime/graph/handle.hpp"

#include <string>

namespace quarkstar::runtime {

/// Whether early copies pay under a policy: ours, and those of StarPU's that weigh where data are, under which a block's tasks stay
/// together. Others run them anywhere, and a copy to the block's owner is one more.
bool copies_early_under(const std::string& policy);

/// From here on each task that writes the handle, on the worker `writer`, is followed by a copy to the memory of the worker `reader`:
/// asynchronous, in the order of the graph, after that task and before the next one that writes. A policy asks for a task's data only when
/// the task is ready; where it waits for something else as well (a boundary for the interior of its block), nothing would hide the way of
/// a face. Costs the submitting thread about as much as a task. Without effect where both have the same memory. Throws Error(internal) for
/// a second reader in another memory.
void copy_early(const Handle& handle, int writer, int reader);

namespace detail {
/// For whoever has submitted a writer.
void submit_early_copy(const Handle& handle);
}  // namespace detail

}  // namespace quarkstar::runtime
