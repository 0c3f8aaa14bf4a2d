#pragma once
// Which worker owns which part of the lattice.
#include "apps/run/config.hpp"
#include "runtime/cut/decomposition.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace quarkstar::app {

/// One owner's part.
struct DevicePart {
  int worker = 0;
  std::string name;
  Coord extents{};
  double gflops_alone = 0;  ///< of a Dslash on this owner alone; 0: not measured
};

struct DevicePlan {
  std::vector<DevicePart> parts;
  double cpu_share = 0;          ///< of the sites, beside GPUs
  bool short_of_memory = false;  ///< CPUs have a part because the GPUs' memory does not hold it
  bool cpus_stay_out = false;    ///< they might have had a part, and GPUs alone are faster
  std::string reason;            ///< why the CPUs have that share; "" where there was no choice
  std::string sharing;           ///< why several devices cut the lattice, or are islands; "" where there was no choice
  /// Sum of the parts' stand-alone speeds, GFLOP/s: what no schedule can beat. 0: not measured.
  double bound_gflops() const;
};

struct PlannedLattice {
  runtime::Decomposition decomposition;
  DevicePlan plan;
};

/// Whether a plan may give blocks to CPUs beside GPUs because the options say so.
inline bool cpus_may_own(const runtime::SessionOptions& options) {
  return runtime::cpu_share_is_open(options) || options.cpu_share.value_or(0) > 0;
}

/// The workers of this rank that own blocks.
std::set<int> owners_of(const runtime::Decomposition& decomposition);
inline int owner_count(const runtime::Decomposition& decomposition) { return static_cast<int>(owners_of(decomposition).size()); }

/// A worker that can own blocks.
struct Owner {
  int worker = 0;
  std::string name;
  bool gpu = false;
  double memory = 0;  ///< bytes that fields may take there; of CPUs nothing is asked here
};
std::vector<Owner> owners_of(const runtime::Session& session);

/// Stand-alone speed of a worker for the Dslash that a solve will run, GFLOP/s, the best of several passes.
using MeasureOwner = std::function<double(int worker)>;

/// What the planner must know of one kind of solve; direction: the one that is cut.
struct PlanningProblem {
  Coord lattice{};
  std::function<double(int direction)> slice_bytes;  ///< memory of a slice of thickness 1 on its owner
  std::function<double(int direction)> face_bytes;   ///< a face, which crosses the bus each way for each application
  double flops_a_site = 1320;                        ///< of an application
  int thinnest = 1;                                  ///< least thickness of a part where the lattice is cut
  std::function<double(int direction)> border_bytes = [](int) { return 0.0; };  ///< memory of a part besides its slices
  double thin_speed = 1;    ///< what is left of the speed where a part is too thin to be split over lanes; see thin_speed()
  Coord whole{1, 1, 1, 1};  ///< extents of what no cut may divide
};

/// PlanningProblem::thin_speed. A direction without lanes leaves eight: in double precision that is all there are, in others half of them.
/// Measured for the Wilson Dslash in single precision, 48^3 x 93 beside CPUs on an H200 (6525 of 7727 GFLOP/s;
/// docs/results/2026-11-22-h200-layout.md), and assumed for the rest.
double thin_speed(Precision precision);

/// The thickest part along `direction` that the owner's memory holds; a CPU's is not asked for.
int thickest_part(const Owner& owner, const PlanningProblem& problem, int direction);

/// Parts for GPUs, and CPU workers beside them, as the options ask. The CPUs get the share that was given, to a tenth
/// of it where slices allow, and of the cuts that do the fastest is taken; where cpu_share_is_open() the one that their
/// measured speeds give, if the predicted time of an application is better by 2 %; and else what the GPUs' memory does
/// not hold, unless only GPUs were asked for. Cut in t, in z where t is too short. An application is predicted to take
/// what its slowest part takes at its stand-alone speed, over thin_speed where a part is thin; where CPUs have a part
/// beside others also 3.5 stages of 12 us that StarPU waits between dependent GPU tasks, and a part's surface waits for
/// faces, 15 us + bytes / 44 GB/s (both measured on an H200), while its owner does the rest. An H200 that had 252 slices
/// of 48^3 x 256 and CPUs four took 2417 us, predicted 2412 (docs/results/2026-11-23-h200-ranks.md). GPUs alone are one task
/// (runtime/gpu/several_gpus.hpp) and lose gpu_exchange_seconds(). Throws Error(input) where the GPUs cannot hold what they must, or the
/// lattice cannot be cut for its owners.
PlannedLattice plan_devices(const std::vector<Owner>& owners, const runtime::SessionOptions& wish, const PlanningProblem& problem,
                            const MeasureOwner& measure);

}  // namespace quarkstar::app
