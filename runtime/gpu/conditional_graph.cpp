#ifdef QUARKSTAR_CUDA
#include "runtime/gpu/conditional_graph.hpp"

#include "runtime/gpu/end_of_session.hpp"
#include "runtime/system/switch_variable.hpp"

#include <cuda_runtime_api.h>

#include <map>

namespace quarkstar::runtime {

#if CUDART_VERSION >= 13000
namespace {

/// Asked once, on the current device.
bool driver_has_conditions() {
  cudaGraph_t graph = nullptr;
  cudaGraphConditionalHandle handle = 0;
  const bool has = cudaGraphCreate(&graph, 0) == cudaSuccess &&
                   cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault) == cudaSuccess;
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (!has) (void)cudaGetLastError();
  return has;
}

/// Streams of the current GPU for the calling worker's parts, which are captured one at a time. As in lanes outside,
/// the kernels of the first give way to those of the others.
std::vector<CudaStream> streams_inside(std::size_t count) {
  static thread_local std::map<int, std::vector<CudaStream>> streams;
  int device = 0, least = 0, greatest = 0;
  cudaGetDevice(&device);
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  std::vector<CudaStream>& made = streams[device];
  while (made.size() < count) {
    const int priority = made.empty() ? least : greatest;
    cudaStreamCreateWithPriority(&made.emplace_back(nullptr), cudaStreamNonBlocking, priority);
    at_end_of_session([stream = made.back()] { cudaStreamDestroy(stream); });
  }
  return {made.begin(), made.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

bool ConditionalGraph::is_possible() {
  static const bool known = driver_has_conditions();
  return known && switch_in(graph_conditions_switch).value_or(true);
}

std::unique_ptr<ConditionalGraph> ConditionalGraph::make(CudaStream stream) {
  if (!is_possible()) return nullptr;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr);
  if (status != cudaStreamCaptureStatusActive) return nullptr;
  cudaGraphConditionalHandle handle = 0;
  (void)cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault);
  check_launch("a condition of a graph");
  return std::unique_ptr<ConditionalGraph>(new ConditionalGraph(stream, handle));
}

std::vector<CudaStream> ConditionalGraph::begin(std::size_t streams) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* before = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  cudaStreamGetCaptureInfo(stream_, &status, nullptr, &graph, &before, &edges, &count);
  cudaGraphNodeParams node{};
  node.type = cudaGraphNodeTypeConditional;
  node.conditional.handle = condition_;
  node.conditional.type = cudaGraphCondTypeIf;
  node.conditional.size = 1;
  cudaGraphNode_t part = nullptr;
  cudaGraphAddNode(&part, graph, before, edges, count, &node);
  cudaStreamUpdateCaptureDependencies(stream_, &part, nullptr, 1, cudaStreamSetCaptureDependencies);
  check_launch("a conditional part of a graph");
  inside_ = streams_inside(streams);
  cudaStreamBeginCaptureToGraph(inside_.front(), node.conditional.phGraph_out[0], nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed);
  return inside_;
}

void ConditionalGraph::end() {
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(inside_.front(), &graph);  // it belongs to the node
  check_launch("a conditional part of a graph");
}
#else
bool ConditionalGraph::is_possible() { return false; }
std::unique_ptr<ConditionalGraph> ConditionalGraph::make(CudaStream) { return nullptr; }
std::vector<CudaStream> ConditionalGraph::begin(std::size_t) { return inside_; }
void ConditionalGraph::end() {}
#endif

}  // namespace quarkstar::runtime
#endif
