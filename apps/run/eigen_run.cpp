#include "apps/run/eigen_run.hpp"

#include "apps/run/check_action.hpp"
#include "apps/run/eigen_file.hpp"
#include "apps/run/link_loader.hpp"
#include "apps/run/measure_power.hpp"
#include "apps/run/outputs.hpp"
#include "apps/run/rank_plan.hpp"
#include "apps/run/run.hpp"
#include "apps/run/shared_settings.hpp"
#include "apps/run/solve_plan.hpp"
#include "codelets/field/transfer.hpp"
#include "runtime/graph/graph_failure.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/atomic_file.hpp"
#include "runtime/system/clock.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/watchdog.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

namespace quarkstar::app {
namespace {

/// LanczosState as numbers of a file.
std::vector<double> numbers_of(const LanczosState& s) {
  std::vector<double> numbers{s.window.low,
                              s.window.high,
                              static_cast<double>(s.degree),
                              static_cast<double>(s.restarts),
                              static_cast<double>(s.locked),
                              static_cast<double>(s.applications),
                              static_cast<double>(s.drawn),
                              s.caution};
  numbers.insert(numbers.end(), s.theta.begin(), s.theta.end());
  return numbers;
}
LanczosState state_of(const std::vector<double>& n) {
  LanczosState s;
  s.window = {n.at(0), n.at(1)};
  s.degree = static_cast<int>(n.at(2));
  s.restarts = static_cast<int>(n.at(3));
  s.locked = static_cast<int>(n.at(4));
  s.applications = static_cast<std::int64_t>(n.at(5));
  s.drawn = static_cast<std::uint64_t>(n.at(6));
  s.caution = n.at(7);
  s.theta.assign(n.begin() + 8, n.end());
  return s;
}

std::vector<HostField> on_host(const Field& field) {
  const runtime::Settled settled;
  std::vector<HostField> vectors(static_cast<std::size_t>(field.site_vectors()),
                                 HostField(field.components(), field.lattice()->decomposition().part()));
  transfer::store(vectors, field);
  runtime::Session::current().wait_all();
  return vectors;
}

/// The first `count` vectors of a field, as they are stored.
std::vector<StoredVector> stored_vectors(const Field& field, int count, Precision stored) {
  const std::vector<HostField> block = on_host(field);
  std::vector<StoredVector> vectors;
  for (int v = 0; v < count; ++v) vectors.push_back(compact(block, v, field.vectors(), field.parity(), stored));
  return vectors;
}

/// The file of a solve that has not ended.
class RestartFile {
 public:
  RestartFile(std::string path, EigenHeader header, const Box& part) : path_(std::move(path)), header_(std::move(header)), part_(part) {}

  bool load(LanczosState& state, Basis& basis, const Field& next) const {
    runtime::mpi::Job& job = runtime::mpi::Job::current();
    bool found = false;
    job.on_root([&] { found = std::filesystem::exists(path_); });
    if (!job.any(found)) return false;
    const EigenFile file(path_, "remove it to begin anew");
    file.require_problem(header_.problem, header_.lattice);
    job.together([&] {
      if (file.header().state.size() < 8 || file.vectors() % basis.block() != 0)
        throw Error(ErrorKind::input, path_, "it is no restart file", "remove it to begin anew");
    });
    state = state_of(file.header().state);
    file.read(part_, basis.block(), [&](std::span<const HostField> vectors) {
      if (basis.count() < file.vectors() - basis.block()) {
        const Field block = basis.field();
        transfer::load(block, vectors);
        basis.append(block);
      } else {
        transfer::load(next, vectors);
      }
      runtime::Session::current().wait_all();
    });
    return true;
  }

  void save(const LanczosState& state, const Basis& basis, const Field& next) {
    header_.state = numbers_of(state);
    write_eigen_file(path_, header_, basis.count() + basis.block(), basis.block(), part_, [&](int first, int count) {
      if (first == basis.count()) return stored_vectors(next, count, header_.stored);
      const Field block = basis.field();
      basis.extract(block, first);
      return stored_vectors(block, count, header_.stored);
    });
  }

  void remove() const {
    runtime::mpi::Job::current().on_root([&] {
      std::error_code ignored;
      std::filesystem::remove(path_, ignored);
    });
  }

 private:
  std::string path_;
  EigenHeader header_;
  Box part_;
};

void write_json(const std::string& path, const EigenReport& report, const EigenRun& run) {
  nlohmann::ordered_json json;
  json["version"] = version_line();
  json["gauge"] = {{"file", report.run.gauge.path}, {"lattice", report.run.gauge.extents}};
  json["operator"] = report.problem;
  json["operator_name"] = name_of(run.target.of);
  json["end"] = name_of(run.target.end);
  json["decomposition"] = report.run.decomposition;
  json["modes"] = run.settings.modes;
  json["tolerance"] = run.settings.tolerance;
  json["store"] = name_of(run.store);
  json["block"] = run.settings.block;
  json["basis"] = basis_for(run.settings);
  json["basis_precision"] = name_of(run.settings.basis_precision);
  json["basis_memory"] = name_of(run.basis_memory);
  json["window"] = {report.result.state.window.low, report.result.state.window.high};
  json["degree"] = report.result.state.degree;
  json["restarts"] = report.result.state.restarts;
  json["applications"] = report.result.state.applications * run.settings.block;
  json["seconds"] = report.seconds;
  if (const auto& measured = report.break_even) {
    const auto row = [](const BreakEven::Solve& solve) {
      return nlohmann::ordered_json{{"iterations", solve.iterations}, {"seconds", solve.seconds}};
    };
    const std::optional<double> paid = measured->right_hand_sides(report.seconds_of_all);
    json["break_even"] = {{std::string(run.config.action->mass_key), report.mass},
                          {"tolerance", measured->tolerance},
                          {"without", row(measured->without)},
                          {"with", row(measured->with)},
                          {"right_hand_sides", paid ? nlohmann::ordered_json(*paid) : nullptr}};
  }
  json["eigenvalues"] = report.result.values;
  json["residuals"] = report.residuals;
  AtomicFile file(path);
  file.append(json.dump(2) + "\n");
  file.commit();
}

/// What the ranks of a job must agree in.
std::string settings_lines(const EigenRun& run) {
  const EigenSettings& s = run.settings;
  return shared_settings(run.config) + setting_line("--operator", name_of(run.target.of)) + setting_line("--end", name_of(run.target.end)) +
         setting_line("--modes", s.modes) + setting_line("--store", name_of(run.store)) +
         setting_line("--basis-precision", name_of(s.basis_precision)) + setting_line("--basis-memory", name_of(run.basis_memory)) +
         setting_line("--eigen-tol", s.tolerance) + setting_line("--block", s.block) + setting_line("--basis", s.basis) +
         setting_line("--degree", s.degree) + setting_line("--window-low", s.window.low) + setting_line("--window-high", s.window.high);
}

std::string restart_problem(const std::string& problem, const EigenSettings& s) {
  // Earlier versions know a basis in double precision alone.
  return fmt::format("{} modes {} tolerance {} block {} basis {} degree {} window {} {}{}", problem, s.modes, s.tolerance, s.block,
                     basis_for(s), s.degree, s.window.low, s.window.high,
                     s.basis_precision == Precision::double_ ? "" : fmt::format(" in {} precision", name_of(s.basis_precision)));
}

}  // namespace

EigenVectorsOf stored_modes(EigenHeader& header, const EigenResult& result, LinearOperator& a, const BlockLanczos& lanczos) {
  header.values = result.values;
  header.residuals = result.residuals;
  EigenVectorsOf of = [&lanczos, stored = header.stored](int first, int count) {
    const Field block = lanczos.field();
    lanczos.extract(block, first);
    return stored_vectors(block, count, stored);
  };
  const int modes = static_cast<int>(header.values.size()), block = a.vectors();
  for (int first = 0; first < modes && header.stored != Precision::double_; first += block) {
    const Field v = a.field(), image = a.field();
    const std::vector<StoredVector> stored = of(first, std::min(block, modes - first));  // it holds a block on all sites meanwhile
    std::vector<HostField> rounded(static_cast<std::size_t>(v.site_vectors()),
                                   HostField(a.components(), a.lattice()->decomposition().part()));
    const runtime::Settled settled;
    for (std::size_t i = 0; i < stored.size(); ++i) expand(rounded, static_cast<int>(i), block, stored[i], a.parity(), header.stored);
    transfer::load(v, rounded);
    a.apply(image, v, {}, false, {});
    PerVector lambda{};
    std::copy_n(header.values.begin() + first, stored.size(), lambda.begin());
    const std::vector<double> residuals = residuals_of(image, v, lambda);
    std::copy_n(residuals.begin(), stored.size(), header.residuals.begin() + first);
    runtime::Session::current().wait_all();
  }
  return of;
}

EigenOperator::EigenOperator(const Action& action, const runtime::Decomposition& decomposition, double mass, Schur schur,
                             const EigenSettings& settings, bool tune, EigenTarget target) {
  mass_ = mass;
  const int block = settings.block;
  ActionRequest request{Precision::double_, 18, schur, {}, {.vectors = block}};
  request.speed.measure = tune;
  action.check(decomposition, request);
  prepared_ = action.in_precision(decomposition, request);
  prepared_->set_resident(prepared_->link_bytes());
  prepared_->prepare(block);
  runtime::Session::current().wait_all();
  system_ = prepared_->system(block, same_for_all(mass));
  positive_ = of_ = system_.get();
  if (target.of == ModesOf::gamma5) {
    gamma5_ = std::make_unique<Gamma5Operator>(*system_);
    of_ = gamma5_.get();
    squared_ = std::make_unique<SquaredSystem>(*gamma5_);
    positive_ = squared_.get();
  } else if (!action.is_hermitian()) {
    squared_ = std::make_unique<SquaredSystem>(*system_);
    positive_ = of_ = squared_.get();
  }
  if (target.end == SpectrumEnd::highest) {
    reflected_ = std::make_unique<ReflectedOperator>(*positive_, upper_end(*positive_, settings));
    positive_ = reflected_.get();
  }
}

std::optional<BreakEven> EigenOperator::break_even(const BlockLanczos& solved, const EigenResult& result, double mass,
                                                   const std::function<bool()>& goes_on) const {
  const std::unique_ptr<EvenOdd> one = prepared_->system(1, same_for_all(mass));
  std::unique_ptr<SquaredSystem> squared;
  if (squared_) squared = std::make_unique<SquaredSystem>(*one);
  const double shift = squared_ ? 0 : prepared_->shift_between(mass, mass_).value();
  const Eigen::ArrayXd inverse =
      (Eigen::Map<const Eigen::ArrayXd>(result.values.data(), static_cast<Eigen::Index>(result.values.size())) + shift).inverse();
  constexpr double tolerance = 1e-10;
  return measure_break_even(
      squared ? static_cast<LinearOperator&>(*squared) : *one,
      [&](const Field& x, const Field& b) { solved.combine(x, inverse.matrix().asDiagonal() * solved.products(b)); }, tolerance, goes_on);
}

BlockLanczos EigenOperator::lanczos(const EigenSettings& settings) const { return {*positive_, settings, of_}; }

EigenReport run_eigen(EigenRun run, RunWatch& watch, const std::function<void(const RunReport&)>& planned) {
  RunConfig& config = run.config;
  complete(config);
  config.solver.solver = solver_names(config.action->is_hermitian).front();
  config.solver.precision = Precision::double_;
  config.solver.link_reals = 18;
  config.propagators = false;
  config.islands = 1;  // all devices hold the basis together
  check_action(config);
  require_target(*config.action, config.settings, run.target);
  const int slices = config.action->slices(config.settings);
  check_storable(run.out, run.store, slices);
  check_block(run.settings.block, slices);
  run.settings.basis_in_host_memory = run.basis_memory == BasisMemory::host;
  count_basis(config, run.settings, run.target);
  set_host_vectors(config, slices * host_vectors_of_writing(is_scidac_name(run.out), run.settings.block, run.target.parities()));
  config.nrhs = run.settings.block;
  config.given.emplace_back("nrhs", "nrhs");  // bits depend on it: memory does not lower it
  if (config.gauge.empty() && !config.action->has_own_links(config.settings))
    throw Error(ErrorKind::input, Parameter("gauge"), "no gauge configuration given", "name a file");
  EigenReport report;
  report.run.config = config;
  describe_machine(report.run);
  runtime::mpi::Job& job = runtime::mpi::Job::current();
  job.watchdog().set_idle(std::chrono::seconds(config.session.watchdog_seconds));
  require_same_settings_everywhere(settings_lines(run));
  require_ranks(config.ranks, config.rank_weights, job.size());
  job.on_root([&] {
    std::vector<std::string> used = inputs_of(config);
    check_writable(run.out, used);
    used.push_back(run.out);
    check_writable(config.json, used);
    const std::filesystem::path out(run.out);  // of jobs that were killed while they wrote
    const std::string name = out.filename().string(), folder = out.parent_path().empty() ? "." : out.parent_path().string();
    remove_leftovers(folder, [&](std::string_view of) { return of == name || of == name + ".restart"; });
  });
  Coord lattice{};
  job.together([&] { lattice = read_extents(report.run); });
  config = report.run.config;
  job.together([&] { check_eigen(run.settings, dimension_of(*config.action, config.settings, lattice, run.target), slices); });

  runtime::Session session(session_options(config, lattice));
  provide_power(session);
  const PlannedSolve plan = plan_solve(session, config, lattice);
  let_cpus_join(session, plan);
  tell(session, plan, report.run);
  if (job.is_root() && planned) planned(report.run);
  job.together([&] { require_memory(report.run.memory); });
  const runtime::Decomposition& decomposition = plan.where.decomposition;
  LinkLoader links(config);
  ActionRun action = action_run(report.run);
  action.identify = true;
  const MakeOperator make = config.action->make_links(session, decomposition, std::ref(links), action);
  report.run.gauge = action.gauge;
  const std::vector<std::size_t> masses{0};
  const RunOperator made = make(masses);
  const EigenProblem problem = eigen_problem(*config.action, made, config.masses().front(), config.solver.schur, run.target);
  report.problem = problem.text;

  const EigenOperator operation(*made.action, decomposition, problem.mass, config.solver.schur, run.settings, config.solver.tune,
                                run.target);
  LinearOperator& a = *operation;

  BlockLanczos lanczos = operation.lanczos(run.settings);
  EigenHeader header{problem.text, lattice, a.components(), a.parity(), {}, {}, {}, Precision::double_, slices};
  EigenHeader unfinished = header;
  unfinished.problem = restart_problem(problem.text, run.settings);
  RestartFile restart(run.out + ".restart", unfinished, decomposition.part());
  const std::unique_ptr<RunProgress> bar = watch.progress("eigenvectors", 1);
  const double start = runtime::now_us();
  bool stopped = false, has_restart = false;
  std::int64_t done_before = 0;
  double saved_at = start, save_seconds = 0;  // the last restart file, and how long it took
  report.result = lanczos.solve(
      [&](const LanczosState& state, int converged) {
        session.events().reset();  // only traces need them
        bar->update(0, static_cast<double>(converged) / run.settings.modes,
                    fmt::format("restart {}, {} of {} modes, {} locked", state.restarts, converged, run.settings.modes, state.locked));
        stopped = interrupted_anywhere(watch);
        return !stopped;
      },
      {.load =
           [&](LanczosState& state, Basis& basis, const Field& next) {
             has_restart = restart.load(state, basis, next);
             done_before = state.applications;
             return has_restart;
           },
       .save =
           [&](const LanczosState& state, const Basis& basis, const Field& next) {
             // A basis of a gigabyte takes seconds to write, which a GPU needs for several restarts.
             constexpr double part_of_time = 0.1;
             bool due = stopped;
             job.on_root([&] { due = due || save_seconds <= part_of_time * 1e-6 * (runtime::now_us() - saved_at); });
             if (!job.any(due)) return;
             const double begin = runtime::now_us();
             restart.save(state, basis, next);
             has_restart = true;
             saved_at = runtime::now_us();
             save_seconds = 1e-6 * (saved_at - begin);
           }});
  report.seconds = report.seconds_of_all = (runtime::now_us() - start) * 1e-6;
  const std::int64_t done = report.result.state.applications;
  if (done > done_before) report.seconds_of_all *= static_cast<double>(done) / static_cast<double>(done - done_before);
  if (stopped) throw Interrupted{has_restart ? run.out + ".restart" : ""};
  bar->step_done(0, fmt::format("{} modes, {} restarts, {} applications", run.settings.modes, report.result.state.restarts,
                                report.result.state.applications * run.settings.block));
  header.stored = run.store;
  const EigenVectorsOf modes = stored_modes(header, report.result, a, lanczos);
  report.residuals = header.residuals;
  write_eigen_file(run.out, header, run.settings.modes, run.settings.block, decomposition.part(), modes);
  restart.remove();
  if (run.target.of == ModesOf::even_odd && run.target.end == SpectrumEnd::lowest) {
    report.serves_solves = true;
    report.mass = config.masses().front();
    // Solves that take longer than finding the modes did tell nothing that one has to wait for.
    constexpr double least_patience = 10;
    const double begin = runtime::now_us(), patience = std::max(least_patience, report.seconds_of_all);
    report.break_even = operation.break_even(lanczos, report.result, report.mass,
                                             [&] { return !watch.interrupted() && 1e-6 * (runtime::now_us() - begin) < patience; });
  }
  const auto is_on_gpu = [&](int block) { return decomposition.block(block).owner < session.gpu_count(); };
  if (!job.any(std::ranges::any_of(decomposition.local(), is_on_gpu))) run.basis_memory = BasisMemory::host;  // CPUs have no other
  job.on_root([&] {
    if (!config.json.empty()) write_json(config.json, report, run);
  });
  return report;
}

}  // namespace quarkstar::app
