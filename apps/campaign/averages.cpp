#include "apps/campaign/averages.hpp"

#include "apps/campaign/results_file.hpp"
#include "apps/run/hdf5_file.hpp"
#include "codelets/contract/effective_mass.hpp"
#include "codelets/contract/three_point.hpp"
#include "codelets/lattice/boundary.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <map>
#include <optional>
#include <set>

namespace quarkstar::app::campaign {
namespace {

/// Kinds of sources in the order of the campaign, and the sources of each.
std::vector<std::pair<std::string, std::vector<Source>>> sources_by_kind(const Campaign& campaign) {
  std::vector<std::pair<std::string, std::vector<Source>>> kinds;
  for (const Source& source : campaign.sources) {
    auto place = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == kind_of(source); });
    if (place == kinds.end()) place = kinds.insert(kinds.end(), {kind_of(source), {}});
    place->second.push_back(source);
  }
  return kinds;
}

/// Samples of one quark and kind of source, one configuration after the other.
struct Samples {
  Average average;
  std::vector<Source> sources;
  std::complex<double> three_phases;  ///< of time's boundary, of three quarks
  std::size_t time_slices = 0;
  std::map<std::string, std::vector<std::vector<double>>> of_correlators;

  /// file: of the results.
  void add(const std::string& configuration, const ConfigurationResults& results, const std::string& file) {
    average.configurations.push_back(configuration);
    for (const Source& source : sources) {
      const RowResults* row = results.find(average.quark, quarkstar::text_of(source));
      if (row == nullptr)
        throw Error(ErrorKind::input, file, fmt::format("the row {} {} is no longer there", average.quark, quarkstar::text_of(source)),
                    "a start of the campaign computes it anew");
      for (const Correlator& correlator : row->correlators) add(correlator, source);
    }
  }

 private:
  void add(const Correlator& correlator, const Source& source) {
    time_slices = correlator.values.size();
    std::vector<std::vector<double>>& samples = of_correlators[correlator.name];
    if (samples.size() < average.configurations.size()) samples.emplace_back(time_slices + correlator.imaginary.size(), 0.0);
    std::vector<double>& mean = samples.back();
    const bool baryon = contract::channel_of(correlator.name).baryon, complex = !correlator.imaginary.empty();
    // The quarks of a three-point function go to its sink, wherever the current is.
    std::optional<std::size_t> separation;
    if (is_three_point(correlator.name)) separation = contract::separation_of(correlator.name);
    for (std::size_t t = 0; t < time_slices; ++t) {
      std::complex<double> value(correlator.values[t], complex ? correlator.imaginary[t] : 0);
      if (baryon && separation.value_or(t) + static_cast<std::size_t>(source.time()) >= time_slices) value *= three_phases;
      value /= static_cast<double>(sources.size());
      mean[t] += value.real();
      if (complex) mean[time_slices + t] += value.imag();
    }
  }
};

std::vector<double> values_of(const std::vector<Estimate>& estimates) {
  std::vector<double> values;
  for (const Estimate& estimate : estimates) values.push_back(estimate.mean);
  return values;
}
std::vector<double> errors_of(const std::vector<Estimate>& estimates) {
  std::vector<double> errors;
  for (const Estimate& estimate : estimates) errors.push_back(estimate.error);
  return errors;
}
std::vector<std::complex<double>> together(const std::vector<double>& real, const std::vector<double>& imaginary) {
  std::vector<std::complex<double>> values;
  for (std::size_t t = 0; t < real.size(); ++t) values.emplace_back(real[t], imaginary[t]);
  return values;
}

}  // namespace

AverageCorrelator average_correlator(const std::string& name, const std::vector<std::vector<double>>& samples, std::size_t time_slices,
                                     int bin) {
  AverageCorrelator average{name, {}, {}, {}, {}};
  const auto of_real_parts = [time_slices](std::vector<double> (*mass)(std::span<const double>)) {
    return [mass, time_slices](std::span<const double> mean) { return mass(mean.first(time_slices)); };
  };
  average.real = jackknife(
      samples, [](std::span<const double> mean) { return std::vector<double>(mean.begin(), mean.end()); }, bin);
  average.imaginary.assign(average.real.begin() + static_cast<std::ptrdiff_t>(time_slices), average.real.end());
  average.real.resize(time_slices);
  if (is_three_point(name)) return average;
  average.log_mass = jackknife(samples, of_real_parts(log_effective_mass), bin);
  average.cosh_mass = jackknife(samples, of_real_parts(cosh_effective_mass), bin);
  return average;
}

std::vector<Average> averages_of(const Campaign& campaign, const Journal& journal) {
  std::vector<Samples> all;
  for (const Table* table : campaign.tables())
    for (const auto& [kind, sources] : sources_by_kind(campaign))
      all.push_back({{table->kind, table->name, kind, {}, {}}, sources, boundary_phase(3 * table->config.boundary[3]), 0, {}});
  for (const Configuration& configuration : campaign.configurations) {
    const auto complete = [&](const Samples& samples) {
      return std::all_of(samples.sources.begin(), samples.sources.end(), [&](const Source& source) {
        return journal.is_done({configuration.name, samples.average.quark, quarkstar::text_of(source)});
      });
    };
    if (std::none_of(all.begin(), all.end(), complete)) continue;
    const std::string file = campaign.file_of(configuration);
    const ConfigurationResults results = read_results(file);
    for (Samples& samples : all)
      if (complete(samples)) samples.add(configuration.name, results, file);
  }
  std::vector<Average> averages;
  for (Samples& samples : all) {
    if (samples.average.configurations.empty()) continue;
    for (const auto& [name, values] : samples.of_correlators)
      samples.average.correlators.push_back(average_correlator(name, values, samples.time_slices, campaign.bin));
    averages.push_back(std::move(samples.average));
  }
  return averages;
}

void write_averages(const std::string& path, const Campaign& campaign, const std::vector<Average>& averages) {
  Hdf5File file(path);
  const auto kinds = sources_by_kind(campaign);
  std::set<std::string> made;
  for (const Average& average : averages) {
    if (made.insert(average.quark).second) file.make_group(average.quark);
    const std::string group = average.quark + "/" + average.source;
    file.make_group(group);
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == average.source; });
    file.write(group + "/configurations", average.configurations);
    std::vector<std::string> sources;
    for (const Source& source : kind->second) sources.push_back(quarkstar::text_of(source));
    file.write(group + "/sources", sources);
    file.attribute("bin", fmt::format("{}", campaign.bin), group);
    file.make_group(group + "/correlators");
    file.make_group(group + "/effective_masses");
    for (const AverageCorrelator& correlator : average.correlators) {
      const std::string values = group + "/correlators/" + correlator.name + "/",
                        masses = group + "/effective_masses/" + correlator.name + "/";
      file.make_group(group + "/correlators/" + correlator.name);
      if (correlator.imaginary.empty()) {
        file.write(values + "mean", values_of(correlator.real));
        file.write(values + "error", errors_of(correlator.real));
      } else {
        file.write(values + "mean", together(values_of(correlator.real), values_of(correlator.imaginary)));
        file.write(values + "error", together(errors_of(correlator.real), errors_of(correlator.imaginary)));
      }
      if (correlator.log_mass.empty()) continue;
      file.make_group(group + "/effective_masses/" + correlator.name);
      file.write(masses + "log", values_of(correlator.log_mass));
      file.write(masses + "log_error", errors_of(correlator.log_mass));
      file.write(masses + "cosh", values_of(correlator.cosh_mass));
      file.write(masses + "cosh_error", errors_of(correlator.cosh_mass));
    }
  }
  file.commit();
}

}  // namespace quarkstar::app::campaign
