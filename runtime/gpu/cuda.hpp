#pragma once
// What the CUDA parts share on the host: the stream type, error checks, devices, and memory that a worker keeps.
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

struct CUstream_st;

namespace quarkstar::runtime {

using CudaStream = CUstream_st*;

struct GpuDescription {
  std::string name;
  std::size_t memory_bytes = 0;
  std::string pci_bus_id;  ///< "0000:3b:00.0": how other tools of the driver name the device, in every process of the host
  std::string obstacle{};  ///< why this build cannot use it; "": it can
};

/// GPUs that the driver shows, by their numbers; empty without a driver or in a build without CUDA.
std::vector<GpuDescription> gpus();

/// Bytes of a GPU, by number, that nobody has taken; none where the driver does not say. Makes this process's context
/// there.
std::optional<std::size_t> free_gpu_memory(int number);

/// Why gpus() is empty although there is a driver: what the driver says; "" where that is not so.
std::string obstacle_to_gpus();

/// Zeroed memory of the current device for the current CUDA worker, made once; a slot always has one size. Slot: which piece (0..7).
/// It goes with the process, not with the session, whose workers are new threads: tables of sums, a few MiB.
void* worker_memory(int slot, std::size_t bytes);

/// Makes the memory of every slot that any lane has taken for the other lanes 0 .. lanes - 1 too: before a capture, which should not
/// allocate.
void prepare_worker_memory(int lanes);

/// Work that this worker enqueues from now on may run beside what it has enqueued in other lanes: worker_memory() gives each lane its
/// own. 0 outside of such work.
void use_worker_memory_of_lane(int lane);

/// From now on this worker's kernels start only when the one before them has ended (runtime/gpu/cuda_launch.cuh), or, false, as their
/// launches say.
void launch_one_by_one(bool only);
bool launches_one_by_one();

/// Device time in microseconds of each of `count` parts that enqueue(0), enqueue(1), ... put on the stream; waits for the last. A part
/// that the GPU finishes faster than the host enqueues the next counts the wait for it too (a few microseconds per kernel).
std::vector<double> time_parts(CudaStream stream, std::size_t count, const std::function<void(std::size_t)>& enqueue);

/// Throws nothing: a failed call or launch before this one ends the job with that name, the error and a remedy
/// (runtime/gpu/cuda_failure.hpp), because no exception may cross the runtime.
void check_launch(const char* what);

/// Ends the job for a defect, such as a launcher that finds no kernel for what it is asked, with exit code 70.
[[noreturn]] void fail_as_defect(const char* what);

/// The oldest GPUs that kernels were compiled for: 80 for sm_80.
int least_capability();

}  // namespace quarkstar::runtime
