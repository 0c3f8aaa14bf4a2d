#include "apps/command/commands.hpp"

namespace quarkstar::app {

const std::vector<AddCommand>& commands() {
  static const std::vector<AddCommand> all{
      add_solve, add_gauge, add_verify, add_machine, add_bench, add_lab, add_model, add_demo,
  };
  return all;
}

}  // namespace quarkstar::app
