#include "apps/campaign/results_file.hpp"

#include "apps/run/hdf5_file.hpp"
#include "apps/run/write_hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::app::campaign {

const RowResults* ConfigurationResults::find(const std::string& quark, const std::string& source) const {
  const auto of_quark = of_quarks.find(quark);
  if (of_quark == of_quarks.end()) return nullptr;
  const auto row = of_quark->second.find(source);
  return row == of_quark->second.end() ? nullptr : &row->second;
}

std::string links_text(const GaugeSummary& summary) {
  return fmt::format("{:a} {:a} {:a} {:a}", summary.spatial_plaquette, summary.temporal_plaquette, summary.link_trace, summary.place_sum);
}

RowResults row_results(std::vector<Correlator> of_hadron) {
  RowResults row{std::move(of_hadron), {}, {}};
  std::sort(row.correlators.begin(), row.correlators.end(), [](const Correlator& a, const Correlator& b) { return a.name < b.name; });
  return row;
}

RowResults row_results(const RunReport& report) {
  RowResults row = row_results(report.correlators);
  for (const ColumnReport& solve : report.solves) {
    row.iterations.push_back(solve.result.iterations);
    row.true_residuals.push_back(solve.result.true_residual);
  }
  return row;
}

void write_results(const std::string& path, const std::string& configuration, const ConfigurationResults& results) {
  Hdf5File file(path);
  file.attribute("configuration", configuration);
  file.attribute("links", results.links);
  for (const auto& [quark, rows] : results.of_quarks) {
    file.make_group(quark);
    for (const auto& [source, row] : rows) {
      const std::string group = quark + "/" + source + "/";
      file.make_group(quark + "/" + source);
      if (!row.iterations.empty()) {
        file.write(group + "iterations", row.iterations);
        file.write(group + "true_residuals", row.true_residuals);
      }
      write_correlators(file, group, row.correlators);
    }
  }
  file.commit();
}

ConfigurationResults read_results(const std::string& path) {
  const Hdf5Input file(path, "a start of the campaign computes its rows anew");
  ConfigurationResults results;
  results.links = file.attribute("links");
  for (const std::string& quark : file.names("/"))
    for (const std::string& source : file.names(quark)) {
      const std::string group = quark + "/" + source + "/";
      RowResults& row = results.of_quarks[quark][source];
      const std::vector<std::string> names = file.names(quark + "/" + source);
      if (std::find(names.begin(), names.end(), "iterations") != names.end()) {
        row.iterations = file.integers(group + "iterations");
        row.true_residuals = file.doubles(group + "true_residuals");
      }
      for (const std::string& name : file.names(group + "correlators")) {
        const std::string dataset = group + "correlators/" + name;
        std::vector<double> real, imaginary;
        if (file.is_complex(dataset)) {
          for (const std::complex<double>& value : file.complexes(dataset)) {
            real.push_back(value.real());
            imaginary.push_back(value.imag());
          }
        } else {
          real = file.doubles(dataset);
        }
        row.correlators.push_back(correlator_of(name, std::move(real), std::move(imaginary)));
      }
    }
  return results;
}

double results_bytes(std::size_t rows, std::size_t real_correlators, std::size_t complex_correlators, int time_slices) {
  // Of HDF5 1.10: headers and the trees of groups.
  constexpr double of_file = 4000, of_row = 9000, of_correlator = 2000;
  const double masses = 2 * 8 * (time_slices - 1);
  const auto real = static_cast<double>(real_correlators), complex = static_cast<double>(complex_correlators);
  return of_file +
         static_cast<double>(rows) * (of_row + (real + complex) * (of_correlator + masses) + (8 * real + 16 * complex) * time_slices);
}

}  // namespace quarkstar::app::campaign
