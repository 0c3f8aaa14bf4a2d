// The command `quarkstar`: parses the command line, runs a subcommand, and turns failures into one line and an exit
// code.
#include "apps/command/commands.hpp"
#include "apps/command/interrupt.hpp"
#include "apps/run/hdf5_file.hpp"
#include "apps/run/parse.hpp"
#include "apps/run/report.hpp"
#include "apps/run/start_patience.hpp"
#include "codelets/arch/dispatch.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"
#include "runtime/system/failure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace {

/// In the order of the help text.
constexpr quarkstar::app::AddCommand commands[] = {
    quarkstar::app::add_solve,  quarkstar::app::add_run,     quarkstar::app::add_eigen, quarkstar::app::add_gauge,
    quarkstar::app::add_verify, quarkstar::app::add_machine, quarkstar::app::add_bench, quarkstar::app::add_lab,
    quarkstar::app::add_model,  quarkstar::app::add_demo,
};

constexpr int exit_interrupted = 130;  // 128 + SIGINT, as shells report it

/// One message for the whole job. everywhere: every rank is on its way here.
int fail(const std::string& message, int code, bool everywhere = false) {
  return quarkstar::runtime::mpi::Job::current().fail(message, code, everywhere);
}

/// The deepest subcommand that was named.
const CLI::App& named_command(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : named_command(*named.front());
}

/// "quarkstar gauge info"
std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

std::vector<std::string> subcommands(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) names.push_back(sub->get_name());
  return names;
}

/// What to do about a command line that cannot be parsed.
std::string remedy(const CLI::App& command) {
  const std::vector<std::string> names = subcommands(command);
  const std::string help = fmt::format("see `{} --help`", full_name(command));
  return names.empty() ? help : fmt::format("use one of {}, or {}", fmt::join(names, ", "), help);
}

/// Errors of the layers below name parameters: where the command has a flag of that name, it is the flag that the user knows.
std::string with_flag(const quarkstar::Error& error, const CLI::App& command) {
  std::string text = error.what();
  const std::string& parameter = error.parameter();
  if (parameter.empty() || command.get_option_no_throw("--" + parameter) == nullptr) return text;
  return text.insert(text.find(parameter + ": "), "--");
}

/// CLI11 would say that a subcommand is missing, and not which word it does not know.
void require_known_subcommands(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    const std::vector<std::string> names = subcommands(*command);
    if (names.empty()) return;
    if (std::find(names.begin(), names.end(), argv[i]) == names.end()) {
      const std::string nearest = quarkstar::app::nearest_name(argv[i], names);
      throw quarkstar::Error(quarkstar::ErrorKind::input, full_name(*command), fmt::format("'{}' is no subcommand", argv[i]),
                             (nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest)) + remedy(*command));
    }
    command = command->get_subcommand(argv[i]);
  }
}

bool asks_for_text(int argc, char** argv) {
  return argc < 2 || std::any_of(argv + 1, argv + argc, [](std::string_view argument) {
           return argument == "--help" || argument == "-h" || argument == "--version";
         });
}

/// Here, because workers, which look kernels up, could not report that $QUARKSTAR_ARCH is wrong.
void require_architecture(int argc, char** argv) {
  if (!asks_for_text(argc, argv)) quarkstar::arch::current();
}

/// Commands that share one job between ranks; of the others mpirun would start copies that write the same files.
void require_one_rank(int argc, char** argv) {
  const quarkstar::runtime::mpi::Job& job = quarkstar::runtime::mpi::Job::current();
  if (!job.is_distributed() || job.is_fake() || asks_for_text(argc, argv)) return;
  const std::string command = argv[1];
  if (command == "solve" || command == "run" || command == "eigen" || command == "machine" || command == "gauge" ||
      command.starts_with("-"))
    return;
  throw quarkstar::Error(quarkstar::ErrorKind::input, fmt::format("quarkstar {}", command), "this command runs on one rank",
                         "start it without mpirun, or with -n 1");
}

int run(int argc, char** argv) {
  CLI::App app("Lattice-QCD Dirac solvers on a task-graph runtime", "quarkstar");
  app.set_version_flag("--version", [] { return quarkstar::app::version_line(); });
  app.require_subcommand(1);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // of a flag given twice, as in most commands
  for (const quarkstar::app::AddCommand add : commands) add(app);
  require_known_subcommands(app, argc, argv);
  require_one_rank(argc, argv);
  require_architecture(argc, argv);
  try {
    std::vector<std::string> arguments = quarkstar::app::join_coordinates({argv + 1, argv + argc});
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the end
    app.parse(std::move(arguments));
    return 0;
  } catch (const quarkstar::Error& error) {
    const bool shared = dynamic_cast<const quarkstar::runtime::mpi::SharedError*>(&error) != nullptr;
    return fail(with_flag(error, named_command(app)), error.exit_code(), shared);
  } catch (const CLI::Success& request) {  // --help, --version
    return quarkstar::runtime::mpi::Job::current().is_root() ? app.exit(request) : 0;
  } catch (const CLI::ParseError& error) {
    return fail(fmt::format("{}; {}", error.what(), remedy(named_command(app))), static_cast<int>(quarkstar::ErrorKind::input));
  }
}

}  // namespace

int main(int argc, char** argv) {
  quarkstar::app::leave_hdf5_open_at_exit();
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // in a pipe, too: a command that is ended has printed what it had
  spdlog::set_default_logger(spdlog::stderr_color_mt("quarkstar"));
  spdlog::set_pattern("[%Y-%m-%d %H:%M:%S] %v");
  std::optional<quarkstar::runtime::mpi::Job> job;
  try {
    // Launchers may hand a signal on while MPI starts and files are opened: it counts before the first column.
    if (const std::string_view command = argc > 1 ? argv[1] : ""; command == "solve" || command == "run" || command == "eigen")
      quarkstar::app::catch_interrupts();
    job.emplace(quarkstar::app::start_patience({argv + 1, argv + argc}));
    return run(argc, argv);
  } catch (const quarkstar::app::Interrupted& interrupt) {
    return fail(interrupt.saved.empty() ? "interrupted: nothing was written; start it again"
                                        : fmt::format("interrupted: {} in {}; start it again to go on", interrupt.what, interrupt.saved),
                exit_interrupted, true);
  } catch (const quarkstar::runtime::mpi::SharedError& error) {
    return fail(error.what(), error.exit_code(), true);
  } catch (const quarkstar::app::BadValue& bad) {
    return fail(fmt::format("{}; {}", bad.what(), bad.allowed()), static_cast<int>(quarkstar::ErrorKind::input));
  } catch (const std::length_error&) {
    return fail("a lattice with more sites than memory can number; use a smaller lattice", static_cast<int>(quarkstar::ErrorKind::input));
  } catch (const std::exception& error) {
    const quarkstar::runtime::Failure failure = quarkstar::runtime::failure_of(error, "use a machine with more, or a smaller lattice");
    return fail(failure.message, failure.exit_code);
  }
}
