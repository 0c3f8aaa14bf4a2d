#include "apps/run/null_vector_files.hpp"

#include "apps/run/checkpoint.hpp"
#include "apps/run/parse.hpp"
#include "runtime/mpi/job.hpp"
#include "solvers/multigrid/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

namespace quarkstar::app {
namespace {

constexpr std::string_view starts_key = "null vector starts";  ///< beside the action's settings, as no action has it
constexpr std::string_view file_name = "null-vector";

}  // namespace

std::vector<std::string> null_vector_starts(const RunConfig& config) {
  const auto found = config.settings.find(starts_key);
  return found == config.settings.end() ? std::vector<std::string>{} : split(std::get<std::string>(found->second), '\n');
}
void set_null_vector_starts(RunConfig& config, const std::vector<std::string>& folders) {
  if (!folders.empty()) config.settings.insert_or_assign(std::string(starts_key), fmt::format("{}", fmt::join(folders, "\n")));
}

NullVectorFiles null_vector_files(const RunConfig& config, const runtime::Decomposition& decomposition, const std::string& equation,
                                  std::optional<double> mass) {
  const MultigridSettings multigrid = *completed(config.solver, decomposition.lattice()).multigrid;
  const std::string of_mass = mass ? fmt::format("-{}", *mass) : "";
  // A dense inverse takes no steps, so their number is no part of the problem there.
  const std::string coarsest =
      has_dense_inverse(multigrid, decomposition.lattice()) ? "inverse" : fmt::format("{}", multigrid.coarse_steps);
  const std::string problem = fmt::format(
      "{} null vectors {}, aggregates {}, levels {}, steps in halves {} {} {} {}, polynomial smoothers with half the degree below, cycles "
      "{}, {}{}",
      equation, multigrid.null_vectors, fmt::join(multigrid.aggregate, ","), multigrid.levels, multigrid.setup_steps,
      multigrid.smoother_steps, multigrid.cycle_steps, coarsest, multigrid.setup_cycles, name_of(config.solver.precision), of_mass);
  const auto files = std::make_shared<const Checkpoint>(config.multigrid_setup, decomposition.lattice(), decomposition.part());
  const auto key = [problem, of_mass](std::size_t j) -> RestartKey {
    return {fmt::format("{}{:02}{}", file_name, j, of_mass), fmt::format("{} vector {}", problem, j)};
  };
  const auto load = [key](const Checkpoint& from, std::span<HostField> null_vectors, bool of_any) {
    for (std::size_t j = 0; j < null_vectors.size(); ++j)
      if (!from.load({key(j).name, of_any ? "" : key(j).problem}, null_vectors[j].data)) return false;
    return true;
  };
  const auto near = [load, folders = null_vector_starts(config), lattice = decomposition.lattice(),
                     part = decomposition.part()](std::span<HostField> null_vectors) {
    runtime::mpi::Job& job = runtime::mpi::Job::current();
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
      bool found = false;  // a folder that is not there is not made
      job.on_root([&] { found = std::filesystem::is_directory(folder); });
      return job.any(found) && load(Checkpoint(folder, lattice, part, Checkpoint::Access::read), null_vectors, true);
    });
  };
  return {[files, load, near](std::span<HostField> null_vectors) {
            using Loaded = NullVectorFiles::Loaded;
            return load(*files, null_vectors, false) ? Loaded::own : near(null_vectors) ? Loaded::near : Loaded::none;
          },
          [files, key](std::span<const HostField> null_vectors) {
            for (std::size_t j = 0; j < null_vectors.size(); ++j) files->save(key(j), null_vectors[j].data, 0);
          }};
}

void remove_null_vectors(const std::string& folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored))
    if (entry->path().filename().string().starts_with(file_name)) files.push_back(entry->path());
  for (const std::filesystem::path& file : files) std::filesystem::remove(file, ignored);
  std::filesystem::remove(folder, ignored);
}

}  // namespace quarkstar::app
