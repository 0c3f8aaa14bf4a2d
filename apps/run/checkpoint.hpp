#pragma once
// Restart files of a solve: what a column has come to, so that a job that ended early goes on where it was.
#include "apps/run/part_files.hpp"
#include "apps/run/run_watch.hpp"
#include "codelets/field/source.hpp"
#include "runtime/cut/decomposition.hpp"
#include "solvers/solve_state.hpp"

#include <complex>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace quarkstar::app {

/// Which solution a restart file holds.
struct RestartKey {
  std::string name;     ///< of the file, without its ending
  std::string problem;  ///< everything that the solution depends on; a file of another problem is refused. Empty: that of any is loaded
};

/// One file a right-hand side in a folder, replaced as a whole (AtomicFile), so that whatever happens the last complete one stays. A file
/// holds a header of 4096 bytes (problem, iterations, checksums of the data in JSON, filled up with blanks; the last 8 are the crc32 of the
/// others in hexadecimal digits) and the solution on the whole lattice, lexicographic, so that any number of ranks can go on. Every rank
/// writes and reads its own part. A solve's state has its numbers in between, and several fields. Where all hosts have no folder in common
/// the same goes into part files. All calls are collective, when no task is running.
class Checkpoint {
 public:
  enum class Access { write, read, redundant };  ///< the last: write, as PartFiles
  /// What its errors call the setting that names the folder, and what to do about a file that is of no use.
  struct Words {
    std::string setting = "--checkpoint", remedy = "remove it to solve the column anew, or give another --checkpoint";
  };
  /// part: the box of this rank's part of every solution. One job at a time owns a folder in which it writes: temporary files that killed
  /// ones left there go. A folder that is only read stays as it is.
  Checkpoint(std::string folder, const Coord& lattice, const Box& part, Access access = Access::write)
      : Checkpoint(std::move(folder), lattice, part, access, Words()) {}
  Checkpoint(std::string folder, const Coord& lattice, const Box& part, Access access, Words words);

  /// Fills this rank's part of the solution and returns the iterations that it took; nothing where there is no file.
  /// Throws Error(input) naming the file when it is damaged, cut short, or of another problem, and Error(environment) where it cannot be
  /// read.
  std::optional<int> load(const RestartKey& key, std::span<std::complex<double>> solution) const;

  /// The problem of the file of that name, without its data; nothing where there is no file. Throws as load() does.
  std::optional<std::string> problem_of(const std::string& name, int components) const;

  /// Throws Error as SharedOutput does; the file that was there then stays. So it does, without an error, where the solution is not finite.
  void save(const RestartKey& key, std::span<const std::complex<double>> solution, int iterations) const;

  /// The same of a solve. Nothing, with a warning, where the file is of another problem: then solutions are all there is to go on from.
  std::optional<SolveState> load_state(const RestartKey& key, int components) const;
  void save_state(const RestartKey& key, const SolveState& state) const;
  void remove_state(const RestartKey& key) const;

 private:
  using Numbers = std::span<const std::complex<double>>;
  struct Loaded;
  std::string path_of(const std::string& name) const;
  std::optional<Loaded> read(const RestartKey& key, int components) const;
  void write(const RestartKey& key, std::span<const Numbers> fields, int iterations, std::span<const std::byte> numbers) const;

  std::string folder_;
  Coord lattice_;
  Box part_;
  Words words_;
  std::optional<PartFiles> parts_;
};

/// Whether a restart file should hold what a solve has ended with: an answer or a way to one, not what a breakdown or a NaN has left,
/// or a stagnation farther away than zero.
bool worth_saving(const SolveResult& result);

/// Whether a restart file is due while a solve runs: every so many iterations (0: never), and when one is asked for, be it before the solve
/// began. Collective.
std::function<bool(int iterations)> restart_file_due(int every, SaveRequests& requests);

/// The restart file of a right-hand side. equation: what identifies the operator, but for a mass that the results name.
RestartKey restart_key(const std::string& equation, const Source& source, int column, std::optional<double> mass);

}  // namespace quarkstar::app
