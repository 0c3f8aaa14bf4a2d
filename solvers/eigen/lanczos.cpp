#include "solvers/eigen/lanczos.hpp"

#include "codelets/field/blas.hpp"
#include "codelets/field/noise.hpp"
#include "codelets/field/norms.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "solvers/eigen/break_even.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace quarkstar {
namespace {

constexpr std::uint64_t noise_seed = 2;
/// A Ritz pair whose residual is below this part of the largest Ritz value has no digits to gain.
constexpr double rounding = 1e-14;
/// Of a window's lower end that has turned out to be too low.
constexpr double least_widening = 1.5;

/// Of a filter: beyond it applications gain nothing that restarts do not, and a solve would be deaf to its caller for too long.
constexpr int most_degree = 10000;

/// What the residuals of p(A), which is at most 1 in the window, come down to on a basis in single precision is some 1e-9, and is left to
/// step 5.
constexpr double rounding_of_single = 1e-8;
/// Where rounding in single precision leaves more of |A v - lambda v| than is asked for, of operators whose largest eigenvalue is some ten.
constexpr double reach_of_single = 1e-6;
bool needs_refining(const EigenSettings& settings) {
  return settings.basis_precision != Precision::double_ && settings.tolerance < reach_of_single;
}

/// Of a filter that is `gain` at lambda; most_degree where lambda is in the window.
int degree_for(double gain, double lambda, const SpectralWindow& window) {
  const double x = (window.high + window.low - 2 * lambda) / (window.high - window.low);
  return x > 1 ? static_cast<int>(std::min<double>(most_degree, std::ceil(std::acosh(std::max(1.0, gain)) / std::acosh(x)))) : most_degree;
}

/// Vectors that a restart keeps: beside the modes a third of what is left, so that the edge of the wanted ones converges too.
int kept_for(const EigenSettings& settings) {
  const int basis = basis_for(settings), kept = settings.modes + (basis - settings.modes) / 3;
  return std::min(whole_blocks(kept, settings.block), basis - 2 * settings.block);
}

/// Fields besides the basis, and two more of its own.
int fields_of_work(const EigenSettings& settings, int slices) {
  constexpr int work = 2 + 3 + 2 + 1;  // next, image; the filter's; the operator's images and its noise
  return 2 * Basis::tile_for(settings.block, slices) + work * settings.block;
}

double dimension_of(const LinearOperator& a) {
  return static_cast<double>(a.lattice()->sites_of_parity()) * (a.parity() == both_parities ? 2 : 1) * a.components() *
         a.lattice()->slices();
}

/// <v, A v> / <v, v> of each vector. image: A v. Waits.
PerVector rayleigh_quotients(const Field& image, const Field& v) {
  const int n = v.vectors();
  const runtime::PartialSums sums = partial_sums_on(*v.lattice(), 3 * n);
  blas::submit<blas::Dot>({&image, &v}, {}, {}, &sums);
  const std::vector<double> dots = runtime::values_of(sums, 2 * n);
  const std::vector<double> norms = norms2(v);
  return for_each_vector(static_cast<std::size_t>(n), [&](std::size_t i) { return dots[i] / norms[i]; });
}

/// w <- w - V V^+ w, twice: once leaves what rounding in long components is of short ones, and what rounded vectors leave. The sum of both
/// V^+ w.
SmallMatrix orthogonalise(const Basis& basis, const Field& w) {
  SmallMatrix total = SmallMatrix::Zero(basis.count(), w.vectors());
  for (int pass = 0; pass < 2 && basis.count() > 0; ++pass) {
    const SmallMatrix c = pass == 0 ? basis.rough_products(w) : basis.products(w);
    basis.add(w, -c);
    total += c;
  }
  return total;
}

}  // namespace

int basis_for(const EigenSettings& settings) {
  const int basis = settings.basis > 0 ? settings.basis : settings.modes + std::max(settings.modes / 2, 8 * settings.block);
  return whole_blocks(basis, settings.block);
}

int fields_on_device(const EigenSettings& settings, int components, int slices) {
  return basis_on_device(basis_for(settings), settings.block, components, settings.basis_precision, slices) +
         fields_of_work(settings, slices);
}

int fields_for(const EigenSettings& settings, int components, int slices) {
  const auto held = [&](int vectors) { return basis_in_doubles(vectors, settings.block, components, settings.basis_precision, slices); };
  const int kept = kept_for(settings), sums = settings.basis_in_host_memory ? Basis::rotated_together : 1;
  const int rotation = held(basis_for(settings) + kept),
            refined = needs_refining(settings) ? held(kept) + whole_blocks(settings.modes, settings.block) + settings.block : 0;
  return std::max(rotation, refined) + fields_of_work(settings, slices) +
         (settings.basis_precision == Precision::double_ ? 0 : sums * Basis::tile_for(settings.block, slices)) + fields_of_break_even;
}

std::vector<double> residuals_of(const Field& image, const Field& v, const PerVector& lambda) {
  blas::submit<blas::AddScaled>({&image, &v}, {-blas::Coefficient(lambda)});
  const std::vector<double> left = norms2(image), norms = norms2(v);
  std::vector<double> residuals;
  for (std::size_t i = 0; i < left.size(); ++i) residuals.push_back(std::sqrt(left[i] / norms[i]));
  return residuals;
}

void check_block(int block, int slices) {
  const int most = Basis::most_block_for(slices);
  if (block >= 1 && block <= most) return;
  const std::string of_slices = slices > 1 ? fmt::format(" of {} slices", slices) : "";
  throw Error(ErrorKind::input, Parameter("block"), fmt::format("{} vectors{}", block, of_slices),
              most > 1 ? fmt::format("give 1 to {}", most) : "give 1");
}

void check_eigen(const EigenSettings& settings, double dimension, int slices) {
  const auto refuse = [](const char* parameter, const std::string& what, const std::string& remedy) {
    throw Error(ErrorKind::input, Parameter(parameter), what, remedy);
  };
  check_block(settings.block, slices);
  if (settings.modes < 1) refuse("modes", fmt::format("{} of them", settings.modes), "give a positive number");
  if (!(settings.tolerance > 0)) refuse("tol", fmt::format("tolerance {}", settings.tolerance), "give a positive number");
  if (settings.degree < 0 || settings.degree > most_degree)
    refuse("degree", fmt::format("degree {}", settings.degree), fmt::format("give 1 to {}, or 0: it is chosen", most_degree));
  const double most = std::min(dimension, 1e9);  // so that sums of them are numbers
  if (settings.modes > most)
    refuse("modes", fmt::format("{} modes, and the vectors have {:g} components", settings.modes, dimension), "give fewer");
  if (settings.basis < 0 || settings.basis > most)
    refuse("basis", fmt::format("{} vectors, which have {:g} components", settings.basis, dimension), "give fewer, or 0: it is chosen");
  if (settings.basis_precision == Precision::half) refuse("basis-precision", "a basis in half precision", "give double or single");
  const int basis = basis_for(settings);
  if (basis < settings.modes + 4 * settings.block)
    refuse("basis", fmt::format("{} vectors", settings.basis),
           fmt::format("{} modes in blocks of {} need {} or more", settings.modes, settings.block,
                       whole_blocks(settings.modes, settings.block) + 4 * settings.block));
  if (basis + settings.block > dimension)
    refuse("modes", fmt::format("{} modes take a basis of {}, and the vectors have {:g} components", settings.modes, basis, dimension),
           "give fewer modes, a smaller basis or block");
  const SpectralWindow& window = settings.window;
  if (!(window.low >= 0) || !(window.high >= 0) || std::isinf(window.low) || std::isinf(window.high) ||
      (window.low > 0 && window.high > 0 && window.low >= window.high))
    refuse("window-low", fmt::format("a window from {} to {}", window.low, window.high), "give 0 < low < high");
}

double upper_end(LinearOperator& a, const EigenSettings& settings) {
  EigenSettings without_window = settings;
  without_window.window = {};
  return BlockLanczos(a, without_window).upper_end();
}

BlockLanczos::BlockLanczos(LinearOperator& a, const EigenSettings& settings, LinearOperator* of)
    : a_(a),
      of_(of != nullptr ? *of : a),
      settings_(settings),
      basis_(a.lattice(), a.parity(), a.components(), settings.block, basis_for(settings), settings.basis_precision,
             settings.basis_in_host_memory),
      next_(a.field()),
      work_(a.field()),
      h_(SmallMatrix::Zero(basis_.capacity(), basis_.capacity())) {
  check_eigen(settings, dimension_of(a), a.lattice()->slices());
  if (a.vectors() != settings.block) throw ShapeError("BlockLanczos", "an operator for another number of vectors than a block has");
  if (a.lattice()->precision() != Precision::double_) throw ShapeError("BlockLanczos", "arithmetic is in double precision");
}

/// w <- Q, orthonormal and orthogonal to the basis, as w already is; returns R with w = Q R. `sizes`: of the vectors before they were made
/// orthogonal to the basis. Directions that w lacks, because the Krylov space is exhausted or its vectors nearly depend on each other,
/// become noise, and R knows nothing of them: what is left of a direction after so much has been taken out of it is rounding, with a part
/// along the basis as large as itself. They show in the triangular factor of w, scaled to vectors of length 1: its diagonal is at least the
/// root of the Gram matrix's smallest eigenvalue, which is known to about 1e-8.
SmallMatrix BlockLanczos::orthonormalise(const Basis& basis, const Field& w, const std::vector<double>& sizes) {
  constexpr double negligible = 1e-14, resolution = 1e-7, safe = 1e-3, orthonormal = 1e-14;
  const int n = w.vectors();
  SmallMatrix r = SmallMatrix::Identity(n, n);
  constexpr int most_passes = 12;
  for (int pass = 0; pass < most_passes; ++pass) {
    SmallMatrix gram = gram_of(w);
    if (!gram.allFinite()) throw Error(ErrorKind::numerical, Parameter("modes"), "a vector of the basis is not finite", "check the links");
    if ((gram - SmallMatrix::Identity(n, n)).cwiseAbs().maxCoeff() < orthonormal * n) return r;
    for (int v = 0; v < n && pass == 0 && !sizes.empty(); ++v)
      if (std::sqrt(gram(v, v).real()) <= negligible * sizes[static_cast<std::size_t>(v)]) {
        gram.row(v).setZero();
        gram.col(v).setZero();
      }
    const OrthonormalFactors factors = orthonormal_factors(gram, resolution);
    multiply(w, nullptr, w, factors.t);
    r = factors.s * r;
    if (factors.rank == n) {
      if (factors.smallest < safe) orthogonalise(basis, w);  // scaled up, so is what was left along the basis
      continue;
    }
    replaced_ += n - factors.rank;
    const Field noise = a_.field();
    write_noise(noise, noise_seed, ++state_.drawn * static_cast<std::uint64_t>(n));
    const PerVector missing = for_each_vector(
        static_cast<std::size_t>(n), [&](std::size_t v) { return factors.t.col(static_cast<Eigen::Index>(v)).isZero(0) ? 1.0 : 0.0; });
    blas::submit<blas::AddScaled>({&w, &noise}, {missing});
    orthogonalise(basis, w);
  }
  throw Error(ErrorKind::numerical, Parameter("block"), "vectors could not be made orthonormal", "give a smaller block or fewer modes");
}

/// Step 2: until the basis has so many vectors.
void BlockLanczos::expand(const ChebyshevFilter& filter, int capacity) {
  while (basis_.count() + settings_.block <= capacity) {
    basis_.append(next_);
    filter.apply(work_, next_);
    state_.applications += std::max(1, filter.degree());
    const int count = basis_.count(), n = settings_.block;
    const SmallMatrix along = orthogonalise(basis_, work_);
    h_.block(0, count - n, count, n) = along;
    std::vector<double> sizes(static_cast<std::size_t>(n));
    for (int v = 0; v < n; ++v) sizes[static_cast<std::size_t>(v)] = along.col(v).norm();
    coupling_ = orthonormalise(basis_, work_, sizes);
    std::swap(next_, work_);
  }
}

/// Step 3. Locked vectors are as they are; the others' best come first.
BlockLanczos::Ritz BlockLanczos::ritz() const {
  const int count = basis_.count(), locked = state_.locked, active = count - locked, n = settings_.block;
  const HermitianEigenpairs pairs = hermitian_eigenpairs(h_.block(locked, locked, active, active));
  Ritz ritz{Eigen::VectorXd(count), Eigen::VectorXd::Zero(count), SmallMatrix::Zero(count, count)};
  for (int i = 0; i < locked; ++i) ritz.theta(i) = h_(i, i).real();
  ritz.vectors.topLeftCorner(locked, locked).setIdentity();
  ritz.theta.tail(active) = pairs.values.reverse();
  ritz.vectors.bottomRightCorner(active, active) = pairs.vectors.rowwise().reverse();
  for (int i = locked; i < count; ++i) ritz.residual(i) = (coupling_ * ritz.vectors.col(i).tail(n)).norm();
  return ritz;
}

void BlockLanczos::begin_from_noise() {
  basis_.clear();
  h_.setZero();
  write_noise(next_, noise_seed, state_.drawn * static_cast<std::uint64_t>(settings_.block));
  orthonormalise(basis_, next_);
}

/// From all vectors of the basis, summed into one block.
void BlockLanczos::begin_from_basis() {
  SmallMatrix sum = SmallMatrix::Zero(basis_.count(), settings_.block);
  for (int i = 0; i < basis_.count(); ++i) sum(i, i % settings_.block) = 1;
  basis_.combine(work_, sum);
  basis_.clear();
  h_.setZero();
  state_.locked = 0;
  state_.theta.clear();
  std::swap(next_, work_);
  orthonormalise(basis_, next_);
}

/// Step 1.
void BlockLanczos::estimate_window() {
  SpectralWindow& window = state_.window = settings_.window;
  if (window.low == 0 || window.high == 0) {
    begin_from_noise();
    expand(ChebyshevFilter(a_, 0, {}), std::min(basis_.capacity(), 40 * settings_.block));
    const Ritz found = ritz();
    if (window.high == 0) window.high = 1.01 * found.theta(0) + 2 * found.residual(0);
    if (window.low == 0) {
      // The number of modes below theta_i, between the Ritz values the midpoints of its steps.
      const double dimension = dimension_of(a_), n = settings_.block;
      const double wanted = 1.5 * settings_.modes + n;
      double below = 0, before = 0, at = 0;
      window.low = window.high / 2;
      for (Eigen::Index i = found.theta.size(); i-- > 0;) {
        const double weight = dimension / n * found.vectors.col(i).head(settings_.block).squaredNorm(), middle = below + weight / 2;
        if (middle >= wanted) {
          window.low = std::min(window.low, at + (found.theta(i) - at) * (wanted - before) / (middle - before));
          break;
        }
        below += weight;
        before = middle;
        at = found.theta(i);
      }
      constexpr double least = 1e-8, usual = 1e-3;  // where all wanted modes are zero modes, up to rounding, any end above them will do
      if (!(window.low > least * window.high)) window.low = usual * window.high;
    }
  }
  state_.degree = settings_.degree > 0 ? settings_.degree : filter_degree(window);
}

/// Modes below the window: where they are fewer than wanted, the others would not come out.
int BlockLanczos::modes_below_window(const Ritz& ritz) {
  constexpr double grown = 2;
  return static_cast<int>((ritz.theta.array() >= grown).count());
}

/// The thick restart: locks what has converged to rounding and, as it will not improve any more, far below the tolerance; keeps the best of
/// the others.
void BlockLanczos::restart(Ritz& ritz) {
  const int kept = kept_for(settings_);
  const double largest = ritz.theta.cwiseAbs().maxCoeff();
  const auto is_done = [&](int i) {
    constexpr double far = 0.1;
    const double theta = ritz.theta(i), residual = ritz.residual(i);
    return residual <= rounding * largest && theta > 1 &&
           residual * state_.window.high / (theta - 1) <= far * state_.caution * settings_.tolerance;
  };
  while (state_.locked < std::min(settings_.modes, kept) && is_done(state_.locked)) ++state_.locked;
  basis_.rotate(ritz.vectors.leftCols(kept));
  h_.setZero();
  h_.topLeftCorner(kept, kept) = ritz.theta.head(kept).cast<std::complex<double>>().asDiagonal();
  state_.theta.assign(ritz.theta.data(), ritz.theta.data() + kept);
  ++state_.restarts;
}

double BlockLanczos::upper_end() {
  estimate_window();
  return state_.window.high;
}

/// The Ritz vectors of an operator on a basis: columns, combinations of it.
SmallMatrix BlockLanczos::ritz_vectors(LinearOperator& of, const Basis& basis) {
  const int count = basis.count(), n = settings_.block;
  const Field v = basis.field();
  SmallMatrix h(count, count);
  for (int first = 0; first < count; first += n) {
    basis.extract(v, first);
    of.apply(work_, v, {}, false, {});
    state_.applications += 1;
    h.middleCols(first, n) = basis.products(work_);
  }
  return hermitian_eigenpairs(h).vectors;
}

/// Step 4: of the vectors `basis` times `ritz`, whose order becomes that of A's lambda.
void BlockLanczos::measure(EigenResult& result, const Basis& basis, const SmallMatrix& ritz) {
  const int count = basis.count(), n = settings_.block;
  std::vector<double> places, values, residuals;
  for (int first = 0; first < count; first += n) {
    const Field v = basis.field(), image = basis.field();
    basis.combine(v, ritz.middleCols(first, n));
    const auto lambda_of = [&](LinearOperator& a, std::vector<double>& lambdas) {
      a.apply(image, v, {}, false, {});
      state_.applications += 1;
      const PerVector lambda = rayleigh_quotients(image, v);
      lambdas.insert(lambdas.end(), lambda.begin(), lambda.begin() + n);
      return lambda;
    };
    const PerVector lambda = lambda_of(of_, values);
    for (const double residual : residuals_of(image, v, lambda)) residuals.push_back(residual);
    if (&of_ != &a_) lambda_of(a_, places);
  }
  if (&of_ == &a_) places = values;
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return places[static_cast<std::size_t>(a)] < places[static_cast<std::size_t>(b)]; });
  result.values.clear();
  result.residuals.clear();
  places_.clear();
  for (int i = 0; i < settings_.modes; ++i) {
    const auto at = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
    result.values.push_back(values[at]);
    result.residuals.push_back(residuals[at]);
    places_.push_back(places[at]);
  }
  result.converged = *std::max_element(result.residuals.begin(), result.residuals.end()) <= settings_.tolerance;
  // With those next to the edge: one of them and a mode may be another operator's pair.
  const int all = std::min(whole_blocks(settings_.modes, n) + (&of_ == &a_ ? 0 : n), count);
  modes_.resize(count, all);
  for (int i = 0; i < all; ++i) modes_.col(i) = ritz.col(order[static_cast<std::size_t>(i)]);
}

/// Step 5, behind 4. False where it was interrupted.
bool BlockLanczos::refine(EigenResult& result, const EigenProgress& progress) {
  const int n = settings_.block, all = static_cast<int>(modes_.cols());
  int degree = 1;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    constexpr double margin = 100;  // noise along the modes next to the last one is pressed down less than that in the window
    degree = std::max(degree, degree_for(margin * result.residuals[i] / settings_.tolerance, places_[i], state_.window));
  }
  const ChebyshevFilter filter(a_, degree, state_.window);
  const Field v = a_.field();
  refined_.emplace(a_.lattice(), a_.parity(), a_.components(), n, all);
  for (int first = 0; first < all; first += n) {
    basis_.combine(v, modes_.middleCols(first, n));
    filter.apply(work_, v);
    state_.applications += degree;
    orthogonalise(*refined_, work_);
    orthonormalise(*refined_, work_);
    refined_->append(work_);
    runtime::Session::current().wait_all();
    if (progress && !progress(state_, settings_.modes)) return false;
  }
  measure(result, *refined_, ritz_vectors(of_, *refined_));
  return true;
}

SmallMatrix BlockLanczos::products(const Field& w) const {
  return modes_.leftCols(settings_.modes).adjoint() * (refined_ ? *refined_ : basis_).products(w);
}

void BlockLanczos::combine(const Field& out, const SmallMatrix& c) const {
  (refined_ ? *refined_ : basis_).combine(out, modes_.leftCols(settings_.modes) * c);
}

void BlockLanczos::extract(const Field& to, int first) const {
  const int some = std::min(settings_.block, settings_.modes - first);
  if (some < 1 || to.vectors() != settings_.block) throw ShapeError("BlockLanczos::extract", "no such modes");
  SmallMatrix place = SmallMatrix::Zero(settings_.modes, settings_.block);
  place.block(first, 0, some, some).setIdentity();
  combine(to, place);
}

EigenResult BlockLanczos::solve(const EigenProgress& progress, const EigenSnapshots& snapshots) {
  EigenResult result;
  if (snapshots.load && snapshots.load(state_, basis_, next_)) {
    const auto kept = static_cast<Eigen::Index>(state_.theta.size());
    h_.setZero();
    h_.topLeftCorner(kept, kept) = Eigen::Map<const Eigen::VectorXd>(state_.theta.data(), kept).cast<std::complex<double>>().asDiagonal();
  } else {
    estimate_window();
    begin_from_noise();
  }
  const auto widen = [&](const char* what, double factor) {  // and begin with what there is
    if (settings_.window.low > 0)
      throw Error(ErrorKind::input, Parameter("window-low"),
                  fmt::format("{} from {:g} to {:g}", what, state_.window.low, state_.window.high),
                  "give a higher window-low, or none: it is estimated");
    state_.window.low = std::min(factor * state_.window.low, 0.9 * state_.window.high);
    if (settings_.degree == 0) state_.degree = filter_degree(state_.window);
    begin_from_basis();
  };
  const auto keep = [&](int converged) {  // returns whether to go on
    runtime::Session::current().wait_all();
    const bool goes_on = !progress || progress(state_, converged);
    if (snapshots.save) snapshots.save(state_, basis_, next_);
    return goes_on;
  };
  for (;;) {
    if (state_.restarts >= settings_.most_restarts)
      throw Error(ErrorKind::numerical, Parameter("modes"),
                  fmt::format("not all {} have converged after {} restarts", settings_.modes, state_.restarts),
                  settings_.basis_precision == Precision::double_ ? "give a larger basis, or a larger tolerance"
                                                                  : "give basis-precision double, a larger basis, or a larger degree");
    expand(ChebyshevFilter(a_, state_.degree, state_.window), basis_.capacity());
    Ritz now = ritz();
    if (const int below = modes_below_window(now); below < settings_.modes) {
      // As if modes were equally dense: each attempt costs a basis.
      const double missing = 1.5 * settings_.modes / std::max(1, below);
      restart(now);
      widen("wanted modes lie in the filter's window", std::clamp(missing, least_widening, 4.0));
      if (!keep(0)) break;
      continue;
    }
    // Of the residual of p(A) a part high / (theta - 1) at most is that of A.
    std::vector<double> estimates;
    std::vector<int> order(static_cast<std::size_t>(now.theta.size()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return now.theta(a) > now.theta(b); });
    int converged = 0;
    for (int i = 0; i < settings_.modes; ++i) {
      const int at = order[static_cast<std::size_t>(i)];
      const double estimate = now.residual(at) * state_.window.high / (now.theta(at) - 1);
      const bool is_rest = needs_refining(settings_) && now.residual(at) <= state_.caution * rounding_of_single;
      converged += is_rest || estimate <= state_.caution * settings_.tolerance ? 1 : 0;
    }
    restart(now);
    if (converged == settings_.modes) {
      measure(result, basis_, &of_ == &a_ ? SmallMatrix::Identity(basis_.count(), basis_.count()) : ritz_vectors(of_, basis_));
      if (!result.converged && needs_refining(settings_) && !refine(result, progress)) break;
      if (result.converged) break;
      refined_.reset();
      if (places_.back() > state_.window.low) {  // the other end has come up
        state_.window.high *= 1.1;
        widen("modes of the upper end of the spectrum pass the filter's window", least_widening);
        if (!keep(0)) break;
        continue;
      }
      constexpr double most_caution = 1e-5;
      state_.caution /= 10;
      state_.locked = 0;  // they are to improve
      if (state_.caution < most_caution)
        throw Error(ErrorKind::numerical, Parameter("tol"),
                    fmt::format("|A v - lambda v| stays at {:.1e}", *std::max_element(result.residuals.begin(), result.residuals.end())),
                    "give a larger tolerance, or a lower degree of the filter");
    }
    if (!keep(converged)) break;
  }
  result.state = state_;
  runtime::Session::current().wait_all();
  if (replaced_ > 0 && runtime::mpi::Job::current().is_root())
    spdlog::info("eigenvectors: {} vectors that nearly depended on those before them were replaced by random ones", replaced_);
  return result;
}

}  // namespace quarkstar
