#pragma once
// An exchange of sums in which a device says how many it sends.
#include "runtime/gpu/sum_exchange.hpp"
#include "runtime/graph/scalar.hpp"

namespace quarkstar::runtime {

/// Whether the last word of a device's place is for the number of its sums: in exchanges whose places hold more than a step on a GPU
/// gathers. Another device has the same program and knows the number; a host that stands in for devices elsewhere does not.
QUARKSTAR_HD bool counts_sums(const SumExchange& exchange) { return exchange.most_sums > detail::most_sums_on_cuda; }

}  // namespace quarkstar::runtime
