#pragma once
// Numbers of messages: no two users at a time have the same.
#include "runtime/system/error.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace quarkstar::runtime::mpi {

/// Ranges of the numbers 0 .. highest. Numbers that come back are given away again only when all above them have had their turn, so that a
/// late message of their old user meets no new one. Ranks that reserve and release in the same order get the same numbers.
class Tags {
 public:
  explicit Tags(int highest) : end_(static_cast<std::int64_t>(highest) + 1) {}

  /// The first of `count` > 0 numbers. Throws Error(environment) when there are not so many in a row.
  int reserve(int count) {
    std::int64_t first = place_from(next_, count);
    if (first + count > end_) first = place_from(0, count);
    if (first + count > end_)
      throw Error(ErrorKind::environment, "MPI", "its " + std::to_string(end_) + " tags do not suffice for the faces of so many blocks",
                  "use fewer blocks, or fewer solves in flight");
    next_ = first + count;
    used_[first] = next_;
    return static_cast<int>(first);
  }
  void release(int first) { used_.erase(first); }

 private:
  /// The first free place at or above `first`; may lie beyond the end.
  std::int64_t place_from(std::int64_t first, int count) const {
    for (const auto& [begin, end] : used_)
      if (begin < first + count && end > first) first = end;
    return first;
  }

  std::int64_t end_, next_ = 0;
  std::map<std::int64_t, std::int64_t> used_;  ///< begin and end of each range
};

}  // namespace quarkstar::runtime::mpi
