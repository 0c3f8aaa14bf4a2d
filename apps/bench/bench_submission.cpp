#include "apps/bench/bench_submission.hpp"

#include "codelets/actions/wilson/even_odd.hpp"
#include "codelets/field/transfer.hpp"
#include "codelets/io/gauge_part.hpp"
#include "runtime/backend.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/mpi/rank_grid.hpp"
#include "runtime/system/clock.hpp"
#include "solvers/krylov/krylov.hpp"

#include <ctime>

namespace quarkstar::app {
namespace {

/// Ends a solve whose scalars, without kernels, never tell it to stop.
struct Enough {};

/// What the clocks and the counters of this rank show.
struct Reading {
  double us = 0, real_us = 0, tasks = 0, messages = 0, sums = 0;

  Reading operator-(const Reading& other) const {
    return {us - other.us, real_us - other.real_us, tasks - other.tasks, messages - other.messages, sums - other.sums};
  }
};

Reading read() {
  runtime::Session& session = runtime::Session::current();
  const auto sent = session.messages() != nullptr ? session.messages()->totals() : runtime::mpi::Messages::Totals{};
  return {.us = runtime::now_us(),
          .real_us = 1e6 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC,
          .tasks = static_cast<double>(session.events().totals().submitted),
          .messages = static_cast<double>(sent.messages),
          .sums = static_cast<double>(sent.sums)};
}

runtime::Decomposition cut(const Coord& part) {
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  const Coord grid = runtime::mpi::choose_rank_grid({1 << 10, 1 << 10, 1 << 10, 1 << 10}, job.size());
  Coord lattice{};
  for (int mu = 0; mu < 4; ++mu) lattice[mu] = part[mu] * grid[mu];
  return {lattice, runtime::RankGrid{grid, job.rank(), {}}, {1, 1, 1, 1}, 1};
}

HostGauge unit_links(const Box& box) {
  HostGauge gauge{box.extents, HostReals(static_cast<std::size_t>(volume(box.extents)) * HostGauge::reals_per_site, 0.0), box.origin};
  for (std::size_t link = 0; link < gauge.data.size(); link += 18)
    for (const std::size_t diagonal : {0, 8, 16}) gauge.data[link + diagonal] = 1;
  return gauge;
}

}  // namespace

SubmissionTiming time_submission(const Coord& part, int batches) {
  runtime::Session& session = runtime::Session::current();
  const double start = runtime::now_us();
  const runtime::Decomposition decomposition = cut(part);
  const auto lattice = std::make_shared<Lattice>(decomposition, Precision::double_, antiperiodic_in_time);
  LinkField even(lattice, 0, 18), odd(lattice, 1, 18);
  const HostGauge gauge = unit_links(format::box_with_border(decomposition));
  transfer::load_links(even, odd, gauge);
  wilson::Hopping hopping(even, odd);
  wilson::EvenOdd system(hopping, same_for_all(WilsonParameters{}.kappa), WilsonParameters{}, Schur::asymmetric);
  const Field x = system.field(), r = system.field();
  const MakeRecurrence bicgstab = find_krylov_solver("bicgstab")->make;
  const HostField source(spinor_components, decomposition.part());
  transfer::load(r, source);
  session.wait_all();
  SubmissionTiming timing;
  timing.set_up_seconds = (runtime::now_us() - start) * 1e-6;

  KrylovLimits limits;
  limits.most_iterations.fill(1000);
  Reading taken;
  if constexpr (!runtime::backend::computes) {
    limits.check_every = 4;  // each iteration takes real time and memory on all ranks
    const auto solve = [&](int length) {
      limits.most_iterations.fill(length * limits.check_every);
      const Reading start = read();
      solve_by(bicgstab, system, x, r, limits, {});
      return read() - start;
    };
    solve(1);  // pays for what is made once, and its sums bring the ranks together
    const Reading begins_and_ends = solve(1);
    taken = solve(1 + batches) - begins_and_ends;
  } else {
    int seen = 0;
    Reading start;
    const auto watch = [&](int, const double*) -> bool {
      if (seen == 1) start = read();  // the first batch pays for what is made once
      if (seen == batches + 1) {
        taken = read() - start;
        throw Enough{};
      }
      ++seen;
      return true;
    };
    try {
      solve_by(bicgstab, system, x, r, limits, watch);
    } catch (const Enough&) {
      session.wait_all();
    }
  }
  const double iterations = batches * limits.check_every;
  timing.microseconds = taken.us / iterations;
  timing.real_microseconds = taken.real_us / iterations;
  timing.tasks = taken.tasks / iterations;
  timing.messages = taken.messages / iterations;
  timing.sums = taken.sums / iterations;
  return timing;
}

}  // namespace quarkstar::app
