#ifdef QUARKSTAR_CUDA
#include "runtime/observe/step_times.hpp"

#include "runtime/gpu/end_of_session.hpp"
#include "runtime/observe/gpu_clock.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>

namespace quarkstar::runtime {
namespace {

int current_device() {
  int device = 0;
  cudaGetDevice(&device);
  return device;
}

/// A stream of the current GPU on which nothing else runs, for the calling worker.
CudaStream idle_stream() {
  static thread_local std::map<int, CudaStream> streams;
  CudaStream& stream = streams[current_device()];
  if (stream == nullptr) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    at_end_of_session([made = stream] { cudaStreamDestroy(made); });
  }
  return stream;
}

}  // namespace

StepTimes::~StepTimes() {
  for (const cudaEvent_t event : marks_) cudaEventDestroy(event);
}

cudaEvent_t StepTimes::mark(CudaStream stream) {
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  // External: a node that records the event in every run of the graph, not an edge of the capture.
  cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal);
  check_launch("a mark in a graph");
  marks_.push_back(event);
  return event;
}

void StepTimes::begin_step(CudaStream stream) { steps_.push_back({0, current_device(), mark(stream), nullptr, {}}); }

void StepTimes::end_step(CudaStream stream, int worker, const Event& event) {
  Step& step = steps_.back();
  step.end = mark(stream);
  step.worker = worker;
  step.event = event;
}

void StepTimes::launch() {
  under_way_ = true;
  const int here = current_device();
  std::map<int, bool> seen{{here, true}};  // the worker's own clock runs already
  for (const Step& step : steps_) {
    if (!seen.try_emplace(step.device, true).second) continue;
    cudaSetDevice(step.device);
    gpu_clock().freshen(idle_stream());
  }
  cudaSetDevice(here);
}

void StepTimes::record(Events& events, double busy_us) {
  under_way_ = false;
  const int here = current_device();
  std::map<int, std::vector<Event>> of_worker;
  for (const Step& step : steps_) {
    cudaSetDevice(step.device);
    Event event = step.event;
    event.begin_us = gpu_clock().host_us(step.begin);
    event.end_us = std::max(event.begin_us, gpu_clock().host_us(step.end));
    of_worker[step.worker].push_back(event);
  }
  cudaSetDevice(here);
  for (const auto& [worker, recorded] : of_worker) events.record(worker, recorded, busy_us);
}

}  // namespace quarkstar::runtime
#endif
