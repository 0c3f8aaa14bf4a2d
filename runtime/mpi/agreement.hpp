#pragma once
// What every rank computes for itself and all must find alike: coefficients, counters, stop flags, norms. Compared before anything follows
// from it, so that ranks that differ do not wait for each other.
#include "runtime/mpi/job.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace quarkstar::runtime::mpi {

/// 64 bits that follow from the bytes and from `before`, the fingerprint of others. Texts of one length that differ within eight aligned
/// bytes, by a flipped bit for instance, never have the same; any other two have it once in 2^64. 1 ns per 8 bytes.
std::uint64_t fingerprint(std::span<const std::byte> bytes, std::uint64_t before = 0);

/// Compares numbers outside of iterations with those of all other ranks: one MPI_Iallreduce of 16 bytes. Collective. Where ranks differ
/// the job ends as in look_together(). what: of the message, "norm".
void require_alike(Job& job, std::span<const double> numbers, const char* what);

/// What a rank contributes to a look, and what all ranks know after it.
struct Look {
  bool ends = false;   ///< this rank, any rank wants the work to end
  double seconds = 0;  ///< at least 0; the most of any rank
};

/// Compares the state that this rank has in hand with those of all other ranks: one MPI_Iallreduce of 32 bytes, which carries `mine` too.
/// Collective. Where ranks differ the job ends (exit code of an `environment` error) with one message that names those which have other
/// bits than most; without a majority it names all. A guest's host is told on every rank. Restart files stay as they are. state: whole
/// numbers of 8 bytes.
/// iterations: for the message.
/// Where there is nobody to ask it returns `mine`.
Look look_together(Job& job, std::span<const std::byte> state, int iterations, const Look& mine);

/// "rank 1 (node7) has other numbers than 3 other ranks"; fingerprints by rank, not all equal.
std::string describe_difference(std::span<const std::uint64_t> fingerprints, const std::function<std::string(int rank)>& name_of);

}  // namespace quarkstar::runtime::mpi
