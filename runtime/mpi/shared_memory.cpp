#include "runtime/mpi/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <random>
#include <set>
#include <string>

namespace quarkstar::runtime::mpi {
namespace {

/// What tells a piece from all others of its machine.
using Name = std::array<std::uint64_t, 2>;

std::string path_of(const Name& name) { return fmt::format("/quarkstar-{}-{:016x}", name[0], name[1]); }

/// nullptr: cannot be had. file: none, -1, for one process.
std::byte* map(int file, std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

std::byte* create(const std::string& path, std::size_t bytes) {
  const int file = shm_open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0) return nullptr;
  // A page that the file system has no room for would be a SIGBUS later.
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  std::byte* memory = error == 0 ? map(file, bytes) : nullptr;
  close(file);
  if (memory == nullptr) shm_unlink(path.c_str());
  return memory;
}

std::byte* attach(const std::string& path, std::size_t bytes) {
  const int file = shm_open(path.c_str(), O_RDWR, 0);
  if (file < 0) return nullptr;
  struct stat about {};
  const bool whole = fstat(file, &about) == 0 && about.st_size >= static_cast<off_t>(bytes);
  std::byte* memory = whole ? map(file, bytes) : nullptr;
  close(file);
  return memory;
}

}  // namespace

SharedMemory::SharedMemory(Job& job, const HostGroups& groups, const std::function<std::size_t(int)>& bytes)
    : ranks_(groups.ranks_of(groups.of_rank[static_cast<std::size_t>(job.rank())])) {
  member_ = static_cast<int>(std::find(ranks_.begin(), ranks_.end(), job.rank()) - ranks_.begin());
  bytes_ = bytes(members());
  const Name mine{static_cast<std::uint64_t>(getpid()), (std::uint64_t{std::random_device{}()} << 32) + std::random_device{}()};
  const std::string path = path_of(job.gather(mine)[static_cast<std::size_t>(ranks_.front())]);
  if (members() == 1) data_ = map(-1, bytes_);
  else if (member_ == 0) data_ = create(path, bytes_);
  job.barrier();
  if (member_ != 0) data_ = attach(path, bytes_);
  job.barrier();
  if (member_ == 0 && members() > 1) shm_unlink(path.c_str());
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

/// Every rank reads the words of all others of its host; leaves the memory zeroed. The ranks that did not find them.
std::vector<int> SharedMemory::ranks_without(Job& job) const {
  const auto word = [this](int member) { return std::atomic_ref<std::uint64_t>(reinterpret_cast<std::uint64_t*>(data_)[member]); };
  const auto known = [this](int member) { return 0x51000000u + static_cast<std::uint64_t>(ranks_[static_cast<std::size_t>(member)]); };
  bool good = data_ != nullptr && bytes_ >= static_cast<std::size_t>(members()) * sizeof(std::uint64_t);
  if (good) word(member_).store(known(member_));
  job.barrier();
  for (int m = 0; good && m < members(); ++m) good = word(m).load() == known(m);
  const std::vector<std::uint8_t> all_good = job.gather(static_cast<std::uint8_t>(good ? 1 : 0));  // all have read
  if (good) word(member_).store(0);
  job.barrier();
  std::vector<int> without;
  for (int rank = 0; rank < job.size(); ++rank)
    if (all_good[static_cast<std::size_t>(rank)] == 0) without.push_back(rank);
  return without;
}

std::unique_ptr<SharedMemory> SharedMemory::open(Job& job, const HostGroups& groups, const std::function<std::size_t(int)>& bytes,
                                                 std::string& obstacle) {
  std::unique_ptr<SharedMemory> memory(new SharedMemory(job, groups, bytes));
  const std::vector<int> without = memory->ranks_without(job);
  if (without.empty()) return memory;
  std::vector<std::string> names;  // one rank of each host
  std::set<int> hosts;
  for (const int rank : without)
    if (hosts.insert(groups.of_rank[static_cast<std::size_t>(rank)]).second) names.push_back(job.name_of(rank));
  constexpr std::size_t most = 4;
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  obstacle = fmt::format("{}{} no memory with other ranks of {}", fmt::join(names, ", "),
                         more > 0           ? fmt::format(" and {} more share", more)
                         : names.size() > 1 ? " share"
                                            : " shares",
                         hosts.size() > 1 ? "their hosts" : "its host");
  return nullptr;
}

}  // namespace quarkstar::runtime::mpi
