#include "runtime/mpi/host_sums.hpp"

#include <algorithm>

namespace quarkstar::runtime::mpi {

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

std::size_t HostSums::bytes(int members) {
  return static_cast<std::size_t>(members) * (sizeof(Counter) + static_cast<std::size_t>(depth) * sizeof(Place));
}

bool HostSums::has_room(std::int64_t n) const {
  if (n < depth) return true;
  const auto needed = static_cast<Word>(n - depth + 1);
  if (room_ >= needed) return true;
  room_ = load(counter(0).left);
  for (int m = 1; m < members_; ++m) room_ = std::min(room_, load(counter(m).left));
  return room_ >= needed;
}

void HostSums::contribute(std::int64_t n, const BinnedSum* sums, int count) {
  Place& mine = place(n, member_);
  std::copy_n(sums, count, mine.sums);
  store(mine.contributed, n + 1);
}

bool HostSums::has_all(std::int64_t n) const {
  for (int m = 0; m < members_; ++m)
    if (load(place(n, m).contributed) != static_cast<Word>(n + 1)) return false;
  return true;
}

void HostSums::merge(std::int64_t n, BinnedSum* total, int count) const {
  std::fill_n(total, count, BinnedSum::zero());
  for (int m = 0; m < members_; ++m)
    for (int i = 0; i < count; ++i) total[i].merge(place(n, m).sums[i]);
}

void HostSums::publish(std::int64_t n, const BinnedSum* total, int count) {
  Place& mine = place(n, member_);
  std::copy_n(total, count, mine.sums);
  store(mine.published, n + 1);
}

bool HostSums::is_published(std::int64_t n) const { return load(place(n, 0).published) == static_cast<Word>(n + 1); }

void HostSums::read(std::int64_t n, BinnedSum* total, int count) const { std::copy_n(place(n, 0).sums, count, total); }

void HostSums::leave(std::int64_t n) { store(counter(member_).left, n + 1); }

}  // namespace quarkstar::runtime::mpi
