#include "apps/write_hdf5.hpp"

#include "apps/hdf5_file.hpp"

#include <nlohmann/json.hpp>

#include <complex>

namespace quarkstar::app {
namespace {

void write_attributes(Hdf5File& file, const RunReport& report) {
  for (const auto& [key, value] : parameters_of(report.config))
    file.attribute(std::string(key), value.is_string() ? value.get<std::string>() : value.dump());
  file.attribute("quarkstar", version_line());
  file.attribute("started", report.started);
}

/// numpy's layout of a complex number: {r, i}.
Hdf5Id complex_type(hid_t real) {
  const std::size_t size = H5Tget_size(real);
  Hdf5Id type(H5Tcreate(H5T_COMPOUND, 2 * size), H5Tclose);
  H5Tinsert(type, "r", 0, real);
  H5Tinsert(type, "i", size, real);
  return type;
}

}  // namespace

void write_correlators_hdf5(const std::string& path, const RunReport& report) {
  Hdf5File file(path);
  write_attributes(file, report);
  file.make_group("correlators");
  file.make_group("effective_masses");
  for (const CorrelatorReport& correlator : report.correlators) {
    file.write("correlators/" + correlator.name, correlator.values);
    const std::string masses = "effective_masses/" + correlator.name;
    file.make_group(masses);
    file.write(masses + "/log", correlator.log_mass);
    file.write(masses + "/cosh", correlator.cosh_mass);
  }
  file.commit();
}

namespace {

/// Fields of equal size as one dataset [leading...][t][z][y][x][site...]; slab i is fields[i].
void write_fields(Hdf5File& file, const Coord& extents, std::vector<hsize_t> leading, const std::vector<hsize_t>& site,
                  const std::vector<const void*>& fields) {
  for (std::size_t mu = 4; mu-- > 0;) leading.push_back(static_cast<hsize_t>(extents[mu]));
  leading.insert(leading.end(), site.begin(), site.end());
  const Hdf5Id stored = complex_type(H5T_IEEE_F64LE), native = complex_type(H5T_NATIVE_DOUBLE);
  const Hdf5Id dataset = file.make_dataset("propagator", stored, leading);
  for (std::size_t i = 0; i < fields.size(); ++i) file.write_slab(dataset, native, i, fields[i]);
}

}  // namespace

void write_propagator_hdf5(const std::string& path, const RunReport& report, const Propagator& propagator) {
  Hdf5File file(path);
  write_attributes(file, report);
  file.write("columns", report.config.columns);
  std::vector<const void*> fields;
  for (const HostSpinor& field : propagator.fields) fields.push_back(field.data.data());
  write_fields(file, report.gauge.extents, {fields.size()}, {4, 3}, fields);
  file.commit();
}

void write_propagator_hdf5(const std::string& path, const RunReport& report, const std::vector<StaggeredPropagator>& propagators) {
  Hdf5File file(path);
  write_attributes(file, report);
  file.write("columns", report.config.columns);
  std::vector<double> masses, epsilons;
  std::vector<std::complex<double>> together;  // a mass is one slab
  std::vector<std::size_t> begins;
  for (const StaggeredPropagator& propagator : propagators) {
    masses.push_back(propagator.mass);
    epsilons.push_back(propagator.naik_epsilon);
    begins.push_back(together.size());
    for (const HostColour& column : propagator.columns) together.insert(together.end(), column.data.begin(), column.data.end());
  }
  file.write("masses", masses);
  file.write("naik_epsilons", epsilons);
  std::vector<const void*> fields;
  for (const std::size_t begin : begins) fields.push_back(together.data() + begin);
  write_fields(file, report.gauge.extents, {propagators.size(), report.config.columns.size()}, {3}, fields);
  file.commit();
}

}  // namespace quarkstar::app
