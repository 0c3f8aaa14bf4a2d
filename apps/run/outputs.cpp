#include "apps/run/outputs.hpp"

#include "apps/report/report_html.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/write_hdf5.hpp"
#include "apps/run/write_json.hpp"
#include "codelets/io/propagator.hpp"
#include "codelets/lattice/boundary_text.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/atomic_file.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

namespace quarkstar::app {
namespace {

/// Of the files in a folder of outputs.
constexpr std::array<std::string_view, 5> names{"propagator.h5", "propagator.lime", "correlators.h5", "result.json", "report.html"};

void write_text(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.append(text);
  file.commit();
}

/// eta(x): the source's number at each site of this rank's part.
std::vector<double> source_field(const RunReport& report, const Box& part) {
  std::vector<double> eta;
  for (std::int64_t i = 0; i < volume(part.extents); ++i) {
    const std::complex<double> value =
        source_at(report.config.source, lexicographic(site_of(part, i), report.gauge.extents), report.gauge.extents);
    eta.push_back(value.real());
    eta.push_back(value.imag());
  }
  return eta;
}

void write_scidac(const std::string& path, const RunReport& report, const Propagator& propagator) {
  const RunConfig& config = report.config;
  const Box part = propagator.columns.front().box();
  format::PropagatorWriteOptions options;
  options.file_info =
      fmt::format("{} {} {} boundary {}", config.action->name, config.action->mass_key, propagator.mass, boundary_text(config.boundary));
  options.source_info = text_of(config.source);
  options.column_info = fmt::format("{} tolerance {}", config.solver.solver, config.solver.tolerance);
  options.part = part;
  format::PropagatorWriter writer(path, report.gauge.extents, options);
  writer.write_source(source_field(report, part));
  for (std::size_t column = 0; column < propagator.columns.size(); ++column)
    writer.write_column(static_cast<int>(column) / 3, static_cast<int>(column) % 3, reals_of(propagator.columns[column]));
  writer.commit();
}

/// The outputs that no fields are needed for; their paths are added to `written`.
void write_tables(const OutputFolder& folder, const RunReport& report, std::vector<std::string>& written) {
  runtime::mpi::Job::current().on_root([&] {
    if (!report.correlators.empty()) write_correlators_hdf5(written.emplace_back(folder.file("correlators.h5")), report);
    write_json_file(written.emplace_back(folder.file("result.json")), report);
    write_text(written.emplace_back(folder.file("report.html")), report_html(report));
  });
}

/// What another run has left beside these results looks like theirs.
void tell_older_propagators(const OutputFolder& folder, const std::vector<std::string>& written) {
  runtime::mpi::Job::current().on_root([&] {
    for (const auto& entry : std::filesystem::directory_iterator(folder.file(""))) {
      const std::string name = entry.path().filename();
      if (name.starts_with("propagator") && (name.ends_with(".h5") || name.ends_with(".lime")) &&
          std::find(written.begin(), written.end(), folder.file(name)) == written.end())
        spdlog::warn("{} is of an earlier run: this one writes it with --propagators", folder.file(name));
    }
  });
}

}  // namespace

std::span<const double> reals_of(const HostField& field) {
  return {reinterpret_cast<const double*>(field.data.data()), 2 * field.data.size()};
}

OutputFolder::OutputFolder(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::error_code error;
  made_ = std::filesystem::create_directories(path_, error);
  if (std::filesystem::exists(path_) && !std::filesystem::is_directory(path_)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw_write_error("--out: " + path_, "making the folder", error.value());
  remove_leftovers(path_, [](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end() || (name.starts_with("propagator_m") && name.ends_with(".lime"));
  });
  check_writable(file("result.json"));
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (made_) std::filesystem::remove(path_, ignored);  // only removes an empty folder
}

std::vector<std::string> inputs_of(const RunConfig& config) {
  std::vector<std::string> files{config.gauge, deflation_file(config)};
  if (config.action != nullptr)
    for (const std::string_view key : config.action->link_files)
      if (const auto found = config.settings.find(key); found != config.settings.end())
        files.push_back(std::get<std::string>(found->second));
  return files;
}

void check_writable(const std::string& file, std::span<const std::string> used) {
  if (file.empty()) return;
  for (const std::string& other : used) {
    std::error_code absent;  // a file that is not there yet is no one's twin
    if (file == other || std::filesystem::equivalent(file, other, absent))
      throw Error(ErrorKind::input, file, "this run has that file for something else", "give the output another name");
  }
  const AtomicFile probe(file);
}

void write_json_file(const std::string& path, const RunReport& report) {
  write_text(path, report_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::vector<std::string> write_outputs(const OutputFolder& folder, const RunReport& report, const Propagators& propagators) {
  std::vector<std::string> written;
  const std::vector<std::string>& formats = report.config.propagator_files;
  const auto wants = [&](std::string_view format) { return std::find(formats.begin(), formats.end(), format) != formats.end(); };
  if (wants("hdf5")) write_propagator_hdf5(written.emplace_back(folder.file("propagator.h5")), report, propagators);
  for (const Propagator& propagator : propagators) {
    if (!wants("scidac")) break;
    if (propagator.columns.size() != spinor_components) continue;  // colour vectors have fewer
    const std::string name = propagators.size() > 1 ? fmt::format("propagator_m{}.lime", propagator.mass) : "propagator.lime";
    write_scidac(written.emplace_back(folder.file(name)), report, propagator);
  }
  write_tables(folder, report, written);
  tell_older_propagators(folder, written);
  return written;
}

}  // namespace quarkstar::app
