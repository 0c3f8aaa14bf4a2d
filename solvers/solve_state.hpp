#pragma once
// A solve at a moment between two batches, for restart files that cost no iteration.
#include "codelets/field/field.hpp"
#include "codelets/field/host_field.hpp"
#include "solvers/settings.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quarkstar {

/// All that a solve for n right-hand sides has come to: another one of the same equation and settings, on however many ranks, goes on from
/// it with the same bits.
struct SolveState {
  std::vector<SolveResult> results;
  std::vector<std::byte> numbers;  ///< of the correction that runs: CorrectionNumbers, then a KrylovSnapshot's; none where all are done
  std::vector<HostField> fields;   ///< this rank's part: n solutions (with a fifth dimension on all slices, [s n + v]), and of the
                                   ///< correction what store_halves() gives; none where all are done
};

/// What Solver::solve knows of a correction besides its results. No gaps: it goes into files.
struct CorrectionNumbers {
  std::int32_t cycle = 0, spent = 0, by_multigrid = 0, no_gap = 0;
  std::array<double, most_vectors> target2{}, r_norm2{}, least2{}, previous2{};  ///< CorrectionGoal
  std::array<std::int32_t, most_vectors> budget{}, patience{};
};
CorrectionNumbers correction_numbers(const SolveState& state);
/// What is behind them.
std::span<const std::byte> krylov_numbers(const SolveState& state);

/// Appends fields of one parity, and any precision, to `host`: two of them in one, the first on its own sites, the second each number at
/// the neighbour in x, which has the other parity. Waits.
void store_halves(std::vector<HostField>& host, std::span<const Field* const> fields, const Box& part);
/// The inverse, with the same bits. Waits.
void load_halves(std::span<const Field* const> fields, std::span<const HostField> host);

}  // namespace quarkstar
