// Sessions of the C library, and what it says of itself.
#include "apps/c/context.hpp"
#include "apps/run/rank_plan.hpp"
#include "apps/run/report.hpp"
#include "codelets/actions/cpu_kernels.hpp"
#include "runtime/mpi/funnel.hpp"
#include "runtime/mpi/guest.hpp"
#include "solvers/krylov/krylov.hpp"

#include <utility>

using namespace quarkstar;
using namespace quarkstar::c;

namespace {

void start(Context& context, const qs_session_options& wanted) {
  Service& service = *context.service;
  runtime::mpi::Host host{.communicator = wanted.mpi_communicator};
  host.error = [&context, &service](const std::string& message) {
    context.write_log(QS_LOG_ERROR, message);
    service.tell(message);
  };
  host.lost = [&service](int) { service.lose(); };
  context.job = runtime::mpi::guest_of(std::move(host));
  context.caller_drives = runtime::mpi::funnel().is_on();
  try {
    context.job->together([&] {  // not before the ranks have met: they would wait for one with a wrong setting
      take_settings(context.config, wanted.settings, wanted.settings_count, SettingsOf::session);
      app::require_ranks(context.config.ranks, context.config.rank_weights, context.job->size());
    });
    context.session = std::make_unique<runtime::Session>(with_cpu_kernels(context.config.session, KernelTuning::known));
  } catch (const std::exception& error) {
    if (!leaves_others(*context.job, error)) context.job.reset();
    throw;
  }
}

void stop(Context& context) {
  context.open = false;
  while (!context.operators.empty()) (*context.operators.begin())->drop_solvers();
  context.session.reset();
  context.job.reset();
  set_process_of_session(false);
}

}  // namespace

const char* qs_version(void) try {
  static const std::string text = app::version_line();
  return text.c_str();
} catch (...) {
  set_error_of_exception();
  return "";
}

const char* qs_action_name(int number) try {
  const auto& kinds = action_kinds();
  return number >= 0 && static_cast<std::size_t>(number) < kinds.size() ? kinds[static_cast<std::size_t>(number)]->name.data() : nullptr;
} catch (...) {
  set_error_of_exception();
  return nullptr;
}

int qs_solver_has_shifts(const char* solver) try {
  const NamedKrylovSolver* const found = solver != nullptr ? find_krylov_solver(solver) : nullptr;
  return found != nullptr && found->shifted ? 1 : 0;
} catch (...) {
  set_error_of_exception();
  return 0;
}

int qs_action_components(const char* action) try {
  for (const ActionKind* kind : action_kinds())
    if (action != nullptr && kind->name == action) return kind->components;
  return 0;
} catch (...) {
  set_error_of_exception();
  return 0;
}

const char* qs_action_setting(const char* action, int number, const char** help) try {
  clear(help);
  for (const ActionKind* kind : action_kinds()) {
    if (action == nullptr || kind->name != action) continue;
    app::RunConfig config;
    config.action = kind;
    const std::vector<const app::Setting*> all = settings_for(SettingsOf::operators, config);
    if (number < 0 || static_cast<std::size_t>(number) >= all.size()) return nullptr;
    const app::Setting& setting = *all[static_cast<std::size_t>(number)];
    if (help != nullptr) *help = setting.help.data();
    return setting.key.data();
  }
  return nullptr;
} catch (...) {
  set_error_of_exception();
  return nullptr;
}

qs_status qs_session_open(const qs_session_options* options, qs_session** session) try {
  clear(session);
  require(session, "session");
  const auto wanted = taken(options, "options");
  auto handle = std::make_unique<qs_session>();
  handle->context = std::make_shared<Context>();
  Context& context = *handle->context;
  context.log = wanted.log;
  context.log_user = wanted.log_user;
  context.config.rank_weights.kind = app::RankWeights::Kind::equal;
  if (process_is_lost()) return set_error(QS_ERROR_LOST, "a session of this process was lost: start the process anew");
  context.caller_drives = wanted.mpi_communicator != nullptr;  // until MPI has told whether it must
  const qs_status status = call(&context, std::function<void()>([&] {
    if (runtime::Session::is_running()) refuse("session", "another one is open", "close it first: a process has one at a time");
    set_process_of_session(true);
    try {
      start(context, wanted);
    } catch (...) {
      set_process_of_session(false);
      throw;
    }
  }));
  if (status == QS_OK) *session = handle.release();
  return status;
} catch (...) {
  return set_error_of_exception();
}

qs_status qs_session_close(qs_session* session) try {
  if (session == nullptr) return QS_OK;
  const std::shared_ptr<Context> context = session->context;
  if (context->process != this_process()) return QS_OK;  // the session is the parent's
  // Throws in a callback, where the session is in use.
  (void)only_call();
  const qs_status status = call(context.get(), std::function<void()>([&] { stop(*context); }));
  delete session;
  return status;
} catch (...) {
  return set_error_of_exception();
}
