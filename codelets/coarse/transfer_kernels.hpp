#pragma once
// The contract between the transfer codelets and the kernels of every architecture.
#include "codelets/arch/dispatch.hpp"
#include "codelets/coarse/transfer_site.hpp"

namespace quarkstar {
namespace coarse {

/// Over groups of aggregates [begin, end).
template <class F>
using TransferKernel = void (*)(const TransferArguments<F>&, std::int64_t begin, std::int64_t end);

}  // namespace coarse

#define QUARKSTAR_DECLARE_TRANSFER(architecture)                                                   \
  namespace architecture {                                                                         \
  template <class F>                                                                               \
  coarse::TransferKernel<F> transfer_kernel(coarse::TransferStep step, int lanes, bool of_coarse); \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_TRANSFER)
#undef QUARKSTAR_DECLARE_TRANSFER

}  // namespace quarkstar
