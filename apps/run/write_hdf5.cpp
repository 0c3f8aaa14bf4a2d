#include "apps/run/write_hdf5.hpp"

#include "apps/run/hdf5_file.hpp"
#include "runtime/mpi/shared_file.hpp"

#include <nlohmann/json.hpp>

#include <bit>
#include <complex>
#include <functional>
#include <map>
#include <optional>

namespace quarkstar::app {
namespace {

void write_attributes(Hdf5File& file, const RunReport& report) {
  for (const auto& [key, value] : parameters_of(report.config))
    file.attribute(std::string(key), value.is_string() ? value.get<std::string>() : value.dump());
  file.attribute("quarkstar", version_line());
}

}  // namespace

void write_correlators(Hdf5File& file, const std::string& group, const std::vector<Correlator>& correlators) {
  file.make_group(group + "correlators");
  file.make_group(group + "effective_masses");
  for (const Correlator& correlator : correlators) {
    const std::string dataset = group + "correlators/" + correlator.name;
    if (correlator.imaginary.empty()) {
      file.write(dataset, correlator.values);
    } else {
      std::vector<std::complex<double>> values;
      for (std::size_t t = 0; t < correlator.values.size(); ++t) values.emplace_back(correlator.values[t], correlator.imaginary[t]);
      file.write(dataset, values);
    }
    if (correlator.log_mass.empty()) continue;
    const std::string masses = group + "effective_masses/" + correlator.name;
    file.make_group(masses);
    file.write(masses + "/log", correlator.log_mass);
    file.write(masses + "/cosh", correlator.cosh_mass);
  }
}

void write_correlators_hdf5(const std::string& path, const RunReport& report) {
  Hdf5File file(path);
  write_attributes(file, report);
  if (const std::string left_out = correlators_left_out(report.config); !left_out.empty()) file.attribute("not_written", left_out);
  write_correlators(file, "", report.correlators);
  file.commit();
}

namespace {

/// The bytes of a field in the order and representation of the file.
template <class Field>
std::span<const std::byte> bytes_of(const Field& field) {
  static_assert(std::endian::native == std::endian::little, "the data set is little-endian");
  return std::as_bytes(std::span(field.data));
}

/// A data set "propagator" [leading...][t][z][y][x][site...] of parts of fields of all ranks, the fields in lexicographic order of the
/// leading indices, the last of which runs fastest. begin: writes what else is in the file, on the root. Collective.
void write_fields(const std::string& path, const Coord& extents, const std::vector<hsize_t>& leading, const std::vector<hsize_t>& site,
                  const std::vector<const HostField*>& fields, const std::function<void(Hdf5File&)>& begin) {
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  std::optional<Hdf5File> file;
  std::uint64_t offset = 0;
  job.on_root([&] {
    file.emplace(path);
    begin(*file);
    std::vector<hsize_t> shape = leading;
    for (std::size_t mu = 4; mu-- > 0;) shape.push_back(static_cast<hsize_t>(extents[mu]));
    shape.insert(shape.end(), site.begin(), site.end());
    const Hdf5Id real(H5Tcopy(H5T_IEEE_F64LE), H5Tclose), stored = complex_type(real);
    offset = file->leave_room("propagator", stored, shape);
    file->close();
  });
  runtime::mpi::SharedFile parts(job, file ? file->temporary() : "", runtime::mpi::SharedFile::Mode::write, path);
  for (const HostField* field : fields) {
    const std::size_t site_bytes = static_cast<std::size_t>(field->components) * sizeof(std::complex<double>);
    parts.write({offset, site_bytes, extents}, field->box(), bytes_of(*field));
    offset += static_cast<std::uint64_t>(volume(extents)) * site_bytes;
  }
  parts.close();
  job.on_root([&] { file->commit(); });
}

}  // namespace

void write_propagator_hdf5(const std::string& path, const RunReport& report, const Propagators& propagators) {
  std::vector<double> masses;
  std::map<std::string, std::vector<double>> numbers;
  std::vector<const HostField*> fields;
  for (const Propagator& propagator : propagators) {
    masses.push_back(propagator.mass);
    for (const auto& [name, number] : propagator.numbers) numbers[name].push_back(number);
    for (const HostField& column : propagator.columns) fields.push_back(&column);
  }
  const bool names_masses = report.config.action->names_masses;
  std::vector<hsize_t> leading{report.config.columns.size()}, site{3};
  if (names_masses) leading.insert(leading.begin(), propagators.size());
  if (fields.front()->components == spinor_components) site.insert(site.begin(), 4);
  write_fields(path, report.gauge.extents, leading, site, fields, [&](Hdf5File& file) {
    write_attributes(file, report);
    file.write("columns", report.config.columns);
    if (!names_masses) return;
    file.write("masses", masses);
    for (const auto& [name, of_masses] : numbers) file.write(name, of_masses);
  });
}

}  // namespace quarkstar::app
