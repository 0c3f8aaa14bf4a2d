#include "apps/turns_on_ranks.hpp"

#include "runtime/error.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/turns.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>

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
  } catch (const Error& error) {
    job.fail_alone(error.what(), error.exit_code());
  } catch (const std::bad_alloc&) {
    job.fail_alone("out of memory; use more ranks, machines with more, or a smaller --in-flight", static_cast<int>(ErrorKind::environment));
  } catch (const std::exception& error) {
    job.fail_alone(fmt::format("{}; this is a defect: please report it with the command line", error.what()), static_cast<int>(ErrorKind::internal));
  }
}

}  // namespace

void run_on_ranks(int count, int in_flight, const std::function<void(int)>& program) {
  runtime::Turns::run(count, in_flight, [&program](int number) { run_guarded(program, number); });
}

}  // namespace quarkstar::app
