#pragma once
// What is contracted, and what comes out.
#include "codelets/field/host_field.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarkstar {

/// Columns from one source for one mass (Wilson: kappa): this rank's part of them.
struct Propagator {
  double mass = 0;
  std::vector<std::pair<std::string, double>> numbers = {};  ///< of the operator for this mass: RunOperator::numbers
  std::vector<HostField> columns = {};
};

/// Those of one source, in the order of its masses.
using Propagators = std::vector<Propagator>;

struct Correlator {
  std::string name;
  std::vector<double> values;               ///< t = 0..T-1 from the source; of a complex one the real parts
  std::vector<double> imaginary;            ///< empty where every summand is real
  std::vector<double> log_mass, cosh_mass;  ///< of the real parts, t = 0..T-2; not a number where undefined; three-point functions: empty
};

/// What follows the hadron in the name of a three-point function, before the time slices from source to sink.
inline constexpr std::string_view three_point_mark = "_3pt_dt";
inline bool is_three_point(std::string_view correlator) { return correlator.find(three_point_mark) != std::string_view::npos; }

/// With the effective masses of these values.
Correlator correlator_of(std::string name, std::vector<double> values, std::vector<double> imaginary = {});

}  // namespace quarkstar
