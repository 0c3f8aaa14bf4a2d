#pragma once
// Which CPU kernels sessions run, and how many bytes the lanes of their layouts fill: by measurement, like every setting that changes speed
// and no bit.
#include "codelets/arch/dispatch.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/tune/tune_cache.hpp"

#include <optional>
#include <string>
#include <vector>

namespace quarkstar {

/// Where a choice of kernels may come from: the tune cache or else a measurement, the tune cache or else the rule, the rule alone.
enum class KernelTuning { measure, known, rule };

struct CpuKernels {
  arch::Architecture architecture{};
  int lane_bytes = 64;  ///< for SessionOptions
  std::string reason;   ///< for the user
};

/// Chooses for the sessions with these options that follow, and tells arch::prefer(). $QUARKSTAR_ARCH wins, with its own layout. The rule,
/// also where GPUs will own the blocks, whose layout is one for all: the widest architecture that processor and build have.
/// measure: where the tune cache does not know, a session of CPUs runs, before any other, Wilson's and the staggered hopping operator with
/// every architecture and layout, on lattices that leave the caches; another choice than the rule must be 3 % faster in the geometric mean.
/// Under MPI all ranks call; those of one host measure at the same time. They agree on one layout, for which each takes its fastest
/// kernels. cache: nullptr for the user's, which is not read where the rule is asked for. Throws what Session does.
CpuKernels choose_cpu_kernels(const runtime::SessionOptions& options, KernelTuning tuning, runtime::TuneCache* cache = nullptr);

/// The options with the layout of what is chosen for them.
runtime::SessionOptions with_cpu_kernels(runtime::SessionOptions options, KernelTuning tuning);

/// Options of a session that measures on CPUs: as many workers and threads, without GPUs.
runtime::SessionOptions cpus_alone(const runtime::SessionOptions& options);
/// Whether GPUs of this rank will own the blocks.
bool gpus_own_blocks(const runtime::SessionOptions& options);
/// What every choice for CPUs depends on: processor, its cores, workers and threads, ranks that share the host.
std::string cpus_key(const runtime::SessionOptions& options);
/// And what the choice of kernels does: architectures, and operators with their versions.
std::string cpu_kernels_key(const runtime::SessionOptions& options);

/// An architecture, by its place among the measured ones, and a layout: microseconds of each operator.
struct KernelTimes {
  int architecture, lane_bytes;
  std::vector<double> microseconds;
};

/// What a tune cache keeps: the layout, the best architecture with 64 and with 32 bytes, and how fast the first is, in thousandths of the
/// rule's speed.
struct KernelRanking {
  int lane_bytes, with_64, with_32, thousandths;
  int architecture() const { return lane_bytes == 64 ? with_64 : with_32; }
  std::vector<int> numbers() const { return {lane_bytes, with_64, with_32, thousandths}; }
  friend bool operator==(const KernelRanking&, const KernelRanking&) = default;
};
/// rule: one of them, with which another must compare well.
KernelRanking ranking_of(const std::vector<KernelTimes>& times, std::size_t rule);
/// Nothing where the numbers are none of so many architectures.
std::optional<KernelRanking> ranking_from(const std::vector<int>& numbers, int architectures);

}  // namespace quarkstar
