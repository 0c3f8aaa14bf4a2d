#pragma once

namespace quarkstar::runtime {

/// From here on StarPU gets memory of the host from us: whole pages, counted (runtime/system/memory.hpp). pins: registered with the GPUs'
/// driver, which only a session with GPUs gains from. Before StarPU starts.
void give_host_memory(bool pins);

}  // namespace quarkstar::runtime
