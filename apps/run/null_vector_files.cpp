#include "apps/run/null_vector_files.hpp"

#include "apps/run/checkpoint.hpp"
#include "solvers/multigrid/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace quarkstar::app {

NullVectorFiles null_vector_files(const RunConfig& config, const runtime::Decomposition& decomposition, const std::string& equation,
                                  std::optional<double> mass) {
  const MultigridSettings multigrid = *completed(config.solver, decomposition.lattice()).multigrid;
  const std::string of_mass = mass ? fmt::format("-{}", *mass) : "";
  const std::string problem =
      fmt::format("{} null vectors {}, aggregates {}, levels {}, steps {} {} {} {}, cycles {}, {}{}", equation, multigrid.null_vectors,
                  fmt::join(multigrid.aggregate, ","), multigrid.levels, multigrid.setup_steps, multigrid.smoother_steps,
                  multigrid.cycle_steps, multigrid.coarse_steps, multigrid.setup_cycles, name_of(config.solver.precision), of_mass);
  const auto files = std::make_shared<const Checkpoint>(config.multigrid_setup, decomposition.lattice(), decomposition.part());
  const auto key = [problem, of_mass](std::size_t j) -> RestartKey {
    return {fmt::format("null-vector{:02}{}", j, of_mass), fmt::format("{} vector {}", problem, j)};
  };
  return {[files, key](std::span<HostField> null_vectors) {
            for (std::size_t j = 0; j < null_vectors.size(); ++j)
              if (!files->load(key(j), null_vectors[j].data)) return false;
            return true;
          },
          [files, key](std::span<const HostField> null_vectors) {
            for (std::size_t j = 0; j < null_vectors.size(); ++j) files->save(key(j), null_vectors[j].data, 0);
          }};
}

}  // namespace quarkstar::app
