#pragma once
// What a session for runs on a lattice is given: kernels and layout (cpu_kernels.hpp), and the threads of its CPU workers, by measurement.
#include "codelets/actions/cpu_kernels.hpp"
#include "runtime/cut/coord.hpp"

namespace quarkstar {

/// The lattice of a run, and what is solved on it together: vectors of so many components.
struct RunSize {
  Coord lattice;
  int components = 12, vectors = 1;
};

/// The options of a session for a run, with the kernels, the layout and the threads that are chosen for it. measure: kernels are measured
/// where that is worth it, else they are what is known, and threads are measured; otherwise the rules.
/// Throws what choose_cpu_kernels() and choose_threads() do.
runtime::SessionOptions tuned_session(const runtime::SessionOptions& options, const RunSize& run, bool measure);

/// 16^4 sites or more: a run takes longer than the measurement of kernels.
bool is_worth_measuring_kernels(const Coord& lattice);

/// Threads of each CPU worker of a session for this run; 0: a core each. Few sites keep few threads busy: what there is to do for each is
/// less than what it takes to start them. Where nobody says how many (SessionOptions::threads_per_worker), no GPU will own blocks, and the
/// program is no job of several ranks, the tune cache answers, or else sessions of all, of half as many, of a quarter ... threads apply
/// the hopping operator to vectors on as many sites (next lower power of two), about 0.2 s each, until fewer are slower. All threads where
/// each has usual_sites_a_thread or more. Fewer must be 3 % faster. No bit depends on it.
/// cache: nullptr for the user's. Throws what Session does.
int choose_threads(const runtime::SessionOptions& options, const RunSize& run, runtime::TuneCache* cache = nullptr);
inline constexpr int usual_sites_a_thread = 8192;

/// What a choice depends on: cpus_key(), kernels, layout, sites of a worker, vectors. sites: as measured.
std::string threads_key(const runtime::SessionOptions& options, std::int64_t sites, const RunSize& run);

/// Extents of 2^k sites, 4 to twice as many in a direction, of which there are no more than `sites`; 4^4 at least.
Coord measured_block(std::int64_t sites);

}  // namespace quarkstar
