#pragma once
// Where the vectors of a projector are while GPUs solve.

namespace quarkstar {

enum class ModesMemory {
  device,    ///< where the lattice's fields are
  streamed,  ///< in host memory; GPUs project, and copy them for each use
  on_cpus    ///< in host memory; CPUs project, and copy right-hand sides and results
};

/// One projection onto vectors in host memory.
struct HostProjection {
  double modes;    ///< bytes of the vectors, which products and sums read once each
  double kept;     ///< of these, what GPUs have room for: it stays there from one pass over the vectors to the next
  double vectors;  ///< bytes of right-hand sides and results
  double flops;
};

/// Bytes and flop a second.
struct HostSpeeds {
  double bus;     ///< between host memory and all GPUs, one way
  double memory;  ///< of the host, read by the CPUs that would project
  double flops;   ///< of these CPUs
};

/// Seconds of a projection: what has to be copied, and on CPUs the longer of reading and computing.
double predicted_seconds(ModesMemory where, const HostProjection& projection, const HostSpeeds& speeds);
/// `streamed` or `on_cpus`, which takes less time.
ModesMemory faster_in_host_memory(const HostProjection& projection, const HostSpeeds& speeds);

/// Of this rank in the running session, whose CPU workers would share so many blocks, and whose GPUs each have a bus.
HostSpeeds host_speeds(int blocks);

/// "in host memory, projected onto by CPUs".
const char* describe(ModesMemory where);

}  // namespace quarkstar
