#pragma once
// Restart files without a disk that all hosts share: each rank keeps its part on its own host, and a copy on the next host.
#include "runtime/cut/coord.hpp"
#include "runtime/mpi/job.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarkstar::app {

/// What a set of part files holds. Header and numbers are the same on all ranks.
struct PartSet {
  std::string header;  ///< a text of the caller's
  std::vector<std::byte> numbers;
  std::vector<std::vector<std::byte>> fields;  ///< this rank's part of each, site by site, lexicographic
};

/// Sets of part files below a folder that each host may have for itself, FOLDER/HOST/NAME.SET.RANK-of-RANKS, with .copy at the end where a
/// rank of another host keeps it. A set is written beside the one before, which goes when all ranks have written theirs: so the newest
/// whole set is one moment's, and the loss of any one host leaves it whole. Any number of ranks, on any hosts that have the parts between
/// them, reads it. All calls are collective, when no task is running; all ranks throw the same Error.
class PartFiles {
 public:
  /// part: of this rank.
  PartFiles(std::string folder, const Coord& lattice, const Box& part);

  /// Throws what AtomicFile throws: the set before stays then.
  void save(const std::string& name, const std::string& header, std::span<const std::byte> numbers,
            std::span<const std::span<const std::byte>> fields) const;

  /// The newest whole set; nothing where there are no files of that name. A file that is damaged is told in a warning, and its copy is
  /// taken. Throws Error(input) where files are there and no set is whole.
  std::optional<PartSet> load(const std::string& name) const;

  /// Removes all sets of that name.
  void remove(const std::string& name) const;

 private:
  struct Found;
  struct Part;
  struct ChosenPart;
  using Chosen = std::vector<ChosenPart>;  ///< by part
  /// By number of the set and of ranks, then by part.
  using Sets = std::map<std::pair<std::uint64_t, int>, std::vector<std::vector<Found>>, std::greater<>>;

  static Part read_part(const std::string& path);
  Sets sets(const std::string& name) const;
  std::optional<Chosen> choose(const std::string& name, const std::vector<std::vector<Found>>& files) const;
  PartSet common_to_all(const Chosen& chosen) const;
  std::size_t tell_places(Chosen& chosen) const;
  void spread(ChosenPart& part, std::size_t bytes_a_site, PartSet& to) const;
  std::string path(const std::string& name, std::uint64_t set, int rank, int ranks, bool copy) const;
  std::vector<Found> list(const std::string& name) const;
  void remove_before(const std::string& name, std::uint64_t set) const;

  runtime::mpi::Job& job_;
  std::string folder_;  ///< of this host
  Coord lattice_;
  std::vector<Box> parts_;  ///< by rank
  bool first_of_host_ = true;
  int partner_ = 0;             ///< who keeps a copy of this rank's part
  std::vector<int> copies_of_;  ///< ranks whose parts this one keeps a copy of
};

/// Who keeps a copy of each rank's part: on the next host the rank of the same number there, or as many hosts as there are later; where all
/// are on one host, the next rank. host: of each rank; hosts are numbered from 0.
std::vector<int> partners(std::span<const int> host);

}  // namespace quarkstar::app
