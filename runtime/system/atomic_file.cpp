#include "runtime/system/atomic_file.hpp"

#include "runtime/system/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace quarkstar {
namespace {

namespace fs = std::filesystem;

/// The file that a rename must replace: the end of a chain of symbolic links, else the path itself.
std::string resolve_target(const std::string& path) {
  std::error_code code;
  if (!fs::is_symlink(fs::symlink_status(path, code))) return path;
  const fs::path resolved = fs::weakly_canonical(path, code);
  if (code) throw_write_error(path, "following the symbolic link", code.value());
  return resolved.string();
}

void reject_special_target(const std::string& path, const std::string& target) {
  struct stat status {};
  if (::stat(target.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    throw_write_error(path, "looking up the output file", errno);
  }
  if (S_ISDIR(status.st_mode)) throw_write_error(path, "writing", EISDIR);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::input, path, "is not a regular file and cannot be replaced", "give the name of a file");
  }
}

void write_all(int descriptor, const std::string& path, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      throw_write_error(path, "writing", errno);
    }
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

fs::path directory_of(const std::string& file) {
  const fs::path parent = fs::path(file).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

/// Names of temporary files: hidden, and different for every writer of a host; on other hosts the exclusive creation tells.
std::string temporary_name(const std::string& base, int attempt) {
  return "." + base + "." + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp";
}

/// The base that such a name was made of; nothing for other files.
std::string_view base_of_temporary(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(".tmp")) return {};
  name = name.substr(1, name.size() - std::string_view("..tmp").size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.find_first_not_of("0123456789-", dot + 1) != std::string_view::npos) return {};
  return name.substr(0, dot);
}

}  // namespace

void flush_name(const std::string& file) {
  const int descriptor = ::open(directory_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

void remove_leftovers(const std::string& directory, const std::function<bool(std::string_view name)>& meant) {
  std::error_code code;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator entry(directory, code), end; !code && entry != end; entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    if (const std::string_view base = base_of_temporary(name); !base.empty() && meant(base)) leftovers.push_back(entry->path());
  }
  for (const fs::path& file : leftovers) fs::remove(file, code);
}

void throw_write_error(const std::string& path, const std::string& action, int code) {
  const std::string what = action + " failed: " + std::generic_category().message(code);
  switch (code) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
      throw Error(ErrorKind::input, path, what, "give a name in an existing directory");
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      throw Error(ErrorKind::environment, path, what, "free space or write to another file system");
    case EACCES:
    case EPERM:
    case EROFS:
      throw Error(ErrorKind::environment, path, what, "write to a directory where you may create files");
    default:
      throw Error(ErrorKind::environment, path, what, "check the file system and try again");
  }
}

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    throw Error(ErrorKind::input, "output file", "the name is empty or contains a NUL", "give the name of a file");
  }
  target_ = resolve_target(path);
  reject_special_target(path_, target_);
  // The base name is cut so that the suffix fits into the 255 bytes that file systems allow.
  const std::string base = fs::path(target_).filename().string().substr(0, 200);
  if (base.empty()) throw_write_error(path_, "writing", EISDIR);
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = (directory_of(target_) / temporary_name(base, attempt)).string();
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) throw_write_error(path_, "creating a temporary file beside it", errno);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::append(std::span<const std::byte> bytes) {
  write_at(end_, bytes);
  end_ += bytes.size();
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (descriptor_ < 0) {
    throw Error(ErrorKind::internal, path_, "write after commit", "this is a defect: please report it");
  }
  write_all(descriptor_, path_, offset, bytes);
}

std::uint64_t AtomicFile::leave_room(std::uint64_t bytes) {
  reserve(end_, bytes);
  end_ += bytes;
  return end_ - bytes;
}

void AtomicFile::reserve(std::uint64_t offset, std::uint64_t bytes) {
  int code = 0;
  do code = ::fallocate(descriptor_, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  while (code == EINTR);
  // Whatever else a file system says: it cannot do this, and writing will tell.
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) throw_write_error(path_, "reserving space", code);
}

void AtomicFile::commit() {
  if (descriptor_ < 0) {
    throw Error(ErrorKind::internal, path_, "committed twice", "this is a defect: please report it");
  }
  // EINVAL: the file system has no fsync (some network and memory file systems); the data are as safe as they get
  // there.
  if (::fsync(descriptor_) != 0 && errno != EINVAL) throw_write_error(path_, "flushing to disk", errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw_write_error(path_, "renaming the temporary file", errno);
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0 && errno != EINTR) throw_write_error(path_, "closing", errno);
  flush_name(target_);
}

}  // namespace quarkstar
