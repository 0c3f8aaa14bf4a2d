#include "apps/run/turns_on_ranks.hpp"

#include "runtime/graph/turns.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/failure.hpp"

#include <exception>

namespace quarkstar::app {
namespace {

using runtime::mpi::Job;

void run_guarded(const std::function<void(int)>& program, int number) {
  Job& job = Job::current();
  if (!job.is_distributed() || !runtime::Turns::taken()) return program(number);
  try {
    program(number);
  } catch (const runtime::mpi::SharedError&) {
    throw;
  } catch (const std::exception& error) {
    const runtime::Failure failure = runtime::failure_of(error, "use more ranks, machines with more, or a smaller --in-flight");
    job.fail_alone(failure.message, failure.exit_code);
  }
}

}  // namespace

void run_on_ranks(int count, int in_flight, const std::function<void(int)>& program) {
  runtime::Turns::run(count, in_flight, [&program](int number) { run_guarded(program, number); });
}

}  // namespace quarkstar::app
