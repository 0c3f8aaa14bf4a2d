#include "apps/write_hdf5.hpp"

#include "apps/hdf5_file.hpp"

#include <nlohmann/json.hpp>

#include <complex>

namespace quarkstar::app {
namespace {

void write_attributes(Hdf5File& file, const RunReport& report) {
  for (const Field& field : run_fields()) {
    const nlohmann::json value = field.get(report.config);
    file.attribute(std::string(field.key), value.is_string() ? value.get<std::string>() : value.dump());
  }
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

void write_propagator_hdf5(const std::string& path, const RunReport& report, const Propagator& propagator) {
  Hdf5File file(path);
  write_attributes(file, report);
  file.write("columns", report.config.columns);
  const Coord& l = report.gauge.extents;
  const auto extent = [&l](std::size_t mu) { return static_cast<hsize_t>(l[mu]); };
  const Hdf5Id stored = complex_type(H5T_IEEE_F64LE), native = complex_type(H5T_NATIVE_DOUBLE);
  {
    const Hdf5Id dataset = file.make_dataset(
        "propagator", stored, {propagator.fields.size(), extent(3), extent(2), extent(1), extent(0), 4, 3});
    for (std::size_t c = 0; c < propagator.fields.size(); ++c)
      file.write_slab(dataset, native, c, propagator.fields[c].data.data());
  }
  file.commit();
}

}  // namespace quarkstar::app
