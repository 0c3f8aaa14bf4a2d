#pragma once
// The machines of the seed documents: every figure that the models put in, with its source.
#include <optional>
#include <string>
#include <vector>

namespace quarkstar::app::model {

/// A figure and where it is from. Without a value the source says why.
struct Figure {
  std::optional<double> value;
  std::string source;
};

struct Machine {
  std::string name;
  Figure single_tflops, double_tflops;  ///< peak
  Figure bandwidth, triad;              ///< GB/s: peak, and what STREAM's triad gets
  Figure cache_kib;                     ///< in which a core (an SMX) keeps the vectors that it reads again
  Figure watts;                         ///< thermal design power
};

/// 5110, 7120, K20, K20X, K40, POWER8 (a node) and V100.
const std::vector<Machine>& machines();

/// One of them; nullptr for an unknown name.
const Machine* find_machine(const std::vector<Machine>& all, const std::string& name);

/// The first cache of a core that holds vectors on this machine's CPUs; no value where the system does not tell.
Figure cache_here();

/// What no document states: time of a kernel besides its bytes (launch, barrier, sums), microseconds.
inline constexpr double assumed_overhead_us = 5;

}  // namespace quarkstar::app::model
