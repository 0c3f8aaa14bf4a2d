#include "apps/run/run_watch.hpp"

#include "runtime/mpi/job.hpp"

namespace quarkstar::app {

RunWatch& unwatched() {
  static RunWatch nobody;
  return nobody;
}

bool interrupted_anywhere(RunWatch& watch) { return runtime::mpi::Job::current().any(watch.interrupted()); }

bool begins_nothing_anywhere(RunWatch& watch) { return runtime::mpi::Job::current().any(watch.begins_nothing()); }

void stop_all_if_interrupted(RunWatch& watch, const std::string& saved) {
  if (interrupted_anywhere(watch)) throw Interrupted{saved};
}

int SaveRequests::ask() {
  if (runtime::mpi::Job::current().any(watch_->save_requested())) ++noticed_;
  return noticed_;
}

}  // namespace quarkstar::app
