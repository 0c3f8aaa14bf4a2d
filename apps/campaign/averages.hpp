#pragma once
// Averages over the configurations of a campaign.
#include "apps/campaign/campaign.hpp"
#include "apps/campaign/journal.hpp"
#include "apps/run/statistics.hpp"
#include "codelets/contract/correlators.hpp"

#include <string>
#include <vector>

namespace quarkstar::app::campaign {

struct AverageCorrelator {
  std::string name;
  std::vector<Estimate> real, imaginary;      ///< t = 0..T-1; imaginary: empty where every summand is real
  std::vector<Estimate> log_mass, cosh_mass;  ///< of the averaged real parts, t = 0..T-2; empty for three-point functions

  /// The one of them that is its mass where one state dominates: cosh where both directions of time have the same.
  bool goes_both_ways() const { return contract::channel_of(name).reflection == 1; }
  const std::vector<Estimate>& mass() const { return goes_both_ways() ? cosh_mass : log_mass; }
};

/// Of a quark, or a hadron, and all its sources of one kind, which are averaged on every configuration before.
struct Average {
  std::string_view kind;                    ///< "quark" or "hadron"
  std::string quark, source;                ///< its name, "light"; "point"
  std::vector<std::string> configurations;  ///< that have all these sources
  std::vector<AverageCorrelator> correlators;
};

/// Means and jackknife errors. samples: of every configuration the source average, T values, and T more of a complex correlator behind
/// them.
AverageCorrelator average_correlator(const std::string& name, const std::vector<std::vector<double>>& samples, std::size_t time_slices,
                                     int bin);

/// Of what is done, in the order of quarks, hadrons and of their sources. Baryons from sources at any time are like those from t = 0:
/// behind the end of the lattice they get back what the boundary has given their three quarks. Reads the configurations' files. Throws
/// Error(input) naming one that is damaged.
std::vector<Average> averages_of(const Campaign& campaign, const Journal& journal);

/// /QUARK/SOURCE/correlators/NAME/{mean,error} (T doubles, or complex numbers), /QUARK/SOURCE/effective_masses/NAME/{log,log_error,cosh,
/// cosh_error} (T-1 doubles), /QUARK/SOURCE/{configurations,sources} (texts); SOURCE: kind_of() them, point, wall:1,0,0, ...; its attribute
/// bin. Throws Error(environment) naming the file.
void write_averages(const std::string& path, const Campaign& campaign, const std::vector<Average>& averages);

}  // namespace quarkstar::app::campaign
