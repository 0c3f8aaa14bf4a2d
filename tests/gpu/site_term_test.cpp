// Twisted mass and clover on a GPU, bit for bit against the CPU's: the term that is made, both Schur complements, their adjoints.
#include "codelets/actions/clover/action.hpp"
#include "codelets/actions/clover/prepared_action.hpp"
#include "tests/battery/support.hpp"
#include "tests/gpu/support.hpp"

namespace site_term_test {

using namespace quarkstar;

namespace {

constexpr std::uint64_t seed = 27183;
constexpr PerVector kappas = same_for_all(0.12);

struct TermCase {
  const char* name;
  double mu, csw;
  std::unique_ptr<Action> action(const HostGauge& gauge) const {
    return std::make_unique<clover::Action>(gauge, WilsonParameters{.kappa = kappas[0]}, clover::Parameters{csw, mu});
  }
};

/// Mh psi_v for all v together, and log det of the odd sites where it is kept, from a session's own making of the term.
struct Images {
  std::vector<HostField> fields;
  double log_det = 0;
};
Images images(const TermCase& t, const HostGauge& gauge, std::span<const HostField> psi, const battery::HoppingCase& c, Schur schur,
              bool adjoint, int vectors_in_lanes) {
  const runtime::Decomposition decomposition(c.lattice, c.blocks, runtime::Session::current().block_owners());
  const std::unique_ptr<Action> action = t.action(gauge);
  const auto prepared = action->in_precision(
      decomposition,
      {c.precision, c.link_reals, schur, {}, {.most_lanes = c.most_lanes, .vectors_in_lanes = vectors_in_lanes, .measure = false}});
  const auto m = prepared->system(static_cast<int>(psi.size()), kappas);
  const Field in = m->field(), out = m->field();
  transfer::load(in, psi);
  m->apply(out, in, {}, adjoint, {});
  Images made{std::vector<HostField>(psi.size(), HostField(spinor_components, c.lattice))};
  transfer::store(made.fields, out);
  runtime::Session::current().wait_all();
  if (t.csw != 0) made.log_det = static_cast<const clover::PreparedAction&>(*prepared).matrices().log_det(0);
  return made;
}

}  // namespace

TEST_CASE("twisted mass and clover on a GPU have the CPU's bits") {
  QUARKSTAR_NEEDS_GPU("gpu site terms");
  MESSAGE("seed " << seed);
  struct Subject {
    Coord lattice;
    std::size_t n;
    int reals;
  };
  for (const Subject& subject : {Subject{{8, 8, 8, 8}, 1, 12}, Subject{{8, 8, 8, 8}, 8, 12}, Subject{{8, 4, 6, 4}, 3, 18}}) {
    const HostGauge gauge = reference::near_unit_gauge(subject.lattice, seed, 0.3);
    std::vector<HostField> psi;
    for (std::size_t v = 0; v < subject.n; ++v) psi.push_back(battery::to_host(reference::random_field(subject.lattice, 4, seed + 1 + v)));
    const auto for_operators = [&](auto&& body) {
      for (const TermCase& t : {TermCase{"twisted mass", 0.2, 0}, TermCase{"clover", 0, 1.3}, TermCase{"twisted clover", 0.3, 1.1}})
        for (const Precision precision : {Precision::double_, Precision::single, Precision::half})
          for (const Schur schur : {Schur::asymmetric, Schur::symmetric})
            for (const bool adjoint : {false, true}) body(t, precision, schur, adjoint);
    };
    std::vector<Images> expected;
    {
      runtime::Session cpu({.cpu_workers = 1, .cuda_workers = 0});
      for_operators([&](const TermCase& t, Precision precision, Schur schur, bool adjoint) {
        expected.push_back(images(t, gauge, psi, {subject.lattice, {1, 1, 1, 1}, precision, subject.reals, 16}, schur, adjoint, 1));
      });
    }
    runtime::Session gpu({.cuda_workers = 1});
    std::size_t at = 0;
    for_operators([&](const TermCase& t, Precision precision, Schur schur, bool adjoint) {
      const int in_lanes = subject.n == 8 && precision != Precision::half ? 8 : 1;
      for (const Coord& blocks : {Coord{1, 1, 1, 1}, Coord{1, 2, 2, 1}})
        for (const auto& [most_lanes, together] : std::vector<std::array<int, 2>>{{16, 1}, {1, 1}, {16, in_lanes}}) {
          const battery::HoppingCase c{subject.lattice, blocks, precision, subject.reals, most_lanes};
          INFO(std::string(t.name) << ", n " << subject.n << std::string(schur == Schur::symmetric ? ", symmetric" : ", asymmetric")
                                   << std::string(adjoint ? ", adjoint, " : ", ") << c.text() << ", vectors in lanes " << together);
          const Images made = images(t, gauge, psi, c, schur, adjoint, together);
          for (std::size_t v = 0; v < subject.n; ++v) CHECK(battery::same_bits(made.fields[v], expected[at].fields[v]));
          CHECK(made.log_det == expected[at].log_det);
        }
      ++at;
    });
  }
}

}  // namespace site_term_test
