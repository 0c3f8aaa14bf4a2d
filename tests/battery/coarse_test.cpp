// Multigrid's coarse space of every architecture, precision and cut against the dense reference: P, R, P^+ P = 1 and D_c; and the same bits
// for every cut, architecture and number of vectors.
#include "codelets/actions/clover/action.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "codelets/coarse/dense_inverse.hpp"
#include "codelets/coarse/restriction.hpp"
#include "codelets/field/blas.hpp"
#include "runtime/system/error.hpp"
#include "tests/battery/support.hpp"
#include "tests/reference/clover.hpp"
#include "tests/reference/multigrid.hpp"
#include "tests/reference/random.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <utility>
#include <vector>

namespace coarse_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 62951;
constexpr double kappa = 0.124;
constexpr std::size_t null_vectors = 8;  ///< unless told otherwise

using reference::CoarseVector;

double difference(const CoarseVector& a, const CoarseVector& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}
bool same_numbers(const CoarseVector& a, const CoarseVector& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

/// sigma_3 = R gamma_5 P: the first half of a site's rows have chirality 1, the others -1.
CoarseVector by_chirality(CoarseVector c) {
  constexpr std::size_t rows = 2 * null_vectors;
  for (std::size_t i = 0; i < c.size(); ++i)
    if (i % rows >= null_vectors) c[i] = -c[i];
  return c;
}
std::complex<double> inner(const CoarseVector& a, const CoarseVector& b) {
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::conj(a[i]) * b[i];
  return sum;
}
double size_of(const CoarseVector& a) { return std::sqrt(inner(a, a).real()); }

CoarseVector random_coarse(std::size_t numbers, std::uint64_t from) {
  reference::Random random(from);
  CoarseVector coarse(numbers);
  for (auto& z : coarse) z = random.normal();
  return coarse;
}

/// body(number in a vector of the whole lattice, word of its real part) for all components of vector v on this block, on the sites of the
/// field's parity; the imaginary part is coarse_lanes behind.
template <class Body>
void for_words(const Field& field, int b, int v, Body&& body) {
  const BlockGeometry& block = field.lattice()->block(b);
  const auto rows = static_cast<std::size_t>(field.components());
  for (int outer = 0; outer < block.outer_sites(); ++outer) {
    Coord site = block.local_site({field.parity(), outer, 0});
    for (int mu = 0; mu < 4; ++mu) site[mu] += block.block().origin[mu];
    const auto all = static_cast<std::size_t>(lexicographic(site, field.lattice()->decomposition().lattice()));
    for (int row = 0; row < field.components(); ++row)
      body(all * rows + static_cast<std::size_t>(row),
           coarse::coarse_word(static_cast<std::size_t>(outer), row, v, field.components(), field.vectors()));
  }
}
template <class F>
void load_as(const Field& field, const std::vector<CoarseVector>& host) {
  for (const int b : field.lattice()->local_blocks()) {
    const runtime::HostView<F> view(field.block(b), runtime::HostAccess::overwrite);
    for (int v = 0; v < field.vectors(); ++v)
      for_words(field, b, v, [&](std::size_t number, std::size_t word) {
        view[word] = static_cast<F>(host[static_cast<std::size_t>(v)][number].real());
        view[word + coarse_lanes] = static_cast<F>(host[static_cast<std::size_t>(v)][number].imag());
      });
  }
}
template <class F>
void store_as(std::vector<CoarseVector>& host, const Field& field) {
  for (const int b : field.lattice()->local_blocks()) {
    const runtime::HostView<F> view(field.block(b));
    for (int v = 0; v < field.vectors(); ++v)
      for_words(field, b, v, [&](std::size_t number, std::size_t word) {
        host[static_cast<std::size_t>(v)][number] = {view[word], view[word + coarse_lanes]};
      });
  }
}
void load(const FullField& field, const std::vector<CoarseVector>& host) {
  const bool wide = field.even.lattice()->precision() == Precision::double_;
  for (const int parity : {0, 1}) wide ? load_as<double>(field.of(parity), host) : load_as<float>(field.of(parity), host);
}
std::vector<CoarseVector> stored(const FullField& field) {
  const auto numbers = static_cast<std::size_t>(volume(field.even.lattice()->decomposition().lattice()) * field.even.components());
  std::vector<CoarseVector> host(static_cast<std::size_t>(field.even.vectors()), CoarseVector(numbers));
  const bool wide = field.even.lattice()->precision() == Precision::double_;
  for (const int parity : {0, 1}) wide ? store_as<double>(host, field.of(parity)) : store_as<float>(host, field.of(parity));
  return host;
}

struct Problem {
  Coord lattice, aggregate;
  HostGauge gauge;
  clover::Parameters term{};
  BoundaryAngles boundary = antiperiodic_in_time;
  int link_reals = 18;
  std::vector<reference::Field> noise{};  ///< the null vectors before they are orthonormal

  std::size_t coarse_numbers() const { return static_cast<std::size_t>(volume(lattice) / volume(aggregate)) * 2 * noise.size(); }

  std::unique_ptr<Action> action() const {
    const WilsonParameters parameters{.kappa = kappa, .boundary = boundary};
    if (term.has_clover() || term.mu != 0) return std::make_unique<clover::Action>(gauge, parameters, term);
    return std::make_unique<wilson::Action>(gauge, parameters);
  }
  /// M psi.
  reference::Field product(const reference::Field& psi) const {
    const reference::Boundary phases =
        reference::Boundary::twisted({M_PI * boundary[0], M_PI * boundary[1], M_PI * boundary[2], M_PI * boundary[3]});
    const reference::Field twist =
        reference::Complex(0, 2 * kappa * term.mu) * reference::apply_spin(reference::gamma5(reference::Basis::degrand_rossi), psi);
    if (!term.has_clover()) return reference::wilson(gauge, kappa, psi, phases) + twist;
    return reference::clover_wilson(gauge, reference::clover_term(gauge, kappa, term.csw), kappa, psi, phases) + twist;
  }
};

Problem problem_of(const Coord& lattice, const Coord& aggregate, const HostGauge& gauge, const clover::Parameters& term = {},
                   const BoundaryAngles& boundary = antiperiodic_in_time, std::size_t count = null_vectors) {
  Problem problem{.lattice = lattice, .aggregate = aggregate, .gauge = gauge, .term = term, .boundary = boundary};
  for (std::uint64_t j = 0; j < count; ++j) problem.noise.push_back(reference::random_field(lattice, 4, seed + j));
  return problem;
}

/// Everything that the package computes of a problem on one cut.
struct Computed {
  std::vector<HostField> null_vectors, prolonged;
  std::vector<CoarseVector> restricted, restricted_odd, image;
  std::vector<CoarseVector> of_null_vectors;  ///< R of the null vectors before they are orthonormal
  std::vector<CoarseVector> again;            ///< the image by the even-odd system's blocks
  std::vector<CoarseVector> schur, prepared;  ///< of x and of D_c x, on odd sites
  std::vector<CoarseVector> solved, odd;      ///< by the dense inverse from schur, and x, on odd sites
  std::vector<CoarseVector> reconstructed;    ///< from D_c x and x on odd sites
  std::vector<CoarseVector> narrow;           ///< the image by matrices of 16 bits, in single precision
};

/// coarse_in, fine_in: n of each.
Computed compute(const Problem& problem, const Coord& blocks, Precision precision, const std::vector<CoarseVector>& coarse_in,
                 const std::vector<HostField>& fine_in, const std::string& policy = "static",
                 coarse::NextLevel next = coarse::NextLevel::cut) {
  runtime::Session session({.cpu_workers = 2, .threads_per_worker = 1, .cuda_workers = 0, .policy = policy});
  const int n = static_cast<int>(coarse_in.size()), count = static_cast<int>(problem.noise.size()),
            at_once = coarse::null_vectors_at_once(count);
  const runtime::Decomposition decomposition(problem.lattice, blocks, 2);
  const std::unique_ptr<Action> action = problem.action();
  const auto prepared = action->in_precision(
      decomposition,
      {.precision = precision, .link_reals = problem.link_reals, .speed = {.measure = false}, .unit = coarse::unit_of(problem.aggregate)});
  const coarse::Aggregates aggregates(prepared->lattice(), spinor_components, problem.aggregate, count, next);
  CHECK(aggregates.coarse()->block_count() == (next == coarse::NextLevel::whole ? 1 : decomposition.count()));
  std::vector<HostField> noise;
  for (const reference::Field& field : problem.noise) noise.push_back(battery::to_host(field));
  const auto parts_of = [&](std::vector<HostField>& host) {  // as the null vectors lie in fields
    std::vector<std::span<HostField>> parts;
    for (int first = 0; first < count; first += at_once)
      parts.push_back(std::span(host).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(at_once)));
    return parts;
  };
  std::vector<FullField> before;
  for (std::size_t part = 0; part < aggregates.null_vectors().size(); ++part)
    for (const FullField* field :
         {&aggregates.null_vectors()[part], &std::as_const(before.emplace_back(prepared->lattice(), spinor_components, at_once))})
      for (const int parity : {0, 1}) transfer::load(field->of(parity), std::span<const HostField>(parts_of(noise)[part]));
  aggregates.orthonormalise();
  coarse::CoarseMatrices matrices(aggregates);
  const auto m = prepared->system(at_once, same_for_all(kappa));
  matrices.compute(aggregates, *m);

  Computed result;
  const HostField none(spinor_components, problem.lattice);
  result.null_vectors.assign(problem.noise.size(), none);
  for (std::size_t part = 0; part < before.size(); ++part)
    for (const int parity : {0, 1}) transfer::store(parts_of(result.null_vectors)[part], aggregates.null_vectors()[part].of(parity));
  const FullField fine(prepared->lattice(), spinor_components, n);
  const FullField c = aggregates.coarse_field(n), image = aggregates.coarse_field(n), half = aggregates.coarse_field(n);
  load(c, coarse_in);
  aggregates.prolong(coarse::Aggregates::both(fine), c);
  result.prolonged.assign(static_cast<std::size_t>(n), none);
  for (const int parity : {0, 1}) transfer::store(result.prolonged, fine.of(parity));
  coarse::CoarseOperator operation(matrices, n);
  for (const int parity : {0, 1}) operation.times_m(image.of(parity), c, 1);
  result.image = stored(image);
  matrices.eliminate();
  for (const int parity : {0, 1}) operation.times_m(half.of(parity), c, 1);
  result.again = stored(half);
  for (const int parity : {0, 1}) blas::submit<blas::Fill>({&half.of(parity)}, {0.0});
  operation.apply(half.odd, c.odd, {}, false, {});
  result.schur = stored(half);
  if (precision == Precision::single) {
    matrices.narrow();
    coarse::CoarseOperator narrow(matrices, n, coarse::CoarseOperator::Stored::narrow);
    const FullField by_narrow = aggregates.coarse_field(n);
    for (const int parity : {0, 1}) narrow.times_m(by_narrow.of(parity), c, 1);
    result.narrow = stored(by_narrow);
  }
  const FullField solved = aggregates.coarse_field(n);
  blas::submit<blas::Fill>({&solved.even}, {0.0});
  const coarse::DenseInverse inverse(matrices);
  coarse::DenseSolver(inverse, n).apply(solved.odd, half.odd, {});
  result.solved = stored(solved);
  operation.prepare(half.odd, image);
  result.prepared = stored(half);
  blas::submit<blas::Scale>({&half.odd, &c.odd}, {1.0});
  result.odd = stored(half);
  operation.reconstruct(half.even, image, c.odd);
  result.reconstructed = stored(half);
  for (const int parity : {0, 1}) transfer::load(fine.of(parity), fine_in);
  coarse::Restriction restriction(aggregates, n);
  restriction.apply(image, coarse::Aggregates::both(fine));
  result.restricted = stored(image);
  restriction.apply(image, {nullptr, &fine.odd});
  result.restricted_odd = stored(image);
  const FullField triangle = aggregates.coarse_field(at_once);
  coarse::Restriction of_null_vectors(aggregates, at_once);
  for (std::size_t part = 0; part < before.size(); ++part) {
    of_null_vectors.null_vectors(triangle, before[part], static_cast<int>(part));
    const std::vector<CoarseVector> of_part = stored(triangle);
    result.of_null_vectors.insert(result.of_null_vectors.end(), of_part.begin(), of_part.end());
  }
  session.wait_all();
  return result;
}

void check_against_reference(const Problem& problem, const Coord& blocks, Precision precision) {
  const reference::CoarseSpace space(problem.noise, problem.aggregate);
  const std::size_t numbers = problem.coarse_numbers();
  const std::vector<CoarseVector> c{random_coarse(numbers, seed + 100), random_coarse(numbers, seed + 101),
                                    random_coarse(numbers, seed + 102)};
  std::vector<reference::Field> fine;
  std::vector<HostField> host;
  for (std::uint64_t v = 0; v < c.size(); ++v) {
    fine.push_back(reference::random_field(problem.lattice, 4, seed + 200 + v));
    host.push_back(battery::to_host(fine.back()));
  }
  const auto d = [&](const reference::Field& psi) { return problem.product(psi); };
  const Computed computed = compute(problem, blocks, precision, c, host);
  const double rounding = precision == Precision::double_ ? 2e-13 : 2e-4;
  for (std::size_t j = 0; j < computed.null_vectors.size(); ++j) {
    CHECK(reference::max_difference(battery::to_reference(computed.null_vectors[j]), space.null_vectors()[j]) < rounding);
    CHECK(difference(computed.of_null_vectors[j], space.restrict(problem.noise[j])) < rounding);
  }
  for (std::size_t v = 0; v < c.size(); ++v) {
    CHECK(reference::max_difference(battery::to_reference(computed.prolonged[v]), space.prolong(c[v])) < rounding);
    CHECK(difference(computed.restricted[v], space.restrict(fine[v])) < rounding);
    CHECK(difference(computed.restricted_odd[v], space.restrict(reference::restrict_to_parity(fine[v], 1))) < rounding);
    CHECK(difference(computed.image[v], space.galerkin(d, c[v])) < rounding);
    // Each number of a matrix is rounded to 11 bits.
    if (precision == Precision::single) {
      CHECK(difference(computed.narrow[v], space.galerkin(d, c[v])) < 1e-2);
      CHECK(difference(computed.narrow[v], computed.again[v]) > 1e-5);
    }
    // Of the even-odd system: what D_c x = b says of x and b.
    CHECK(difference(computed.again[v], computed.image[v]) < 100 * rounding);
    CHECK(difference(computed.schur[v], computed.prepared[v]) < 100 * rounding);
    CHECK(difference(computed.reconstructed[v], c[v]) < 100 * rounding);
    CHECK(difference(computed.solved[v], computed.odd[v]) < 100 * rounding);
    CHECK(difference(space.restrict(space.prolong(c[v])), c[v]) < 1e-13);
  }
}

}  // namespace

TEST_CASE("P, R and D_c equal the dense reference on random and unit links") {
  MESSAGE("seed " << seed);
  for (const Precision precision : {Precision::double_, Precision::single}) {
    const Coord lattice{4, 4, 4, 4}, aggregate{2, 2, 2, 2};
    check_against_reference(problem_of(lattice, aggregate, reference::random_gauge(lattice, seed)), {1, 1, 1, 1}, precision);
    check_against_reference(problem_of(lattice, aggregate, reference::unit_gauge(lattice)), {1, 1, 1, 2}, precision);
    const HostGauge random = reference::random_gauge(lattice, seed);
    check_against_reference(problem_of(lattice, aggregate, random, {.csw = 1.3}), {1, 1, 2, 2}, precision);
    check_against_reference(problem_of(lattice, aggregate, random, {.mu = 0.3}, {0.3, 0, 0.5, 1}), {1, 1, 1, 2}, precision);
    check_against_reference(problem_of(lattice, aggregate, random, {.csw = 1.3, .mu = -0.2}), {1, 1, 1, 1}, precision);
    for (const int reals : {12, 8}) {
      Problem compressed = problem_of(lattice, aggregate, random);
      compressed.link_reals = reals;
      check_against_reference(compressed, {1, 1, 1, 2}, precision);
    }
    const Coord odd{8, 4, 6, 12};
    check_against_reference(problem_of(odd, {4, 2, 3, 3}, reference::random_gauge(odd, seed)), {1, 1, 1, 1}, precision);
    // More null vectors than a field holds.
    check_against_reference(problem_of(lattice, aggregate, random, {}, antiperiodic_in_time, 40), {1, 1, 1, 1}, precision);
    check_against_reference(problem_of(lattice, aggregate, random, {.csw = 1.3}, antiperiodic_in_time, 64), {1, 1, 1, 2}, precision);
  }
}

TEST_CASE("D_c is gamma_5-hermitian: sigma_3 D_c sigma_3 = D_c^+, and with a twisted mass that of the opposite one") {
  MESSAGE("seed " << seed + 500);
  const Coord lattice{8, 4, 4, 8}, aggregate{2, 2, 2, 2};
  const HostGauge gauge = reference::random_gauge(lattice, seed + 500);
  const std::size_t numbers = problem_of(lattice, aggregate, gauge).coarse_numbers();
  const std::vector<CoarseVector> c{random_coarse(numbers, seed + 501), random_coarse(numbers, seed + 502)};
  const std::vector<HostField> fine(2, HostField(spinor_components, lattice));
  for (const Precision precision : {Precision::double_, Precision::single})
    for (const clover::Parameters& term : {clover::Parameters{}, {.csw = 1.3}, {.mu = 0.3}, {.csw = 1.3, .mu = 0.3}}) {
      clover::Parameters opposite = term;
      opposite.mu = -term.mu;
      const auto images = [&](const clover::Parameters& of) {
        return compute(problem_of(lattice, aggregate, gauge, of, {0.3, 0, 0.5, 1}), {1, 1, 1, 2}, precision, c, fine).image;
      };
      const std::vector<CoarseVector> image = images(term), of_opposite = term.mu == 0 ? image : images(opposite);
      // <a, sigma_3 D_c b> = <sigma_3 D_c' a, b>, for two vectors and for each with itself.
      const auto difference_to = [&](const std::vector<CoarseVector>& other) {
        double most = 0;
        for (const std::size_t a : {0, 1})
          for (const std::size_t b : {0, 1}) {
            const std::complex<double> left = inner(by_chirality(c[a]), image[b]), right = inner(by_chirality(other[a]), c[b]);
            most = std::max(most, std::abs(left - right) / (size_of(c[a]) * size_of(image[b])));
          }
        return most;
      };
      const double most = difference_to(of_opposite);
      MESSAGE(name_of(precision) << " csw " << term.csw << " mu " << term.mu << ": " << most);
      CHECK(most < (precision == Precision::double_ ? 1e-14 : 1e-6));
      if (term.mu != 0) CHECK(difference_to(image) > 1e-2);
    }
}

namespace {

void check_bits(const Problem& problem, const std::vector<Coord>& cuts) {
  constexpr std::size_t n = 5;
  std::vector<CoarseVector> c;
  std::vector<HostField> fine;
  for (std::uint64_t v = 0; v < n; ++v) {
    c.push_back(random_coarse(problem.coarse_numbers(), seed + 300 + v));
    fine.push_back(battery::to_host(reference::random_field(problem.lattice, 4, seed + 400 + v)));
  }
  for (const Precision precision : {Precision::double_, Precision::single}) {
    const Computed expected = compute(problem, {1, 1, 1, 1}, precision, c, fine);
    const auto check = [&](const Computed& computed, std::size_t first) {
      for (std::size_t j = 0; j < computed.null_vectors.size(); ++j) {
        CHECK(battery::same_bits(computed.null_vectors[j], expected.null_vectors[j]));
        CHECK(same_numbers(computed.of_null_vectors[j], expected.of_null_vectors[j]));
      }
      for (std::size_t v = 0; v < computed.image.size(); ++v) {
        CHECK(battery::same_bits(computed.prolonged[v], expected.prolonged[first + v]));
        CHECK(same_numbers(computed.restricted[v], expected.restricted[first + v]));
        CHECK(same_numbers(computed.restricted_odd[v], expected.restricted_odd[first + v]));
        CHECK(same_numbers(computed.image[v], expected.image[first + v]));
        CHECK(same_numbers(computed.again[v], expected.again[first + v]));
        CHECK(same_numbers(computed.schur[v], expected.schur[first + v]));
        CHECK(same_numbers(computed.solved[v], expected.solved[first + v]));
        CHECK(same_numbers(computed.reconstructed[v], expected.reconstructed[first + v]));
        if (!computed.narrow.empty()) CHECK(same_numbers(computed.narrow[v], expected.narrow[first + v]));
      }
    };
    check(compute(problem, {1, 1, 1, 1}, precision, {c[3]}, {fine[3]}), 3);
    for (const Coord& blocks : cuts) {
      check(compute(problem, blocks, precision, c, fine), 0);
      check(compute(problem, blocks, precision, c, fine, "dmdas"), 0);
      for (const char* policy : {"static", "dmdas"})
        check(compute(problem, blocks, precision, c, fine, policy, coarse::NextLevel::whole), 0);
    }
    battery::for_architectures([&] { check(compute(problem, {1, 1, 1, 2}, precision, c, fine), 0); });
  }
}

}  // namespace

TEST_CASE("P, R and D_c have the same bits for every cut, policy, architecture and number of vectors") {
  const Coord lattice{8, 4, 4, 8}, small{4, 4, 4, 4};
  check_bits(problem_of(lattice, {2, 2, 2, 2}, reference::random_gauge(lattice, seed)), {{1, 1, 1, 2}, {2, 1, 2, 2}, {1, 2, 1, 4}});
  check_bits(problem_of(small, {2, 2, 2, 2}, reference::random_gauge(small, seed), {}, antiperiodic_in_time, 48), {{1, 1, 2, 2}});
}

TEST_CASE("aggregates that do not fit are refused by name") {
  const runtime::Decomposition whole({8, 8, 8, 8}, {1, 1, 1, 1}, 1), cut({8, 8, 8, 8}, {1, 1, 1, 4}, 4);
  const auto refused = [](const runtime::Decomposition& decomposition, const Coord& aggregate, int count) {
    try {
      coarse::require_aggregates(decomposition, aggregate, count);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::input);
      return error.parameter();
    }
    return std::string();
  };
  CHECK(refused(whole, {4, 4, 4, 4}, 24).empty());
  CHECK(refused(whole, {3, 4, 4, 4}, 24) == "aggregate");
  CHECK(refused(whole, {8, 4, 4, 4}, 24) == "aggregate");
  CHECK(refused(whole, {4, 4, 1, 4}, 24) == "aggregate");
  CHECK(refused(whole, {4, 4, -4, 4}, 24) == "aggregate");
  CHECK(refused(cut, {4, 4, 4, 4}, 24) == "aggregate");
  CHECK(refused(cut, {4, 4, 4, 2}, 24).empty());
  for (const int count : {-4, 0, 6, 36}) CHECK(refused(whole, {4, 4, 4, 4}, count) == "null-vectors");
  CHECK(refused(whole, {2, 2, 2, 2}, 32).empty());
  reference::Random random(seed);
  for (int i = 0; i < 500; ++i) {  // no other error comes of any numbers
    Coord aggregate{};
    for (int& extent : aggregate) extent = static_cast<int>(random.uniform() * 14) - 4;
    const std::string parameter = refused(i % 2 == 0 ? whole : cut, aggregate, static_cast<int>(random.uniform() * 60) - 20);
    CHECK((parameter.empty() || parameter == "aggregate" || parameter == "null-vectors"));
  }
}

TEST_CASE("the dense inverse is made in panels with the bits of an elimination pivot by pivot") {
  using Complex = std::complex<double>;
  const auto plain = [](std::vector<Complex>& a, std::size_t n) {
    std::vector<std::size_t> pivots(n);
    const auto times = [](Complex x, Complex y) {
      return Complex{x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
    };
    for (std::size_t k = 0; k < n; ++k) {
      const auto size = [&](std::size_t row) { return std::abs(a[row * n + k].real()) + std::abs(a[row * n + k].imag()); };
      std::size_t pivot = k;
      for (std::size_t row = k + 1; row < n; ++row)
        if (size(row) > size(pivot)) pivot = row;
      pivots[k] = pivot;
      for (std::size_t j = 0; j < n && pivot != k; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
      const Complex z = a[k * n + k];
      const double norm2 = z.real() * z.real() + z.imag() * z.imag();
      a[k * n + k] = 1;
      for (std::size_t j = 0; j < n; ++j) a[k * n + j] = times(a[k * n + j], {z.real() / norm2, -(z.imag() / norm2)});
      for (std::size_t row = 0; row < n; ++row) {
        if (row == k) continue;
        const Complex factor = a[row * n + k];
        a[row * n + k] = 0;
        for (std::size_t j = 0; j < n; ++j) {
          const Complex x = a[row * n + j], y = a[k * n + j];
          a[row * n + j] = {std::fma(factor.imag(), y.imag(), std::fma(-factor.real(), y.real(), x.real())),
                            std::fma(-factor.imag(), y.real(), std::fma(-factor.real(), y.imag(), x.imag()))};
        }
      }
    }
    for (std::size_t k = n; k-- > 0;)
      for (std::size_t row = 0; row < n && pivots[k] != k; ++row) std::swap(a[row * n + k], a[row * n + pivots[k]]);
  };
  runtime::Session session({.cpu_workers = 1, .threads_per_worker = 2, .cuda_workers = 0});
  for (const std::size_t n : {1, 7, 32, 33, 100, 192}) {
    INFO(n << " rows");
    const std::vector<Complex> matrix = random_coarse(n * n, seed + n);
    std::vector<Complex> by_panels = matrix, expected = matrix;
    coarse::invert(by_panels, n, session.cpu_team());
    plain(expected, n);
    CHECK(same_numbers(by_panels, expected));
    double off = 0;  // of 1
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        Complex sum = i == j ? -1 : 0;
        for (std::size_t k = 0; k < n; ++k) sum += matrix[i * n + k] * by_panels[k * n + j];
        off = std::max(off, std::abs(sum));
      }
    CHECK(off < 1e-9);
  }
  std::vector<Complex> singular(40 * 40, 1.0);
  coarse::invert(singular, 40, session.cpu_team());
  CHECK(!std::isfinite(singular.front().real()));
}

}  // namespace coarse_test
