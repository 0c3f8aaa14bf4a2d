// Columns in flight together of which one fails on one rank alone. On one process its error comes out; on several
// (tests/cli/ranks_in_flight.sh) the others, in the middle of other columns, cannot know of it, and the whole job ends with the name and
// the message of that rank.
#include "apps/run/turns_on_ranks.hpp"
#include "codelets/actions/wilson/action.hpp"
#include "runtime/mpi/job.hpp"
#include "tests/battery/solver_support.hpp"

#include <new>

namespace failing_rank_test {

using namespace quarkstar;

namespace {
constexpr std::uint64_t seed = 20261123;
}

TEST_CASE("a rank that lacks memory for a column ends those in flight") {
  MESSAGE("seed " << seed);
  constexpr Coord lattice{4, 4, 4, 12};
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  const runtime::Session session({.cpu_workers = 1, .threads_per_worker = 1, .cuda_workers = 0});
  const runtime::Decomposition decomposition(lattice, runtime::RankGrid{{1, 1, 1, job.size()}, job.rank(), {}}, {1, 1, 1, 1},
                                             session.block_owners());
  const HostGauge gauge = reference::near_unit_gauge(lattice, seed, 0.4);
  Solver solver(decomposition, wilson::Action(gauge, {0.12, {}, antiperiodic_in_time}), SolverSettings{});
  HostField source(spinor_components, decomposition.part());
  source.data.front() = 1;
  const auto solve = [&](int column) {
    if (column == 2 && job.rank() == job.size() - 1) throw std::bad_alloc();
    HostField solution(spinor_components, decomposition.part());
    CHECK(solver.solve(source, solution).converged());
  };
  CHECK_THROWS_AS(app::run_on_ranks(4, 2, solve), std::bad_alloc);
  CHECK_FALSE(job.is_distributed());  // of several ranks none goes on
}

}  // namespace failing_rank_test
