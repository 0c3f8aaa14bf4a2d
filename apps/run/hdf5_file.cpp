#include "apps/run/hdf5_file.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <functional>
#include <numeric>

namespace quarkstar::app {
namespace {

Hdf5Id open_empty(const std::string& file) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors reach the user as one line of ours
  return {H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose};
}

}  // namespace

Hdf5Id complex_type(hid_t real) {
  const std::size_t size = H5Tget_size(real);
  Hdf5Id type(H5Tcreate(H5T_COMPOUND, 2 * size), H5Tclose);
  H5Tinsert(type, "r", 0, real);
  H5Tinsert(type, "i", size, real);
  return type;
}

Hdf5File::Hdf5File(const std::string& path) : output_(path), file_(open_empty(output_.temporary())) { checked(file_, "create the file"); }

hid_t Hdf5File::checked(hid_t id, const char* step) const {
  if (id < 0)
    throw Error(ErrorKind::environment, output_.path(), fmt::format("HDF5 could not {}", step),
                "check the free space of the disk; where its file system knows no locks, set HDF5_USE_FILE_LOCKING=FALSE");
  return id;
}

void Hdf5File::make_group(const std::string& name) {
  const Hdf5Id group(checked(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "create a group"), H5Gclose);
}

void Hdf5File::write(const std::string& name, std::span<const double> values) {
  const Hdf5Id dataset = make_dataset(name, H5T_IEEE_F64LE, {values.size()});
  checked(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write numbers");
}

void Hdf5File::write(const std::string& name, std::span<const int> values) {
  const Hdf5Id dataset = make_dataset(name, H5T_STD_I32LE, {values.size()});
  checked(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write numbers");
}

void Hdf5File::write(const std::string& name, std::span<const std::complex<double>> values) {
  const Hdf5Id stored = complex_type(H5T_IEEE_F64LE), native = complex_type(H5T_NATIVE_DOUBLE);
  const Hdf5Id dataset = make_dataset(name, stored, {values.size()});
  checked(H5Dwrite(dataset, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write numbers");
}

void Hdf5File::attribute(const std::string& name, const std::string& value) {
  const Hdf5Id type(checked(H5Tcopy(H5T_C_S1), "copy a type"), H5Tclose);
  H5Tset_size(type, value.size() + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const Hdf5Id space(checked(H5Screate(H5S_SCALAR), "create a space"), H5Sclose);
  const Hdf5Id attribute(checked(H5Acreate2(file_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), "create an attribute"), H5Aclose);
  checked(H5Awrite(attribute, type, value.c_str()), "write an attribute");
}

Hdf5Id Hdf5File::make_dataset(const std::string& name, hid_t type, const std::vector<hsize_t>& shape, hid_t properties) {
  const Hdf5Id space(checked(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), "create a space"), H5Sclose);
  return {checked(H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT), "create a data set"), H5Dclose};
}

std::uint64_t Hdf5File::leave_room(const std::string& name, hid_t type, const std::vector<hsize_t>& shape) {
  const Hdf5Id properties(checked(H5Pcreate(H5P_DATASET_CREATE), "create properties"), H5Pclose);
  checked(H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY), "place a data set");
  checked(H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER), "place a data set");
  const Hdf5Id dataset = make_dataset(name, type, shape, properties);
  checked(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush the file");
  const haddr_t offset = H5Dget_offset(dataset);
  checked(offset == HADDR_UNDEF ? -1 : 0, "place a data set");
  output_.reserve(offset, std::accumulate(shape.begin(), shape.end(), hsize_t{H5Tget_size(type)}, std::multiplies<>()));
  return offset;
}

void Hdf5File::close() {
  if (file_ < 0) return;
  checked(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush the file");
  checked(file_.close() ? 0 : -1, "close the file");
}

void Hdf5File::commit() {
  close();
  output_.commit();
}

}  // namespace quarkstar::app
