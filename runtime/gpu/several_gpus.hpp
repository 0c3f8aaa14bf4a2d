#pragma once
// One task for the work of several GPUs.
#include "runtime/graph/batch.hpp"

#include <memory>
#include <vector>

namespace quarkstar::runtime {

/// Whether these workers are GPUs of which each can write into the others' memory. Always false in builds without CUDA.
bool reach_each_other(const std::vector<int>& workers);

/// Whether these parts can be one task over several GPUs: a policy that keeps_owners(), every owner a GPU, every part
/// with a GPU version, parts not timed apart; without messages at least two owners, each able to write into the others'
/// memory; with messages to other ranks one owner. Always false in builds without CUDA.
bool can_run_across_gpus(const std::vector<Batch::Part>& parts);

/// Submits the parts as one task of the first owner's worker that enqueues every part on its owner's GPU. Order between GPUs is kept by
/// events, in graphs by flags, faces are written straight into their reader's memory, scalar steps are taken by every GPU from the same
/// numbers. The task is captured as one CUDA graph over all devices when it comes again. Messages go through mailboxes
/// (runtime/mpi/mailbox_plan.hpp); such a task begins only when all earlier messages are complete, so that no rank waits on its GPU for
/// what its own host has still to send. Returns false, with nothing submitted, when the parts do not fit (an ordinary part writes what
/// scalar steps write).
bool submit_across_gpus(const std::vector<Batch::Part>& parts, const Replays& replays);

}  // namespace quarkstar::runtime
