#pragma once
// Files of eigenvectors: results, and what a solve for them has come to.
#include "apps/run/config.hpp"
#include "codelets/field/host_field.hpp"
#include "runtime/cut/decomposition.hpp"
#include "solvers/eigen/eigen_projector.hpp"
#include "solvers/eigen/lanczos.hpp"
#include "solvers/settings.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quarkstar::app {

// What goes with the operator is kept with the action's settings (RunConfig::settings), under keys that no action has.

/// The file of a deflated solve; empty: none.
std::string deflation_file(const RunConfig& config);
void set_deflation_file(RunConfig& config, std::string_view file);
/// Vectors of one parity in double precision, or as many bytes, that are there beside a solve's: a projector's, or a basis.
int basis_vectors(const RunConfig& config);
/// Modes of a solve's projector.
int modes_to_project(const RunConfig& config);
/// Those of them that a GPU holds: all, or fewer where they are in host memory.
int basis_vectors_on_device(const RunConfig& config);
/// Where vectors of GPUs' blocks are: on the GPUs, or in host memory, from where they are copied for each use. Means nothing for CPUs.
enum class BasisMemory { device, host };
/// Whether count_basis() has counted one, of a solve for eigenvectors; others have a projector.
bool makes_basis(const RunConfig& config);
/// Whose eigenvectors: A, hermitian and positive, of the even-odd system (-D_eo D_oe of staggered actions, else Mh^+ Mh), or gamma_5 M on
/// all sites, hermitian and indefinite.
enum class ModesOf { even_odd, gamma5 };
/// Which: those with the lowest, or the highest |lambda|.
enum class SpectrumEnd { lowest, highest };
struct EigenTarget {
  ModesOf of = ModesOf::even_odd;
  SpectrumEnd end = SpectrumEnd::lowest;
  /// 1, or 2 of fields on all sites.
  int parities() const { return of == ModesOf::gamma5 ? 2 : 1; }
};
inline constexpr EigenTarget eigen_targets[] = {{ModesOf::even_odd, SpectrumEnd::lowest},
                                                {ModesOf::even_odd, SpectrumEnd::highest},
                                                {ModesOf::gamma5, SpectrumEnd::lowest},
                                                {ModesOf::gamma5, SpectrumEnd::highest}};
/// "even-odd" or "gamma5"; "lowest" or "highest". Throw BadValue.
ModesOf parse_modes_of(std::string_view name);
SpectrumEnd parse_spectrum_end(std::string_view name);
const char* name_of(ModesOf of);
const char* name_of(SpectrumEnd end);
/// Throws Error(input) for an action whose gamma_5 M is not hermitian, or has a fifth dimension, where that is wanted.
void require_target(const ActionKind& kind, const SettingValues& settings, EigenTarget target);
/// Complex numbers of a vector.
double dimension_of(const ActionKind& kind, const SettingValues& settings, const Coord& lattice, EigenTarget target);
/// What a solve for eigenvectors holds, and where.
void count_basis(RunConfig& config, const EigenSettings& settings, EigenTarget target = {});
/// "device" or "host". Throws BadValue.
BasisMemory parse_basis_memory(std::string_view name);
const char* name_of(BasisMemory memory);
/// Vectors of four dimensions on all sites of this rank's part that are in host memory while files of eigenvectors, or multigrid's null
/// vectors, are read or written, or begin as noise.
int host_vectors(const RunConfig& config);
void set_host_vectors(RunConfig& config, int vectors);
/// Of write_eigen_file() with blocks of so many. scidac: is_scidac_name() of the file.
int host_vectors_of_writing(bool scidac, int block, int parities);

/// What identifies eigenvectors: their operator, which is the even-odd system's where that is hermitian, without mass; Mh^+ Mh with its
/// mass and Schur complement; or gamma_5 M with its mass; and the end of its spectrum. made: with its equation.
struct EigenProblem {
  std::string text;
  double mass;  ///< of the operator
};
EigenProblem eigen_problem(const ActionKind& kind, const RunOperator& made, double mass, Schur schur, EigenTarget target = {});

/// What is in a file besides the vectors.
struct EigenHeader {
  std::string problem;
  Coord lattice{};
  int components = 0, parity = 0;         ///< both_parities: vectors on all sites
  std::vector<double> values, residuals;  ///< none while a solve is under way; residuals: of the vectors as they are stored
  std::vector<double> state;              ///< where such a solve is
  Precision stored = Precision::double_;  ///< of the vectors
  int slices = 1;                         ///< of a fifth dimension
};

/// Where the modes of a deflated solve are; usually on the device.
ModesMemory modes_memory(const RunConfig& config);
void set_modes_memory(RunConfig& config, ModesMemory where);
/// Counts the projector of such a file, in the precision in which it has them, and the host fields with which it is filled.
void count_projector(RunConfig& config, const EigenHeader& header);

// HDF5, or SciDAC's format where the name says so. HDF5: data sets `vectors` [number][t][z][y][x/2][component] of complex numbers in double
// or single precision, or [number][t][z][y][x/2] of a site's `unit` and 16-bit `numbers`, the sites of one parity in lexicographic order
// (of both: [x]); with a fifth dimension a site has [slice] of these, and `slices` says how many; `eigenvalues`, `residuals`, `state`, and
// `checksums`, two crc32 a vector (docs/howto/eigen.md). The vectors come last. All calls are collective, for times when no task is
// running.

/// A vector's sites of its parity, or of both, as the file has them, on a part of the lattice: at each the components of all slices.
using StoredVector = std::vector<std::byte>;
/// stored <- vector v of n, slice s of which is fields[s n + v], rounded to nearest where that is narrower, in half precision as
/// transfer::load() rounds; and back, where the other parity stays as it is. What came back gives the same bytes again.
StoredVector compact(std::span<const HostField> fields, int v, int n, int parity, Precision stored);
void expand(std::span<HostField> fields, int v, int n, std::span<const std::byte> vector, int parity, Precision stored);
/// Of one vector of four dimensions.
inline StoredVector compact(const HostField& field, int parity, Precision stored) { return compact({&field, 1}, 0, 1, parity, stored); }
inline void expand(HostField& field, std::span<const std::byte> vector, int parity, Precision stored) {
  expand({&field, 1}, 0, 1, vector, parity, stored);
}
/// Of host_vectors(), what so many of them take.
int host_vectors_of(int modes, int components, int parities, Precision stored);

/// This rank's part of vectors first, ..., first + count - 1.
using EigenVectorsOf = std::function<std::vector<StoredVector>(int first, int count)>;
/// Whether a file of this name is to be SciDAC's, by its ending .lime or .scidac, and not HDF5 (apps/run/eigen_scidac.hpp).
bool is_scidac_name(const std::string& path);
/// Throws Error(input) naming the file for vectors in half precision, or with slices of a fifth dimension, in SciDAC files, which have
/// none.
void check_storable(const std::string& path, Precision stored, int slices);
/// Of all that is not vectors, as bits: a crc32 of the header and the checksums of vectors.
std::string header_checksum(const EigenHeader& header, std::span<const std::uint32_t> checksums);
/// Replaces the file when all is written. block: vectors that are asked for together. Throws Error(environment) naming it.
void write_eigen_file(const std::string& path, const EigenHeader& header, int vectors, int block, const Box& part,
                      const EigenVectorsOf& of);

class ScidacModes;

/// A file that is read, of either format. Throws Error(input) naming it where it is damaged, cut short, or belongs to another problem.
class EigenFile {
 public:
  /// remedy: what an error advises.
  EigenFile(std::string path, std::string remedy);
  const EigenHeader& header() const { return header_; }
  int vectors() const { return static_cast<int>(checksums_.size() / 2); }
  void require_problem(const std::string& problem, const Coord& lattice) const;
  /// Throws Error(input) for the file of a solve that has not ended.
  void require_modes() const;
  /// All vectors in order, `block` together, the last time what is left, with slices as Field::site_vectors() has them.
  void read(const Box& part, int block, const std::function<void(std::span<const HostField>)>& take) const;

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  std::string path_, remedy_;
  EigenHeader header_;
  std::vector<std::uint32_t> checksums_;
  std::uint64_t offset_ = 0;
  std::shared_ptr<const ScidacModes> scidac_{};  ///< nullptr: it is HDF5
};

/// The projector that the file of a deflated solve has, on a lattice. Collective.
std::shared_ptr<const EigenProjector> load_projector(const std::string& path, const std::string& problem, const LatticePointer& lattice,
                                                     ModesMemory where);
/// What the file of a deflated solve has besides vectors. Collective.
EigenHeader header_in(const std::string& path);

}  // namespace quarkstar::app
