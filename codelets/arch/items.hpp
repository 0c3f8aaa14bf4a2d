#pragma once
// Tasks that do the same for each of many items, such as the lanes of a block's sites, on their own: one body for CPUs and GPUs.
#include "codelets/arch/implementations.hpp"
#include "runtime/gpu/host_device.hpp"
#include "runtime/graph/codelet.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace quarkstar {

/// Of Work::run: the arguments of a task, and the elements of its buffers in the order of its accesses.
template <class Function>
struct ItemTraits;
template <class Arguments, class... Elements>
struct ItemTraits<void (*)(const Arguments&, std::int64_t, Elements*...)> {
  using Task = Arguments;
  /// use(arguments, buffer...)
  template <class Use>
  static void with(runtime::Call& call, Use&& use) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { use(call.arguments<Task>(), call.buffer<Elements>(static_cast<int>(I))...); }
    (std::index_sequence_for<Elements...>{});
  }
};

/// The implementation for CPUs of a Work:
///
///     struct WriteNoise {
///       static constexpr const char* name = "noise";
///       static constexpr auto kind = runtime::CodeletKind::copy;
///       static std::int64_t items(const NoiseTask& task);
///       QUARKSTAR_HD static void run(const NoiseTask& task, std::int64_t item, double* field);
///     };
///
/// No item reads what another one writes.
template <class Work>
void run_items(runtime::Call& call) {
  ItemTraits<decltype(&Work::run)>::with(call, [&call](const auto& task, auto*... buffers) {
    call.team().for_range(Work::items(task), [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t item = begin; item < end; ++item) Work::run(task, item, buffers...);
    });
  });
}

/// Items that are the vectors of all lanes of outer sites, as fields have them in memory.
struct VectorItem {
  int outer, vector, lane;
  static std::int64_t items(std::int64_t outer_sites, int vectors, int lanes) { return outer_sites * vectors * lanes; }
  QUARKSTAR_HD VectorItem(std::int64_t item, int vectors, int lanes) {
    const auto id = static_cast<std::uint32_t>(item), width = static_cast<std::uint32_t>(lanes);
    lane = static_cast<int>(id % width);
    vector = static_cast<int>(id / width % static_cast<std::uint32_t>(vectors));
    outer = static_cast<int>(id / width / static_cast<std::uint32_t>(vectors));
  }
};

/// For GPUs, a thread for each item: of a .cu with QUARKSTAR_ITEMS_ON_CUDA (items.cuh).
template <class Work>
void run_items_on_cuda(runtime::Call& call);

/// The codelet, of Work's name and kind.
template <class Work>
const runtime::Codelet& items_codelet() {
  static const runtime::Codelet codelet(Work::name, Work::kind, QUARKSTAR_BOTH(run_items, Work));
  return codelet;
}

}  // namespace quarkstar
