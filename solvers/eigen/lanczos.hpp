#pragma once
// Eigenvalues and eigenvectors at an end of a hermitian operator's spectrum, or next to zero: thick-restart block Lanczos on a Chebyshev
// polynomial of it.
#include "solvers/eigen/basis.hpp"
#include "solvers/eigen/chebyshev.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace quarkstar {

struct EigenSettings {
  int modes = 0;             ///< N, the lowest ones
  double tolerance = 1e-10;  ///< |A v - lambda v| of each with |v| = 1, in double precision
  int block = 4;             ///< vectors that A is applied to together; bits depend on it
  int basis = 0;             ///< vectors of the largest basis; 0: basis_for()
  int degree = 0;            ///< of the filter; 0: filter_degree()
  SpectralWindow window{};   ///< of the filter; numbers that are 0: estimated by a few steps without filter
  int most_restarts = 200;
  Precision basis_precision = Precision::double_;  ///< double or single: in which the basis is held. All arithmetic is in double
  bool basis_in_host_memory = false;               ///< as GPUs have no room for it: rotations read it less often. No bit depends on it
};

/// The basis of so many modes in blocks where none is given: half as many vectors again, at least eight blocks more.
int basis_for(const EigenSettings& settings);
/// Fields of one vector and parity, of so many components, that a solve holds at its peak, or as many bytes, in fields of double precision:
/// the basis twice while it is rotated, or what it keeps and the modes that are refined; and the work of filter and blocks.
int fields_for(const EigenSettings& settings, int components, int slices = 1);
/// Those of them that a device must hold where the basis is in host memory.
int fields_on_device(const EigenSettings& settings, int components, int slices = 1);
/// Throws Error(input) naming the parameter for a block that there is no room for. slices: of a fifth dimension.
void check_block(int block, int slices);
/// The same for all settings, which may make no sense on `dimension` components.
void check_eigen(const EigenSettings& settings, double dimension, int slices = 1);

/// |A v - lambda v| / |v| of each vector. image: A v, of which the difference is left. Waits.
std::vector<double> residuals_of(const Field& image, const Field& v, const PerVector& lambda);

/// Where a solve is between two restarts, besides the vectors.
struct LanczosState {
  SpectralWindow window{};
  int degree = 0, restarts = 0, locked = 0;
  std::int64_t applications = 0;  ///< of A, each to a block of vectors
  std::uint64_t drawn = 0;        ///< blocks of noise so far
  double caution = 1;             ///< the estimates' tolerance over that of the settings
  std::vector<double> theta;      ///< p(A)'s Ritz values of the kept vectors
};

/// What came of a solve.
struct EigenResult {
  std::vector<double> values;     ///< N, in the order of A's: where modes of A are wanted, ascending
  std::vector<double> residuals;  ///< |A v - lambda v|
  LanczosState state;
  bool converged = false;  ///< else it was interrupted
};

/// Told at each restart: how many of the modes have converged by the recurrence's estimate. False interrupts.
using EigenProgress = std::function<bool(const LanczosState& state, int converged)>;

/// A solve that goes on where another job ended. `next` is the block behind the basis.
struct EigenSnapshots {
  /// Fills in state, basis (by append()) and next, where there is something to go on with; else false.
  std::function<bool(LanczosState& state, Basis& basis, const Field& next)> load;
  /// Called after a restart, all tasks done.
  std::function<void(const LanczosState& state, const Basis& basis, const Field& next)> save;
};

/// Block Lanczos with full orthogonalisation, in exact sums, for A = A^+ >= 0 on the sites of one parity or of both:
///   1. window: a few blocks without filter give the upper end of the spectrum, and from the weights of the start vectors in the Ritz
///      vectors (stochastic Lanczos quadrature) how many modes lie below an energy; the filter begins where about 1.5 N do;
///   2. the block Krylov space of p(A) (chebyshev.hpp) grows to the largest basis, every block orthogonalised twice against all others;
///   3. Ritz pairs of p(A) on it; the best stay, with the block behind (thick restart), those that have converged to rounding are locked;
///   4. when the estimates |r| high / (theta - 1) of N modes are below the tolerance: their true |A v - lambda v|, lambda = <v, A v>. If
///      one is not there, on with 2 and a stricter estimate. Modes are multiple at most `block` times, or as rounding brings them up.
/// A basis in single precision is rounded at each restart. That leaves noise of all wavelengths in it, some 1e-8 of |v|, which the
/// recurrence and its estimates do not see, and 4 does. Where that is more than the tolerance:
///   5. a filter of as high a degree as the residuals ask for presses it down; of the images, made orthonormal in double precision, the
///   Ritz
///      pairs of A.
/// Where modes of another operator H are wanted, of which A is a function, 4 and 5 take the Ritz pairs of H on what the restart keeps: H^2
/// does not tell lambda from -lambda, nor values next to each other from those next to the last mode. The N that are lowest for A are
/// measured by H. The bits of values and vectors depend on A, N, and the settings; not on cut, policy, device or ranks. Sources: K. Wu and
/// H. Simon, SIAM J. Matrix Anal. Appl. 22 (2000) 602; Y. Zhou and Y. Saad, Numer. Algor. 47 (2008) 341; L. Lin, Y. Saad and C. Yang, SIAM
/// Review 58 (2016) 34 (step 1).
class BlockLanczos {
 public:
  /// a: of settings.block vectors. of: whose modes are wanted, where a is a function of it that takes them to its lower end: H of A = H^2,
  /// or A' of top - A' (reflected_operator.hpp); values and residuals are then its own. Both outlive this.
  BlockLanczos(LinearOperator& a, const EigenSettings& settings, LinearOperator* of = nullptr);
  /// Throws Error(numerical) where most_restarts do not suffice, or the tolerance is below what rounding leaves; Error(input) for a given
  /// window that leaves out modes.
  EigenResult solve(const EigenProgress& progress = {}, const EigenSnapshots& snapshots = {});
  /// Step 1 alone: a number above A's spectrum, as far as a few steps can tell.
  double upper_end();
  /// V^+ w, and out = V c, V the N vectors of a solve that converged, in the order of its values.
  SmallMatrix products(const Field& w) const;
  void combine(const Field& out, const SmallMatrix& c) const;
  /// to <- mode `first` and those behind it, a block, zeros behind the last.
  void extract(const Field& to, int first) const;
  /// What modes are extracted to.
  Field field() const { return a_.field(); }

 private:
  struct Ritz {
    Eigen::VectorXd theta, residual;  ///< descending; behind the locked ones, which come first
    SmallMatrix vectors;              ///< columns: combinations of the basis
  };
  SmallMatrix orthonormalise(const Basis& basis, const Field& w, const std::vector<double>& sizes = {});
  void expand(const ChebyshevFilter& filter, int capacity);
  Ritz ritz() const;
  void estimate_window();
  void begin_from_noise();
  void begin_from_basis();
  static int modes_below_window(const Ritz& ritz);
  SmallMatrix ritz_vectors(LinearOperator& of, const Basis& basis);
  void measure(EigenResult& result, const Basis& basis, const SmallMatrix& ritz);
  bool refine(EigenResult& result, const EigenProgress& progress);
  void restart(Ritz& ritz);

  LinearOperator &a_, &of_;  ///< one, where modes of A are wanted
  EigenSettings settings_;
  Basis basis_;
  std::optional<Basis> refined_;  ///< of step 5
  SmallMatrix modes_;             ///< the last ones that were measured, and some behind them: columns, combinations of the one or the other
  std::vector<double> places_;    ///< A's lambda of the modes that were measured
  Field next_, work_;             ///< the block behind the basis; an image
  LanczosState state_;
  SmallMatrix h_;         ///< V^+ p(A) V, its upper triangle
  SmallMatrix coupling_;  ///< R: p(A) V_last = V h + next R
  int replaced_ = 0;      ///< vectors of blocks that became noise
};

/// BlockLanczos::upper_end() of such a solve, for ReflectedOperator. Cost: 40 applications of A to a block, or a full basis of them.
double upper_end(LinearOperator& a, const EigenSettings& settings);

}  // namespace quarkstar
