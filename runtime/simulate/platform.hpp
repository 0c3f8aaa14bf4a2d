#pragma once
// The files from which StarPU and SimGrid know a machine.
#include "runtime/simulate/machine.hpp"

#include <string>

namespace quarkstar::runtime::simulate {

/// SimGrid's description (version 4): the hosts MAIN, CPU0.., CUDA0.., RAM, a link for each way between two memories, and the memory bus
/// "Host" that copies of a node's GPUs share. GPUs of all nodes are those of one machine, with routes through the network between nodes.
std::string platform_xml(const Machine& machine);

/// Writes bus/NAME.platform.v4.xml, .config, .bandwidth and .latency below `folder`, which is made. NAME is `host_name`; StarPU finds them
/// by STARPU_PERF_MODEL_DIR=folder and STARPU_HOSTNAME=NAME. Throws Error(environment) where a file cannot be written, Error(input) for
/// more GPUs or cores than StarPU was built for.
void write_platform(const Machine& machine, const std::string& folder, const std::string& host_name);

/// A job of SimGrid's MPI: `ranks` hosts NODE0.. on the machine's network, each way its own, and for each rank the
/// hosts of one node without its GPUs, with the prefix that StarPU expects.
std::string job_xml(const Machine& machine, int ranks);

/// Writes what job_xml() says, and the list of hosts by rank. Throws Error(environment).
void write_job(const Machine& machine, int ranks, const std::string& platform, const std::string& hosts);

}  // namespace quarkstar::runtime::simulate
