// One rank of `quarkstar-sim bench submission --ranks N`: a library that SimGrid's MPI loads once for each rank.
// Arguments, from apps/simulation/simulated_job.cpp: the machine's file, sites of a rank, repetitions, and "json" or "text".
#include "apps/bench/bench_submission.hpp"
#include "apps/run/parse.hpp"
#include "apps/simulation/machine_file.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/simulate/process.hpp"
#include "runtime/simulate/rank.hpp"
#include "runtime/simulate/simulate.hpp"
#include "runtime/system/failure.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <exception>
#include <string_view>

namespace quarkstar::app {
namespace {

/// Of the process, which holds all ranks.
double peak_megabytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) * 1.024e-3;
}

void time_rank(char** argv) {
  runtime::simulate::use(runtime::simulate::one_rank_of(read_machine(argv[1])));
  const Coord part = parse_coord(argv[2], 1);
  const int batches = parse_integer(argv[3], 1);
  const runtime::mpi::Job job;
  SubmissionTiming t;
  {
    const runtime::Session session(runtime::SessionOptions{});
    t = time_submission(part, batches);
  }
  if (!job.is_root()) return;
  const double real_us = t.real_microseconds / job.size(), megabytes = peak_megabytes() / job.size();
  if (std::string_view(argv[4]) == "json") {
    const nlohmann::ordered_json row{{"ranks", job.size()},
                                     {"part", part},
                                     {"simulated_us_per_iteration", t.microseconds},
                                     {"real_us_per_rank", real_us},
                                     {"tasks", t.tasks},
                                     {"messages", t.messages},
                                     {"sums", t.sums},
                                     {"megabytes_per_rank", megabytes}};
    fmt::print("{}\n", nlohmann::ordered_json{{"simulated_submission", row}}.dump(2));
  } else {
    fmt::print(
        "{} ranks: {:.1f} us per iteration (simulated), {:.1f} us of this machine's time per rank; {:.1f} tasks, {:.1f} "
        "messages, {:.1f} sums of each; "
        "{:.1f} MB per rank\n",
        job.size(), t.microseconds, real_us, t.tasks, t.messages, t.sums, megabytes);
  }
}

int run(int, char** argv) {
  try {
    time_rank(argv);
    return 0;
  } catch (const std::exception& error) {
    const runtime::Failure failure = runtime::failure_of(error, "ask for fewer ranks");
    runtime::mpi::Job::current().fail_alone(failure.message, failure.exit_code);
  }
}

}  // namespace
}  // namespace quarkstar::app

int main(int argc, char** argv) { return quarkstar::runtime::simulate::run_rank(argc, argv, quarkstar::app::run); }
