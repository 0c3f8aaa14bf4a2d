#pragma once
// Restart files of a solve: what a column has come to, so that a job that ended early goes on where it was.
#include "apps/config.hpp"
#include "codelets/lattice/host_spinor.hpp"

#include <optional>
#include <string>

namespace quarkstar::app {

/// One file a column in a folder, replaced as a whole (AtomicFile), so that whatever happens the last complete one stays. A file holds a
/// header of 4096 bytes in JSON (problem, iterations, checksums) and the solution on the whole lattice, lexicographic, so that any
/// number of ranks can go on. Every rank writes and reads its own part. All calls are collective, when no task is running.
class Checkpoint {
 public:
  /// problem: everything that the solution depends on; a file of another problem is refused.
  Checkpoint(std::string folder, std::string problem, const Coord& lattice, const Box& part);

  /// Fills this rank's part of the column and returns the iterations that it took; nothing where there is no file.
  /// Throws Error(input) naming the file when it is damaged, cut short, or of another problem.
  std::optional<int> load(int column, HostSpinor& solution) const;

  /// Throws Error as AtomicFile does; the file that was there then stays.
  void save(int column, const HostSpinor& solution, int iterations) const;

  const std::string& folder() const { return folder_; }

 private:
  std::string path_of(int column) const;

  std::string folder_, problem_;
  Coord lattice_;
  Box part_;
};

/// Equation and source of a run as text: links (by their means), kappa, normalisation, boundary, source.
std::string describe_problem(const RunConfig& config, double plaquette, double link_trace);

}  // namespace quarkstar::app
