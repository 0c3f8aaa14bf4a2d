#pragma once
// Scaling of the second seed document, from simulations.
#include "apps/studies/figures.hpp"

#include <functional>

namespace quarkstar::app::model {

/// GFLOP/s of `bench dslash` on a simulated machine, links of 12 reals, 1320 flop per site, by lattice and precision ("double", "single").
using SimulatedSpeed = std::function<double(const std::string& machine, const Coord& lattice, const std::string& precision)>;

/// Wilson Dslash on 2, 4 and 8 K40s in one, two and four POWER8 nodes: strong scaling on 32^3 x 64 and 48^3 x 96, weak scaling with 32^3 x
/// 16 a GPU, in flops as the document counts them (1488 per site), beside what it prints for eight.
FigureTable power8_scaling(const SimulatedSpeed& speed);

/// Asks quarkstar-sim, a process for each question. Throws Error(environment) where it is missing or fails.
double speed_of_simulator(const std::string& machine, const Coord& lattice, const std::string& precision);

}  // namespace quarkstar::app::model
