#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

namespace quarkstar::runtime {

/// An exclusive lock on a file for as long as it lives; without one where the file system has none, and where another process keeps it for
/// seconds, as one that was stopped does, for then renaming must do.
class FileLock {
 public:
  explicit FileLock(const std::string& path) : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    constexpr int most_tries = 200;
    constexpr auto between = std::chrono::milliseconds(10);
    for (int tries = 0; descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && tries < most_tries; ++tries) {
      if (errno == EWOULDBLOCK) std::this_thread::sleep_for(between);
      else if (errno != EINTR) break;
    }
  }
  ~FileLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace quarkstar::runtime
