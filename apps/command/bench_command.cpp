// quarkstar bench: speed as a ratio to bandwidth measured in the same run
#include "apps/bench/bench_options.hpp"
#include "apps/bench/bench_submission.hpp"
#include "apps/command/commands.hpp"
#include "apps/run/parse.hpp"
#include "codelets/actions/action_kind.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/simulate/simulate.hpp"
#include "solvers/solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace quarkstar::app {
namespace {

void run_stream(const BenchOptions& options) {
  const runtime::Session session(options.session);
  BenchMemory memory = measure_memory(options.array_megabytes, options.repetitions, session);
  measure_peak(memory, options.repetitions, session);
  if (options.json) {
    const nlohmann::ordered_json result = {{"machine", machine_facts(session)},
                                           {"stream", stream_json(memory)},
                                           {"owners_triad_gbs", memory.owners_triad},
                                           {"peak_gflops", peak_json(memory)}};
    fmt::print("{}\n", result.dump(2));
  } else {
    print_stream(memory);
    fmt::print("triad of the workers that own blocks: {:.1f} GB/s\n", memory.owners_triad);
  }
}

void run_submission(const BenchOptions& options) {
  const runtime::mpi::Job& job = runtime::mpi::Job::current();
  const runtime::Session session(options.session);
  const Coord part = options.lattices.empty() ? Coord{4, 4, 4, 4} : options.lattices.front();
  const SubmissionTiming t = time_submission(part, options.repetitions);
  const nlohmann::ordered_json row{{"rank", job.rank()}, {"ranks", job.size()},    {"part", part},   {"us_per_iteration", t.microseconds},
                                   {"tasks", t.tasks},   {"messages", t.messages}, {"sums", t.sums}, {"set_up_seconds", t.set_up_seconds}};
  if (options.json) fmt::print("{}\n", nlohmann::ordered_json{{"machine", machine_facts(session)}, {"submission", row}}.dump(2));
  else
    fmt::print("rank {} of {}: {:.1f} us, {:.1f} tasks, {:.1f} messages, {:.1f} sums an iteration; set-up {:.3f} s\n", job.rank(),
               job.size(), t.microseconds, t.tasks, t.messages, t.sums, t.set_up_seconds);
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Measure kernels and solvers against the memory bandwidth of the same run");
  bench->require_subcommand(1);
  const auto options = std::make_shared<BenchOptions>();
  const auto add = [&](const char* name, const char* help, void (*run)(const BenchOptions&)) {
    CLI::App* command = bench->add_subcommand(name, help);
    command->add_flag("--json", options->json, "Print JSON");
    command->add_option("--repetitions", options->repetitions, "Timed passes; the best and the median are printed")
        ->check(CLI::Range(1, 1000));
    command->add_option("--array-mb", options->array_megabytes, "Size of each stream array in MB")->check(CLI::Range(1.0, 1e6));
    add_session_flags(*command, options->session);
    command->callback([options, run] { run(*options); });
    return command;
  };
  add("stream", "Memory bandwidth: triad, copy, read", run_stream);
  if constexpr (runtime::simulate::active) {
    CLI::App* replay =
        add("replay", "A task graph that `solve --graph FILE.json` wrote, on this machine and under any policy", run_bench_replay);
    replay->add_option("GRAPH.json", options->graph, "The graph")->required();
    replay->add_option("--groups", options->groups, "So many copies of it side by side, which share what nobody writes")
        ->check(CLI::Range(1, 1000));
    replay->add_option("--volume", options->volume, "On a lattice of so many times as many sites")->check(at_least(1));
  }
  const auto take_lattices = [options](const std::vector<std::string>& values) {
    for (const std::string& value : values) options->lattices.push_back(coord_of_flag("--lattice", value, 2));
  };
  add("submission", "What an iteration costs one rank besides its kernels (docs/howto/cluster.md)", run_submission)
      ->add_option_function<std::vector<std::string>>("--lattice", take_lattices, "Sites of each rank (default 4,4,4,4)")
      ->type_name("X,Y,Z,T");
  CLI::App* blas = add("blas", "Vector operations of the solvers: GFLOP/s, GB/s, fraction of the roofline", run_bench_blas);
  blas->add_option_function<std::vector<std::string>>("--lattice", take_lattices, "Extents, one lattice or several")->type_name("X,Y,Z,T");
  add_precision_flag(*blas, options);
  add_action_flags(*blas, options);
  CLI::App* dslash = add("dslash", "Wilson or staggered Dslash: GFLOP/s, GB/s, fraction of the roofline", run_bench_dslash);
  add_case_flags(*dslash, options);
  add_action_flags(*dslash, options);
  add_layout_flags(*dslash, options);
  dslash
      ->add_option(
          "--lanes", options->lanes,
          "At most so many lanes in the layout: 16 or 8, in double precision 8 or 4 (default: a line, on AVX2 without GPUs a register)")
      ->check(CLI::IsMember({4, 8, 16}));
  CLI::App* solver = add("solver", "Krylov solvers: microseconds per iteration, and where they go", run_bench_solver);
  add_case_flags(*solver, options);
  add_action_flags(*solver, options);
  add_layout_flags(*solver, options);
  solver->add_option("--solver", options->solvers,
                     fmt::format("Wilson: {}, multigrid, twisted mass multishift too; staggered: {}", fmt::join(solver_names(false), ", "),
                                 fmt::join(solver_names(true), ", ")));
  CLI::App* multigrid = add("multigrid", "Time and flops of every level and step of multigrid's set-up and cycle", run_bench_multigrid);
  add_case_flags(*multigrid, options);
  add_action_flags(*multigrid, options);
  for (const char* key : {"aggregate", "levels", "null-vectors", "smoother-steps", "cycle-steps", "coarse-steps", "coarse-precision",
                          "setup-steps", "setup-cycles"})
    add_setting_flag(*multigrid, *find_setting(key), options->settings);
  CLI::App* eigen = add("eigen", "Block Lanczos: time in the operator and in vector operations; speed of projections", run_bench_eigen);
  add_action_flags(*eigen, options);
  eigen->add_option_function<std::vector<std::string>>("--lattice", take_lattices, "Extents, one lattice or several")->type_name("X,Y,Z,T");
  eigen->add_flag("--no-tune", options->no_tune, "Speed settings by fixed rules: read and write no tune cache, measure nothing");
  eigen->add_option("--modes", options->eigen.modes, "Eigenvectors, and vectors of the projections")->capture_default_str();
  eigen->add_option("--block", options->eigen.block, "Vectors that the operator is applied to together, 1 to 16")->capture_default_str();
  eigen->add_option("--restarts", options->restarts, "After which the solve ends, converged or not")
      ->check(at_least(1))
      ->capture_default_str();
  for (CLI::App* command : {solver, multigrid, eigen})
    add_coord_flag(*command, "--blocks", options->blocks, "Cut the lattice into that many blocks (default: as a solve would)", 1);
  for (CLI::App* command : {dslash, solver, multigrid, eigen}) add_operator_flags(*command, options);
  for (const auto& [command, run_it] :
       {std::pair(blas, &run_bench_blas), std::pair(dslash, &run_bench_dslash), std::pair(solver, &run_bench_solver),
        std::pair(multigrid, &run_bench_multigrid), std::pair(eigen, &run_bench_eigen)})
    command->callback([options, command = command, run_it = run_it] {
      asked_of(*options);  // fails before anything is measured
      if (command->get_name() == "multigrid" && command->get_option("--precision")->count() == 0)
        options->precisions = {"single", "double"};
      run_it(*options);
    });
  solver
      ->add_option("--iterations", options->iterations,
                   "Iterations of a timed solve, rounded up to whole batches of 16 (default: 512 on GPUs, 64 on CPUs)")
      ->check(CLI::Range(16, 100000));
  solver->add_flag("--bound", options->extra.bound, "One more solve, whose task graph is recorded: the time over its lower bounds");
  solver->add_flag("--profile", options->extra.profile,
                   "One more solve: where the time of each worker went, bytes between memories (JSON)");
  solver->add_option("--trace", options->extra.trace, "File for the tasks of one more solve (of the last row) in Chrome's trace format")
      ->type_name("FILE");
}

}  // namespace quarkstar::app
