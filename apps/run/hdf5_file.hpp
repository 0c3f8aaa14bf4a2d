#pragma once
// The HDF5 C library's handles with an owner, errors as exceptions, and files that appear when complete.
#include "runtime/system/atomic_file.hpp"

#include <hdf5.h>

#include <complex>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::app {

/// An HDF5 identifier with the function that closes it.
class Hdf5Id {
 public:
  Hdf5Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Hdf5Id(const Hdf5Id&) = delete;
  Hdf5Id& operator=(const Hdf5Id&) = delete;
  ~Hdf5Id() { close(); }
  operator hid_t() const { return id_; }
  /// False if the library reports an error, as it does for a full disk.
  bool close() {
    const hid_t id = id_;
    id_ = -1;
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// numpy's layout of a complex number: {r, i}.
Hdf5Id complex_type(hid_t real);

/// What the library writes into an AtomicFile: it appears with commit(), otherwise it is removed. All members throw Error(environment)
/// naming the file when the library fails, and what AtomicFile throws.
class Hdf5File {
 public:
  explicit Hdf5File(const std::string& path);

  void make_group(const std::string& name);
  void write(const std::string& name, std::span<const double> values);
  void write(const std::string& name, std::span<const int> values);
  void write(const std::string& name, std::span<const std::complex<double>> values);  ///< numpy's complex128
  void attribute(const std::string& name, const std::string& value);

  /// Room for a data set of `shape`, numbers of `type` one after the other, last index fastest, reserved: the offset in the file where
  /// others write them, between close() and commit().
  std::uint64_t leave_room(const std::string& name, hid_t type, const std::vector<hsize_t>& shape);

  /// Where the bytes are until commit().
  const std::string& temporary() const { return output_.temporary(); }

  /// After the last of the library's bytes. It locks its file while that is open, and on network file systems others that write would wait.
  void close();

  /// Closes the file if it is open.
  void commit();

 private:
  Hdf5Id make_dataset(const std::string& name, hid_t type, const std::vector<hsize_t>& shape, hid_t properties = H5P_DEFAULT);
  hid_t checked(hid_t id, const char* step) const;
  AtomicFile output_;  ///< has made the file that the library opens
  Hdf5Id file_;
};

}  // namespace quarkstar::app
