#include "runtime/mpi/host_groups.hpp"

#include "runtime/mpi/agreement.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace quarkstar::runtime::mpi {

std::vector<int> HostGroups::ranks_of(int group) const {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank)
    if (of_rank[rank] == group) ranks.push_back(static_cast<int>(rank));
  return ranks;
}

HostGroups host_groups(Job& job) {
  const char* name = std::getenv("QUARKSTAR_HOST");
  const std::string_view text = name != nullptr ? name : "";
  const std::vector<std::uint64_t> names = job.gather(text.empty() ? 0 : fingerprint(std::as_bytes(std::span(text))));
  HostGroups groups;
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> known;
  for (std::size_t rank = 0; rank < names.size(); ++rank)
    groups.of_rank.push_back(known.try_emplace({job.machines()[rank], names[rank]}, static_cast<int>(known.size())).first->second);
  groups.count = static_cast<int>(known.size());
  return groups;
}

int ranks_on_this_host(const Job& job) {
  const std::vector<std::uint64_t>& machines = job.machines();
  return static_cast<int>(std::count(machines.begin(), machines.end(), machines[static_cast<std::size_t>(job.rank())]));
}

}  // namespace quarkstar::runtime::mpi
