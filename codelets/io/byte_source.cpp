#include "codelets/io/byte_source.hpp"

#include "runtime/system/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace quarkstar::format {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& what, const std::string& remedy) {
  throw Error(ErrorKind::input, name, what, remedy);
}

std::string message(int code) { return std::generic_category().message(code); }

class FileSource final : public ByteSource {
 public:
  FileSource(std::string name, std::uint64_t size, int descriptor) : ByteSource(std::move(name), size), descriptor_(descriptor) {}
  ~FileSource() override { ::close(descriptor_); }

 protected:
  void fetch(std::uint64_t offset, std::span<std::byte> out) const override {
    while (!out.empty()) {
      const ssize_t got = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        fail(at_offset(*this, offset), "reading failed: " + message(errno), "check the file system and try again");
      }
      if (got == 0) {
        fail(at_offset(*this, offset), "the file was cut short while it was being read", "keep the file unchanged and try again");
      }
      offset += static_cast<std::uint64_t>(got);
      out = out.subspan(static_cast<std::size_t>(got));
    }
  }

 private:
  int descriptor_;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, std::span<const std::byte> bytes) : ByteSource(std::move(name), bytes.size()), bytes_(bytes) {}

 protected:
  void fetch(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

void ByteSource::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset) {
    fail(at_offset(*this, offset), fmt::format("the file ends after {} bytes, but {} more are needed here (cut short)", size_, out.size()),
         "copy the file again");
  }
  fetch(offset, out);
}

std::vector<std::byte> ByteSource::read_up_to(std::uint64_t offset, std::size_t limit) const {
  const std::uint64_t rest = offset < size_ ? size_ - offset : 0;
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(rest, limit)));
  if (!bytes.empty()) read(offset, bytes);
  return bytes;
}

std::string ByteSource::read_text(std::uint64_t offset, std::size_t length) const {
  std::string text(length, '\0');
  read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

std::unique_ptr<ByteSource> open_file(const std::string& path) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int code = errno;
    fail(path, "cannot be opened: " + message(code), code == EACCES ? "make the file readable" : "check the name of the file");
  }
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const int code = errno;
    ::close(descriptor);
    fail(path, "cannot be examined: " + message(code), "check the file system");
  }
  const bool regular = S_ISREG(status.st_mode);
  if (!regular || status.st_size == 0) {
    ::close(descriptor);
    if (S_ISDIR(status.st_mode)) fail(path, "is a directory", "give the name of a file");
    if (!regular) fail(path, "is not a regular file", "copy the data into a file first");
    fail(path, "is empty (0 bytes)", "copy or write the file again");
  }
  return std::make_unique<FileSource>(path, static_cast<std::uint64_t>(status.st_size), descriptor);
}

std::unique_ptr<ByteSource> from_memory(std::string name, std::span<const std::byte> bytes) {
  return std::make_unique<MemorySource>(std::move(name), bytes);
}

std::string at_offset(const ByteSource& source, std::uint64_t offset) { return fmt::format("{}: offset {}", source.name(), offset); }

}  // namespace quarkstar::format
