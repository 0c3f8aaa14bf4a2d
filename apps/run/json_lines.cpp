#include "apps/run/json_lines.hpp"

#include "runtime/system/atomic_file.hpp"
#include "runtime/system/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

namespace quarkstar::app {
namespace {

/// Makes the open file this process's own, where the file system knows locks.
void take_lock(int file, const std::string& path, const std::string& kind) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return;
  switch (errno) {
    case EWOULDBLOCK:
      throw Error(ErrorKind::environment, path, fmt::format("another {} is writing this file", kind), "wait for it, or give another --out");
    case ENOSYS:
    case EOPNOTSUPP:
    case ENOLCK:
      return spdlog::warn("{}: this file system has no locks: start no second {} that writes it", path, kind);
    default:
      throw_write_error(path, "locking", errno);
  }
}

}  // namespace

std::size_t JsonLines::read(const std::string& path, const std::string& kind, const Take& take) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::size_t complete = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  int number = 0;
  for (std::size_t begin = 0; begin < complete;) {
    const std::size_t end = text.find('\n', begin);
    ++number;
    try {
      take(Json::parse(text.substr(begin, end - begin)));
    } catch (const Json::exception&) {
      throw Error(ErrorKind::input, fmt::format("{}:{}", path, number), fmt::format("this is no line of a {}'s journal", kind),
                  "remove the line, or give another --out");
    }
    begin = end + 1;
  }
  return complete;
}

JsonLines::JsonLines(std::string path, const std::string& kind, const Take& take)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) {
  if (file_ < 0) throw_write_error(path_, "opening", errno);
  try {
    take_lock(file_, path_, kind);
    flush_name(path_);  // which may be new
    const std::size_t complete = read(path_, kind, take);
    if (::ftruncate(file_, static_cast<off_t>(complete)) != 0 || ::lseek(file_, 0, SEEK_END) < 0)
      throw_write_error(path_, "writing", errno);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

JsonLines::~JsonLines() { ::close(file_); }

void JsonLines::append(const Json& line) {
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const off_t begin = ::lseek(file_, 0, SEEK_CUR);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file_, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) {
      const int code = errno;
      // Another line may come, once there is room again: not behind half of this one.
      if (begin >= 0 && ::ftruncate(file_, begin) == 0) ::lseek(file_, begin, SEEK_SET);
      throw_write_error(path_, "writing", code);
    }
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  // EINVAL: the file system cannot flush.
  if (::fdatasync(file_) != 0 && errno != EINVAL) throw_write_error(path_, "flushing to disk", errno);
}

}  // namespace quarkstar::app
