#pragma once
// Text of flags and configuration files turned into values, with errors that say what is allowed.
#include "codelets/contract/sequential.hpp"
#include "codelets/field/precision.hpp"
#include "codelets/field/source.hpp"
#include "codelets/lattice/boundary.hpp"
#include "runtime/cut/coord.hpp"
#include "runtime/system/throttle.hpp"

#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::app {

/// A value that cannot be used. The caller knows which flag, or which line and key of a file, it came from.
class BadValue : public std::runtime_error {
 public:
  BadValue(const std::string& what, std::string allowed) : std::runtime_error(what), allowed_(std::move(allowed)) {}
  const std::string& allowed() const { return allowed_; }

 private:
  std::string allowed_;
};

/// All of the following throw BadValue.
double parse_real(std::string_view text);
/// A finite number in an open range; below may be infinity.
double parse_between(std::string_view text, double above, double below);
inline double parse_positive(std::string_view text, double below = std::numeric_limits<double>::infinity()) {
  return parse_between(text, 0, below);
}
int parse_integer(std::string_view text, int least, int most = 2147483647);
bool parse_switch(std::string_view text);
/// One of `names`, exactly as written.
std::string parse_name(std::string_view text, const std::vector<std::string>& names);
/// The one of `names` that is fewest letters (put in, left out or replaced) away from `word`; empty where that is more than half of them.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);
/// "did you mean kappa? use one of kappa, mass"; the question only where a name is near.
std::string use_one_of(std::string_view word, const std::vector<std::string>& names);
/// "half", "single" or "double".
Precision parse_precision(std::string_view text);
/// Four numbers "x,y,z,t", each at least `least`.
Coord parse_coord(std::string_view text, int least);
/// A command line in which the numbers after --lattice, --blocks, --schwarz-block and --aggregate are one argument, four at a time: "4 4 4
/// 8" becomes "4,4,4,8". Everywhere else numbers with blanks between them would be arguments of their own.
std::vector<std::string> join_coordinates(const std::vector<std::string>& arguments);
/// "x=periodic,t=antiperiodic,z=0.5": angles in units of pi; directions that are not named keep the value in `angles`.
BoundaryAngles parse_boundary(std::string_view text, BoundaryAngles angles);
/// "4GiB", "512 MiB", "2e9": a number of bytes with one of B, kB, MB, GB, TB, KiB, MiB, GiB, TiB or nothing; at least 1 MiB.
std::size_t parse_bytes(std::string_view text);
/// "25%" or "0": a part between 0 and 1.
double parse_share(std::string_view text);
/// Numbers of GPUs, "0,2".
std::vector<int> parse_numbers(std::string_view text);
/// "1:2" (worker 1 takes twice as long), "1:1:0.01:5" (one task in a hundred takes 5 ms more), "1:1:0.01:5:42" (with a seed), "1:3@10"
/// (three times as long from the tenth second of the session on); several with commas.
std::vector<runtime::Throttle> parse_throttles(std::string_view text);
/// "0-11", "0,3,5-7": ascending numbers 0..11 without repetition.
std::vector<int> parse_columns(std::string_view text);

/// "0,0,0+1,0,-1": momenta, each once.
std::vector<std::array<int, 3>> parse_momenta(std::string_view text);

/// "pion:8+proton_u:8,1,0,0": hadrons, time slices to the sink and momenta there, each once.
std::vector<contract::HadronSink> parse_hadron_sinks(std::string_view text);

/// "point:x,y,z,t", "wall:t[,nx,ny,nz]", "corner-wall:t", "z2:t[,seed]", "random:t[,seed]", "gaussian:x,y,z,t,sigma,steps[,alpha,steps]",
/// "wuppertal:x,y,z,t,alpha,steps[,alpha,steps]".
Source parse_source(std::string_view text);
/// "point", "gaussian:sigma,steps[,alpha,steps]", "wuppertal:alpha,steps[,alpha,steps]".
Sink parse_sink(std::string_view text);
/// "hdf5,scidac"
std::vector<std::string> parse_propagator_files(std::string_view text);

/// The inverses of parse_source, parse_coord and parse_throttles, for reports.
using quarkstar::text_of;
std::string text_of(const Coord& coord);
std::string text_of(const std::vector<runtime::Throttle>& throttles);
/// "1.25 GiB"
std::string bytes_text(double bytes);

/// Parts between separators; "" gives one empty part.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace quarkstar::app
