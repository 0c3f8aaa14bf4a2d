#include "apps/bench_submission.hpp"

#include <chrono>

#include "codelets/lattice/format/gauge_part.hpp"
#include "codelets/transfer/transfer.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/mpi/rank_grid.hpp"
#include "runtime/session.hpp"
#include "solvers/even_odd_wilson.hpp"
#include "solvers/krylov.hpp"

namespace quarkstar::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Ends a solve whose scalars, without kernels, never tell it to stop.
struct Enough {};

runtime::Decomposition cut(const Coord& part) {
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  const Coord grid = runtime::mpi::choose_rank_grid({1 << 10, 1 << 10, 1 << 10, 1 << 10}, job.size());
  Coord lattice{};
  for (int mu = 0; mu < 4; ++mu) lattice[mu] = part[mu] * grid[mu];
  return {lattice, runtime::RankGrid{grid, job.rank(), {}}, {1, 1, 1, 1}, 1};
}

HostGauge unit_links(const Box& box) {
  HostGauge gauge{box.extents, std::vector<double>(static_cast<std::size_t>(volume(box.extents)) * HostGauge::reals_per_site), box.origin};
  for (std::size_t link = 0; link < gauge.data.size(); link += 18)
    for (const std::size_t diagonal : {0, 8, 16}) gauge.data[link + diagonal] = 1;
  return gauge;
}

}  // namespace

SubmissionTiming time_submission(const Coord& part, int batches) {
  runtime::Session& session = runtime::Session::current();
  const Clock::time_point start = Clock::now();
  const runtime::Decomposition decomposition = cut(part);
  const auto lattice = std::make_shared<Lattice>(decomposition, Precision::double_, antiperiodic_in_time);
  LinkField even(lattice, 0, 18), odd(lattice, 1, 18);
  const HostGauge gauge = unit_links(format::box_with_border(decomposition));
  transfer::load_links(even, odd, gauge);
  wilson::Hopping hopping(even, odd);
  EvenOddWilson system(hopping, {}, Schur::asymmetric);
  const SpinorField x(lattice, EvenOddWilson::solved_parity), r(lattice, EvenOddWilson::solved_parity);
  const HostSpinor source(decomposition.part());
  transfer::load_spinor(r, source);
  session.wait_all();
  SubmissionTiming timing;
  timing.set_up_seconds = seconds_since(start);

  KrylovLimits limits;
  int seen = 0;
  Clock::time_point begin;
  runtime::Totals before, after;
  runtime::mpi::Messages::Totals sent_before, sent_after;
  const auto sent = [&] { return session.messages() != nullptr ? session.messages()->totals() : runtime::mpi::Messages::Totals{}; };
  const auto watch = [&](int, double) -> bool {
    if (seen == 1) {  // the first batch pays for what is made once
      begin = Clock::now();
      before = session.events().totals();
      sent_before = sent();
    }
    if (seen == batches + 1) {
      timing.microseconds = seconds_since(begin) * 1e6 / (batches * limits.check_every);
      after = session.events().totals();
      sent_after = sent();
      throw Enough{};
    }
    ++seen;
    return true;
  };
  try {
    bicgstab(system, x, r, limits, watch);
  } catch (const Enough&) {
    session.wait_all();
  }
  const double iterations = batches * limits.check_every;
  timing.tasks = static_cast<double>(after.submitted - before.submitted) / iterations;
  timing.messages = static_cast<double>(sent_after.messages - sent_before.messages) / iterations;
  timing.sums = static_cast<double>(sent_after.sums - sent_before.sums) / iterations;
  return timing;
}

}  // namespace quarkstar::app
