#pragma once
// How long solves take on one island of all devices, or on several of some each: what `share = "auto"` compares.
#include <functional>
#include <span>

namespace quarkstar::app {

/// Seconds that both faces of a part add to its share of a hop, where so many GPUs of a host cut the lattice as one task
/// (runtime/gpu/several_gpus.hpp). face_bytes: of one face, for all right-hand sides. 5 us for each GPU that is waited for, and 150 GB/s
/// between two GPUs, 100 GB/s among more: fitted to whole iterations of Wilson's BiCGStab and HISQ's CG on two and four H200s with NVLink,
/// n = 1 to 12, 32^4 and 48^4 a GPU. That has their efficiency to 4 points (HISQ, n = 8 on four, 6 too low; docs/results/, "one, two and
/// four GPUs"); 12 spinors on four lose 15 %, twice what this says.
double gpu_exchange_seconds(int gpus, double face_bytes);

/// What one kind of device does in how many seconds.
struct DeviceSpeeds {
  double hops;                                                       ///< bytes a second of hops, as HopBytes counts them
  std::function<double(int devices, double face_bytes)> exchange{};  ///< as gpu_exchange_seconds()
  double solver;                                                     ///< seconds that the making of a solver takes beside its links
  double links;                                                      ///< bytes a second of its links
  double group, source;  ///< seconds around a group, and for each source in it: right-hand sides, contraction, results
};
/// With a bandwidth as workers tell it (runtime::Worker::bandwidth_gbs).
DeviceSpeeds speeds_of_gpus(double bandwidth_gbs);
DeviceSpeeds speeds_of_cpus(double bandwidth_gbs);

/// Bytes that stand for a hop with the vector operations behind it.
struct HopBytes {
  double links = 0;    ///< per site, read once for all right-hand sides
  double vector = 0;   ///< per site, of one right-hand side's vector
  int neighbours = 8;  ///< of a site, each of which is read
  /// Per site, for n right-hand sides.
  double of(int n) const;
};

struct IslandProblem {
  double sites;            ///< of the lattice
  HopBytes hop;            ///< between the parities, in the Krylov solver's precision
  double solver_links;     ///< bytes per site that the making of a solver moves, in all precisions
  int columns;             ///< of a source
  bool multigrid = false;  ///< its set-up takes two groups' time (24^3 x 48 on an H200: 1.9 s and 0.9 s)
};

/// Right-hand sides that are solved together.
struct ForecastGroup {
  int size;
  double hops;  ///< of all its iterations
};

/// Islands that are alike.
struct IslandShape {
  int islands = 1;
  int devices = 1;   ///< of each, that have a part of the lattice
  double faces = 0;  ///< bytes of a face of such a part, for one right-hand side
};

/// Seconds from links on the host to the last result. Solvers of islands are made one after another, the groups taken as GroupPool gives
/// them; results are taken in by one thread.
double forecast(const IslandProblem& problem, const DeviceSpeeds& speeds, const IslandShape& shape, std::span<const ForecastGroup> groups);

/// Iterations to the tolerance, roughly. Hermitian operators are taken for staggered ones, M^+ M = 4 m^2 + D^+ D with |D| = 5, and CG's
/// bound (HISQ, 24^3 x 48, 1e-9: 2400 to 4000 at m = 0.01, 370 at 0.05; this says 2680 and 535); others for Wilson's near its critical mass
/// (257 of BiCGStab at -0.78 there, 97 at -0.70; this says 257), of which CGNR takes four times as many.
double usual_iterations(bool hermitian, bool normal_equations, double mass, double tolerance);

}  // namespace quarkstar::app
