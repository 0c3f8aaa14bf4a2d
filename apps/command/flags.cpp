#include "apps/command/commands.hpp"
#include "apps/run/config.hpp"
#include "apps/run/parse.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::app {

Coord coord_of_flag(const std::string& flag, const std::string& value, int least) {
  try {
    return parse_coord(value, least);
  } catch (const BadValue& bad) {
    throw Error(ErrorKind::input, flag, bad.what(), bad.allowed());
  }
}

namespace {

/// Values of a repeated --boundary add up; of every other flag the last one counts.
std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

}  // namespace

void add_setting_flag(CLI::App& command, const Setting& field, const Assignments& given) {
  const std::string key(field.key), flag = "--" + key, help(field.help);
  if (field.metavar.empty()) {
    command.add_flag_callback(
        flag,
        [given, key, flag] {
          given->push_back({key, "true", flag});
        },
        help);
  } else if (key == "boundary") {
    command
        .add_option_function<std::vector<std::string>>(
            flag,
            [given, key, flag](const std::vector<std::string>& v) {
              given->push_back({key, joined(v), flag});
            },
            help)
        ->type_name(std::string(field.metavar))
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  } else {
    command
        .add_option_function<std::string>(
            flag,
            [given, key, flag](const std::string& v) {
              given->push_back({key, v, flag});
            },
            help)
        ->type_name(std::string(field.metavar));
  }
}

void add_ranks_flag(CLI::App& command, std::optional<Coord>& ranks) {
  add_coord_flag(command, "--ranks", ranks, "Under mpirun: grid of ranks (default: the one with the smallest surface)", 1);
}

CLI::Validator at_least(double least) {
  return {[least](std::string& text) -> std::string {
            try {
              return parse_real(text) < least ? fmt::format("{} is below {:g}", text, least) : "";
            } catch (const BadValue& bad) {
              return bad.what();
            }
          },
          fmt::format("at least {:g}", least)};
}

void add_session_flags(CLI::App& command, runtime::SessionOptions& options) {
  for (const char* key :
       {"policy", "watts", "devices", "cpu-share", "gpu-memory", "gpus", "workers", "threads", "worker-mode", "throttle"}) {
    const Setting* field = find_setting(key);
    const std::string flag = "--" + std::string(key);
    command
        .add_option_function<std::string>(
            flag,
            [key, flag, &options](const std::string& value) {
              RunConfig config;  // the table of fields sets a whole run
              config.session = options;
              apply_settings(config, {{key, value, flag}});
              options = config.session;
            },
            std::string(field->help))
        ->type_name(std::string(field->metavar));
  }
}

}  // namespace quarkstar::app
