#include "apps/run/hdf5_file.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace quarkstar::app {
namespace {

Hdf5Id open_empty(const std::string& file) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors reach the user as one line of ours
  return {H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose};
}

/// Without a lock: our files appear whole, by a change of name, and another program may hold one open.
Hdf5Id open_existing(const std::string& file) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access, false, true);
#endif
  return {H5Fopen(file.c_str(), H5F_ACC_RDONLY, access), H5Fclose};
}

}  // namespace

bool hdf5_is_thread_safe() {
  hbool_t safe = false;
  return H5is_library_threadsafe(&safe) >= 0 && safe;
}

void leave_hdf5_open_at_exit() { H5dont_atexit(); }

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

void Hdf5File::write(const std::string& name, std::span<const std::string> texts) {
  std::size_t length = 1;
  for (const std::string& text : texts) length = std::max(length, text.size());
  std::string filled;
  for (const std::string& text : texts) filled += text + std::string(length - text.size(), '\0');
  const Hdf5Id type(checked(H5Tcopy(H5T_C_S1), "copy a type"), H5Tclose);
  H5Tset_size(type, length);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  const Hdf5Id dataset = make_dataset(name, type, {texts.size()});
  checked(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, filled.data()), "write texts");
}

void Hdf5File::attribute(const std::string& name, const std::string& value, const std::string& object) {
  const Hdf5Id type(checked(H5Tcopy(H5T_C_S1), "copy a type"), H5Tclose);
  H5Tset_size(type, value.size() + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const Hdf5Id space(checked(H5Screate(H5S_SCALAR), "create a space"), H5Sclose);
  const hid_t made = H5Acreate_by_name(file_, object.c_str(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const Hdf5Id attribute(checked(made, "create an attribute"), H5Aclose);
  checked(H5Awrite(attribute, type, value.c_str()), "write an attribute");
}

Hdf5Id Hdf5File::make_dataset(const std::string& name, hid_t type, const std::vector<hsize_t>& shape) {
  const Hdf5Id properties(checked(H5Pcreate(H5P_DATASET_CREATE), "create properties"), H5Pclose);
  return make_dataset(name, type, shape, properties);
}

Hdf5Id Hdf5File::make_dataset(const std::string& name, hid_t type, const std::vector<hsize_t>& shape, hid_t properties) {
  // The same results make the same file, whenever it is written.
  checked(H5Pset_obj_track_times(properties, false), "place a data set");
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

Hdf5Input::Hdf5Input(std::string path, std::string remedy)
    : path_(std::move(path)), remedy_(std::move(remedy)), file_(open_existing(path_)) {
  checked(file_, "it is no HDF5 file, or a damaged one");
}

hid_t Hdf5Input::checked(hid_t id, const std::string& what) const {
  if (id < 0) throw Error(ErrorKind::input, path_, what, remedy_);
  return id;
}

std::vector<std::string> Hdf5Input::names(const std::string& group) const {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  hsize_t position = 0;
  checked(H5Literate_by_name(file_, group.c_str(), H5_INDEX_NAME, H5_ITER_INC, &position, add, &names, H5P_DEFAULT),
          fmt::format("it has no group {}", group));
  return names;
}

Hdf5Id Hdf5Input::opened(const std::string& name) const {
  return {checked(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), fmt::format("it has no data set {}", name)), H5Dclose};
}

template <class Number>
std::vector<Number> Hdf5Input::read(const std::string& name, hid_t type) const {
  const Hdf5Id dataset = opened(name), space(H5Dget_space(dataset), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  checked(count < 0 ? -1 : 0, fmt::format("the data set {} is damaged", name));
  std::vector<Number> values(static_cast<std::size_t>(count));
  checked(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), fmt::format("the data set {} cannot be read", name));
  return values;
}

std::vector<double> Hdf5Input::doubles(const std::string& name) const { return read<double>(name, H5T_NATIVE_DOUBLE); }
std::vector<int> Hdf5Input::integers(const std::string& name) const { return read<int>(name, H5T_NATIVE_INT); }
std::vector<std::complex<double>> Hdf5Input::complexes(const std::string& name) const {
  return read<std::complex<double>>(name, complex_type(H5T_NATIVE_DOUBLE));
}

Hdf5Input::Place Hdf5Input::place_of(const std::string& name) const {
  const Hdf5Id dataset = opened(name), space(H5Dget_space(dataset), H5Sclose), type(H5Dget_type(dataset), H5Tclose);
  const haddr_t offset = H5Dget_offset(dataset);
  const int rank = H5Sget_simple_extent_ndims(space);
  checked(offset == HADDR_UNDEF || rank < 0 ? -1 : 0, fmt::format("the data set {} is damaged", name));
  std::vector<hsize_t> shape(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  return {offset, shape, H5Tget_size(type)};
}

bool Hdf5Input::is_complex(const std::string& name) const {
  const Hdf5Id dataset = opened(name), type(H5Dget_type(dataset), H5Tclose);
  return H5Tget_class(type) == H5T_COMPOUND;
}

std::string Hdf5Input::attribute(const std::string& name, const std::string& object) const {
  const Hdf5Id attribute(checked(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                                 fmt::format("{} has no attribute {}", object, name)),
                         H5Aclose);
  const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
  std::string text(H5Tget_size(type), '\0');
  checked(H5Aread(attribute, type, text.data()), fmt::format("the attribute {} cannot be read", name));
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  return text;
}

}  // namespace quarkstar::app
