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

/// Whether the library may be called by several threads at a time.
bool hdf5_is_thread_safe();

/// For a program that closes its files, before anything else of the library: HDF5 then closes nothing at exit. HDF5 1.10 would close a file
/// that it could not close before, as on a full disk, a second time, from freed memory: a segmentation fault.
void leave_hdf5_open_at_exit();

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
  void write(const std::string& name, std::span<const std::string> texts);            ///< of one length, filled with zeros: numpy's S
  /// object: what it belongs to; the root.
  void attribute(const std::string& name, const std::string& value, const std::string& object = "/");

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
  Hdf5Id make_dataset(const std::string& name, hid_t type, const std::vector<hsize_t>& shape);
  Hdf5Id make_dataset(const std::string& name, hid_t type, const std::vector<hsize_t>& shape, hid_t properties);
  hid_t checked(hid_t id, const char* step) const;
  AtomicFile output_;  ///< has made the file that the library opens
  Hdf5Id file_;
};

/// A file that is read. All members throw Error(input) naming the file where it is no HDF5 file, is damaged, or lacks what is asked for.
class Hdf5Input {
 public:
  /// remedy: what an error advises.
  Hdf5Input(std::string path, std::string remedy);

  /// Names of the groups and data sets in a group, in alphabetical order.
  std::vector<std::string> names(const std::string& group) const;
  std::vector<double> doubles(const std::string& name) const;
  std::vector<int> integers(const std::string& name) const;
  bool is_complex(const std::string& name) const;
  std::vector<std::complex<double>> complexes(const std::string& name) const;
  std::string attribute(const std::string& name, const std::string& object = "/") const;
  /// Where the numbers of a data set without chunks lie in the file, and its shape.
  struct Place {
    std::uint64_t offset;
    std::vector<hsize_t> shape;
    std::size_t number_bytes;  ///< of an element
  };
  Place place_of(const std::string& name) const;

 private:
  Hdf5Id opened(const std::string& name) const;
  template <class Number>
  std::vector<Number> read(const std::string& name, hid_t type) const;
  hid_t checked(hid_t id, const std::string& what) const;
  std::string path_, remedy_;
  Hdf5Id file_;
};

}  // namespace quarkstar::app
