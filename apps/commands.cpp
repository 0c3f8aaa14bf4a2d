#include "apps/commands.hpp"

#include "apps/config.hpp"

namespace quarkstar::app {

const std::vector<AddCommand>& commands() {
  static const std::vector<AddCommand> all{
      add_solve, add_gauge, add_verify, add_machine, add_bench, add_demo,
  };
  return all;
}

void add_session_flags(CLI::App& command, runtime::SessionOptions& options) {
  for (const char* key : {"policy", "gpus", "workers", "threads", "worker-mode"}) {
    const Field* field = find_field(key);
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
