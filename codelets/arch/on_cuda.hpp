#pragma once
// The CUDA implementation of a codelet that is no template.
#include "runtime/graph/codelet.hpp"

/// Declares void function(runtime::Call&), which a .cu defines; without CUDA it is nullptr. At the scope of a namespace that has a name.
#ifdef QUARKSTAR_CUDA
#define QUARKSTAR_ON_CUDA(function) void function(quarkstar::runtime::Call&);
#else
#define QUARKSTAR_ON_CUDA(function) inline constexpr quarkstar::runtime::Implementation function = nullptr;
#endif

namespace quarkstar {

/// A task's arguments, with their pointers to buffers 0 and 1, which are known when it runs.
template <class Arguments>
Arguments with_out_and_in(const runtime::Call& call) {
  Arguments a = call.arguments<Arguments>();
  a.out = call.buffer<double>(0);
  a.in = call.buffer<const double>(1);
  return a;
}

}  // namespace quarkstar
