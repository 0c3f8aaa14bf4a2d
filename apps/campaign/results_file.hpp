#pragma once
// The results of one configuration of a campaign.
#include "apps/run/report.hpp"

#include <map>
#include <string>
#include <vector>

namespace quarkstar::app::campaign {

/// Of one source of one quark, or of one hadron, which has correlators alone.
struct RowResults {
  std::vector<Correlator> correlators;  ///< by name
  std::vector<int> iterations;          ///< of each column and mass, in the order of a solve's report
  std::vector<double> true_residuals;   ///< of the same
};

struct ConfigurationResults {
  std::string links;                                                   ///< links_text() of the configuration
  std::map<std::string, std::map<std::string, RowResults>> of_quarks;  ///< by quark, or hadron, and text of the source

  /// nullptr where there is no such row.
  const RowResults* find(const std::string& quark, const std::string& source) const;
};

/// What tells one configuration from another: plaquettes and link trace as hexadecimal numbers.
std::string links_text(const GaugeSummary& summary);

RowResults row_results(const RunReport& report);
RowResults row_results(std::vector<Correlator> of_hadron);

/// /QUARK/SOURCE/correlators/NAME and effective_masses/NAME/{log,cosh} as write_correlators_hdf5(), /QUARK/SOURCE/{iterations,
/// true_residuals}, which hadrons lack; of the root the attributes configuration and links. The same results make the same bytes. Throws
/// Error(environment) naming the file.
void write_results(const std::string& path, const std::string& configuration, const ConfigurationResults& results);

/// Throws Error(input) naming the file where it is damaged.
ConfigurationResults read_results(const std::string& path);

/// Bytes of such a file with `rows` rows of so many correlators on T time slices, to some ten per cent.
double results_bytes(std::size_t rows, std::size_t real_correlators, std::size_t complex_correlators, int time_slices);

}  // namespace quarkstar::app::campaign
