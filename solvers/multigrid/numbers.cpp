// What a multigrid tells reports about itself.
#include "runtime/mpi/job.hpp"
#include "solvers/multigrid/multigrid.hpp"

#include <fmt/format.h>

namespace quarkstar {

double Multigrid::on_all_ranks_per_site(double flops) const {
  runtime::mpi::Job::current().combine(std::span<double>(&flops, 1), runtime::mpi::Combine::sum);
  return flops / static_cast<double>(volume(fine_.lattice()->decomposition().lattice()));
}

std::vector<std::pair<std::string, double>> Multigrid::numbers() const {
  std::vector<std::pair<std::string, double>> numbers{{"multigrid_levels", levels()},
                                                      {"multigrid_contraction", verification_.contraction},
                                                      {"multigrid_left_by_8_iterations", verification_.left},
                                                      {"multigrid_setup_cycles", cycles_},
                                                      {"multigrid_setup_seconds", setup_seconds_},
                                                      {"multigrid_setup_flops_per_site", on_all_ranks_per_site(setup_flops_)}};
  for (std::size_t level = 0; level < verification_.cycle_flops.size(); ++level)
    numbers.emplace_back(fmt::format("multigrid_cycle_flops_per_site_level_{}", level),
                         on_all_ranks_per_site(verification_.cycle_flops[level]));
  return numbers;
}

std::vector<MultigridLevel> Multigrid::level_reports() const {
  using Solver = MultigridLevel::Solver;
  std::vector<MultigridLevel> reports;
  for (std::size_t level = 0; level <= spaces_.size(); ++level) {
    const bool finest = level == 0, coarsest = level == spaces_.size();
    const LatticePointer& lattice = finest ? fine_.lattice() : spaces_[level - 1]->aggregates.coarse();
    MultigridLevel& of = reports.emplace_back();
    of.lattice = lattice->decomposition().lattice();
    of.components = finest ? spinor_components : spaces_[level - 1]->aggregates.components();
    of.null_vectors = coarsest ? 0 : settings_.null_vectors;
    of.solver = finest ? Solver::outer : !coarsest ? Solver::cycles : spaces_.back()->inverse ? Solver::inverse : Solver::gcr;
    of.steps = of.solver == Solver::cycles ? settings_.cycle_steps : of.solver == Solver::gcr ? settings_.coarse_steps : 1;
    if (level < verification_.cycle_seconds.size()) of.cycle_seconds = verification_.cycle_seconds[level];
  }
  return reports;
}

}  // namespace quarkstar
