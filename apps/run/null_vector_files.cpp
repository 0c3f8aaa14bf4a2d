#include "apps/run/null_vector_files.hpp"

#include "apps/run/checkpoint.hpp"
#include "apps/run/parse.hpp"
#include "runtime/mpi/job.hpp"
#include "solvers/multigrid/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace quarkstar::app {
namespace {

constexpr std::string_view starts_key = "null vector starts";  ///< beside the action's settings, as no action has it
constexpr std::string_view file_name = "null-vector";
constexpr std::string_view mass_keys[] = {" kappa ", " mu "};  ///< of Wilson-type actions, as problems have them: key and number

/// A problem without what differs between masses of one action.
std::string without_masses(std::string problem) {
  for (const std::string_view key : mass_keys)
    if (const std::size_t at = problem.find(key); at != std::string::npos) problem.erase(at, problem.find(' ', at + key.size()) - at);
  return problem;
}

/// Whether two problems name the same masses, and differ in nothing but these.
bool differ_in_masses(const std::string& one, const std::string& other) {
  const auto named = [](const std::string& problem, std::string_view key) { return problem.find(key) != std::string::npos; };
  return one != other && std::ranges::all_of(mass_keys, [&](std::string_view key) { return named(one, key) == named(other, key); }) &&
         without_masses(one) == without_masses(other);
}

/// "kappa 0.14", "kappa 0.15 mu 0.1".
std::string masses_in(const std::string& problem) {
  std::string masses;
  for (const std::string_view key : mass_keys)
    if (const std::size_t at = problem.find(key); at != std::string::npos)
      masses += fmt::format("{}{}", key, std::strtod(problem.c_str() + at + key.size(), nullptr));  // problems have all 17 digits
  return masses.empty() ? "none is told" : masses.substr(1);
}

/// From comma and blank to comma and blank.
std::vector<std::string> clauses_of(const std::string& problem) {
  std::vector<std::string> clauses;
  for (const std::string& piece : split(problem, ',')) {
    if (clauses.empty() || piece.starts_with(' ')) clauses.push_back(clauses.empty() ? piece : piece.substr(1));
    else clauses.back() += "," + piece;
  }
  return clauses;
}

/// The clauses of a problem that another lacks.
std::string clauses_without(const std::string& problem, const std::string& other) {
  const std::vector<std::string> there = clauses_of(other);
  std::vector<std::string> lacking = clauses_of(problem);
  std::erase_if(lacking, [&](const std::string& clause) { return std::ranges::find(there, clause) != there.end(); });
  return lacking.empty() ? "nothing" : fmt::format("{}", fmt::join(lacking, ", "));
}

/// Of its folder.
const Checkpoint::Words words{"multigrid-setup", "remove the folder, or give another multigrid-setup"};

/// Those there are to be the operator's own, if there are some.
void require_same(const std::string& folder, const std::string& there, const std::string& own) {
  if (there.empty() || there == own) return;
  throw runtime::mpi::SharedError(ErrorKind::input, folder,
                                  fmt::format("these null vectors belong to another problem: they have {}, and here it is {}",
                                              clauses_without(there, own), clauses_without(own, there)),
                                  words.remedy);
}

}  // namespace

std::vector<std::string> null_vector_starts(const RunConfig& config) {
  const auto found = config.settings.find(starts_key);
  return found == config.settings.end() ? std::vector<std::string>{} : split(std::get<std::string>(found->second), '\n');
}
void set_null_vector_starts(RunConfig& config, const std::vector<std::string>& folders) {
  if (!folders.empty()) config.settings.insert_or_assign(std::string(starts_key), fmt::format("{}", fmt::join(folders, "\n")));
}

NullVectorFiles null_vector_files(const RunConfig& config, const runtime::Decomposition& decomposition, const NullVectorsOf& of,
                                  std::function<void(const std::string& where)> begun) {
  const MultigridSettings multigrid = *completed(config.solver, decomposition.lattice()).multigrid;
  const std::string of_mass = of.one_of_several ? fmt::format("-{}", of.mass) : "";
  // A dense inverse takes no steps, so their number is no part of the problem there.
  const std::string coarsest =
      has_dense_inverse(multigrid, decomposition.lattice()) ? "inverse" : fmt::format("{}", multigrid.coarse_steps);
  const std::string problem = fmt::format(
      "{} null vectors {}, aggregates {}, levels {}, filtered steps {} {} {} {}, polynomial smoothers with half the degree below, cycles "
      "{}, {}{}{}",
      of.equation, multigrid.null_vectors, fmt::join(multigrid.aggregate, ","), multigrid.levels, multigrid.setup_steps,
      multigrid.smoother_steps, multigrid.cycle_steps, coarsest, multigrid.setup_cycles, name_of(config.solver.precision),
      multigrid.half_matrices ? ", matrices in half precision" : "", of_mass);
  const std::string mass = config.action->names_masses ? fmt::format(" {} {}", config.action->mass_key, of.mass) : "";
  const auto files = std::make_shared<const Checkpoint>(config.multigrid_setup, decomposition.lattice(), decomposition.part(),
                                                        Checkpoint::Access::write, words);
  const std::string own = problem + mass;
  const auto number = [](std::size_t j) { return fmt::format(" vector {}", j); };
  const auto key = [own, of_mass, number](std::size_t j) -> RestartKey {
    return {fmt::format("{}{:02}{}", file_name, j, of_mass), own + number(j)};
  };
  // The problem of all n files; "" where they have several, or one is not there.
  const auto problem_there = [files, key, number](std::size_t n) {
    std::string there;
    for (std::size_t j = 0; j < n; ++j) {
      std::string one = files->problem_of(key(j).name, spinor_components).value_or("");
      if (!one.ends_with(number(j))) return std::string();
      one.resize(one.size() - number(j).size());
      if (j > 0 && one != there) return std::string();
      there = std::move(one);
    }
    return there;
  };
  const auto load = [key](const Checkpoint& from, std::span<HostField> null_vectors, bool of_any) {
    for (std::size_t j = 0; j < null_vectors.size(); ++j)
      if (!from.load({key(j).name, of_any ? "" : key(j).problem}, null_vectors[j].data)) return false;
    return true;
  };
  const std::vector<std::string> starts = null_vector_starts(config);
  const bool may_be_others = std::ranges::find(starts, config.multigrid_setup) != starts.end();
  const auto near = [load, folders = starts, lattice = decomposition.lattice(),
                     part = decomposition.part()](std::span<HostField> null_vectors) {
    runtime::mpi::Job& job = runtime::mpi::Job::current();
    const auto found = std::find_if(folders.begin(), folders.end(), [&](const std::string& folder) {
      bool is_there = false;  // a folder that is not there is not made
      job.on_root([&] { is_there = std::filesystem::is_directory(folder); });
      return job.any(is_there) && load(Checkpoint(folder, lattice, part, Checkpoint::Access::read, words), null_vectors, true);
    });
    return found != folders.end() ? *found : std::string();
  };
  const auto of_another_mass = std::make_shared<bool>(false);  // then the files stay what they are
  const auto tell = [begun = std::move(begun)](const std::string& where) {
    if (begun) begun(where);
    if (runtime::mpi::Job::current().is_root()) spdlog::info("multigrid's set-up begins with the null vectors {}", where);
    return NullVectorFiles::Loaded::near;
  };
  return {[=, folder = config.multigrid_setup](std::span<HostField> null_vectors) {
            const std::string there = problem_there(null_vectors.size());
            *of_another_mass = differ_in_masses(there, own);
            if (*of_another_mass && load(*files, null_vectors, true))
              return tell(fmt::format("in {} of another mass ({}, not {})", folder, masses_in(there), masses_in(own)));
            if (!may_be_others) require_same(folder, there, own);
            if ((there == own || !may_be_others) && load(*files, null_vectors, false)) return NullVectorFiles::Loaded::own;
            const std::string from = near(null_vectors);
            return from.empty() ? NullVectorFiles::Loaded::none : tell("in " + from);
          },
          [=](std::span<const HostField> null_vectors) {
            for (std::size_t j = 0; j < null_vectors.size() && !*of_another_mass; ++j) files->save(key(j), null_vectors[j].data, 0);
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
