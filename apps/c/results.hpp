#pragma once
// Results of solves, as the caller gets them.
#include "apps/c/context.hpp"

#include <cstddef>
#include <vector>

namespace quarkstar::c {

struct Solved {
  std::vector<SolveResult> results;
  std::vector<double> relative;  ///< empty: not asked for
};

/// Numbers that the caller gives, or else the same for all.
inline std::vector<double> values_of(const double* given, int count, double otherwise) {
  return given != nullptr ? std::vector<double>(given, given + count) : std::vector<double>(static_cast<std::size_t>(count), otherwise);
}

inline qs_reason reason_of(StopReason reason) {
  switch (reason) {
    case StopReason::converged:
      return QS_REASON_CONVERGED;
    case StopReason::zero_denominator:
      return QS_REASON_ZERO_DENOMINATOR;
    case StopReason::not_finite:
      return QS_REASON_NOT_FINITE;
    case StopReason::iteration_limit:
      return QS_REASON_ITERATION_LIMIT;
    case StopReason::interrupted:
      return QS_REASON_INTERRUPTED;
    default:
      return QS_REASON_STAGNATION;
  }
}

/// Fills one of the caller's structs: the first one's size is that of all.
inline void give_result(qs_result* results, std::size_t number, const Solved& solved, std::size_t v) {
  const std::size_t size = results->struct_size;
  const SolveResult& mine = solved.results[v];
  give(qs_result{.struct_size = 0,
                 .reason = reason_of(mine.reason),
                 .iterations = mine.iterations,
                 .restarts = mine.restarts,
                 .residual = mine.true_residual,
                 .relative_residual = solved.relative.empty() ? 0 : solved.relative[v],
                 .seconds = mine.seconds,
                 .flops = mine.flops},
       reinterpret_cast<std::byte*>(results) + number * size, size);
}

}  // namespace quarkstar::c
