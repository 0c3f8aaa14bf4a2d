#pragma once
// A batch of several owners in as few tasks as what they exchange allows.
#include "runtime/graph/batch.hpp"

#include <vector>

namespace quarkstar::runtime {

/// Whether these parts can be joined: a policy that keeps_owners(), at least two owners, a GPU among them (or
/// SessionOptions::join_on_cpus), every part of a GPU with a GPU version, and no messages to other ranks: those go through the host between
/// tasks that are submitted one by one.
bool can_join(const std::vector<Batch::Part>& parts);

/// Submits the parts as one task a segment (segments_of): of each owner, what runs between something that it needs from others and
/// something that others need from it. Between dependent tasks StarPU takes some 12 us on a GPU, and one more way over the bus where a
/// small result changes its device. Scalar steps (Placement::everywhere) are taken by every owner from all partial sums, into a state of
/// its own: sums are exact, so the states are equal bit for bit and none travels; after the batch the first owner's is the one that the
/// program sees. codelet: runs a Program (program.hpp). Returns false, with nothing submitted, when an ordinary part writes what scalar
/// steps write.
bool submit_joined(const Codelet& codelet, const std::vector<Batch::Part>& parts);

}  // namespace quarkstar::runtime
