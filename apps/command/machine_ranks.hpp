#pragma once
// The ranks of a job, for `quarkstar machine`: who sits where, and whether they can talk to each other.
#include "runtime/mpi/self_test.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace quarkstar::app {

/// "arrived wrong: 17 values of faces that rank 1 (node2) reads in +t from rank 0 (node1)", the first few of them.
std::string describe_damage(const runtime::mpi::Job& job, const std::vector<runtime::mpi::FaceDamage>& damage);

/// One line a rank: host, workers, cores. ranks: the machine_json() of each.
void print_ranks(const nlohmann::ordered_json& ranks);

/// The first part of the self-test, for the time before a session, whose start asks all ranks. Here and afterwards ranks that do not answer
/// for `limit` seconds are named, and end the job. Collective.
void call_roll(int limit_seconds);

/// The rest of it: pairs, known faces, GPU messages. Collective; the root prints as it goes. Throws Error(environment) naming
/// the ranks when contents were damaged; silent ranks end the job after `limit` seconds. Needs a running session.
nlohmann::ordered_json self_test(int limit_seconds, bool print);

}  // namespace quarkstar::app
