#include "runtime/graph/graph_failure.hpp"

#include "runtime/graph/device_loss.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/mpi/guest.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/failure.hpp"
#include "runtime/system/sanitizer.hpp"

#include <fmt/format.h>
#include <starpu.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

namespace quarkstar::runtime {
namespace {

std::atomic<bool> ended{false};
std::mutex mutex;
std::optional<Error> error;  ///< set before `ended`

std::vector<const Codelet*>& codelets_that_run_others() {
  static std::vector<const Codelet*> codelets;
  return codelets;
}

Failure current_failure() {
  try {
    throw;
  } catch (const std::exception& exception) {
    return failure_of(exception, "use smaller blocks");
  } catch (...) {
    return {"an exception that is no std::exception; this is a defect: please report it", static_cast<int>(ErrorKind::internal)};
  }
}

/// Whether the exception that is being handled is the machine's fault, and not that the host has no memory: the device may be broken.
bool is_of_the_device() {
  try {
    throw;
  } catch (const Error& of_codelet) {
    return of_codelet.kind() == ErrorKind::environment;
  } catch (...) {
    return false;
  }
}

}  // namespace

bool GraphFailure::happened() noexcept { return ended.load(std::memory_order_acquire); }

void GraphFailure::throw_if_any() {
  if (!happened()) return;
  const std::lock_guard lock(mutex);
  if (error) throw Error(*error);
}

void GraphFailure::note(const Codelet& codelet, const Placement& placement, int worker) noexcept {
  const std::lock_guard lock(mutex);
  if (error) return;
  const Failure failure = current_failure();
  const std::string block = placement.block >= 0 ? fmt::format("block {}, ", placement.block) : "";
  error.emplace(static_cast<ErrorKind>(failure.exit_code), fmt::format("codelet {} ({}worker {})", codelet.name(), block, worker),
                failure.message, "");
  if (is_of_the_device()) DeviceLoss::tell(worker, error->what());
  ended.store(true, std::memory_order_release);
}

void GraphFailure::forget() noexcept {
  const std::lock_guard lock(mutex);
  error.reset();
  ended = false;
}

GraphFailure::RunsOthers::RunsOthers(const Codelet& codelet) {
  const std::lock_guard lock(mutex);
  codelets_that_run_others().push_back(&codelet);
}

void detail::run_guarded(const Codelet& codelet, Implementation implementation, Call& call, const Placement& placement) noexcept {
  if (GraphFailure::happened()) {
    const std::lock_guard lock(mutex);
    const auto& exempt = codelets_that_run_others();
    if (std::find(exempt.begin(), exempt.end(), &codelet) == exempt.end()) return call.skip();
  }
  try {
    implementation(call);
  } catch (...) {
    GraphFailure::note(codelet, placement, call.worker());
    call.skip();
  }
}

Settled::~Settled() {
  if (std::uncaught_exceptions() == before_ || !GraphFailure::happened() || !Session::is_running()) return;
  if (Session& session = Session::current(); session.messages() == nullptr) wait_quietly(session);
}

void wait_quietly(Session& session) {
  const mpi::Waits waits;
  mpi::Messages* messages = session.messages();
  do {
    // A message may be the last thing that a task was waited for, and a task the last thing that a message was.
    if (messages != nullptr) messages->wait_idle();
    starpu_task_wait_for_all();
  } while (messages != nullptr && messages->pending() > 0);
  // After a failure GPUs may have written nothing, and other hosts may have gone: faces that never leave are not waited for.
  if (messages != nullptr && !GraphFailure::happened()) messages->wait_sent();
  happens_after(&session);  // every task ends with the other half
}

}  // namespace quarkstar::runtime
