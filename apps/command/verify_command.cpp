// quarkstar verify: a table of case, expected, got, verdict
#include "apps/command/commands.hpp"
#include "apps/command/interrupt.hpp"
#include "apps/verify/verify.hpp"
#include "codelets/actions/cpu_kernels.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

namespace quarkstar::app {
namespace {

struct VerifyOptions {
  VerifyConfig config;
  bool json = false;
};

const char* verdict_text(Check::Verdict verdict) {
  switch (verdict) {
    case Check::Verdict::pass:
      return "pass";
    case Check::Verdict::fail:
      return "FAIL";
    case Check::Verdict::skipped:
      return "SKIPPED";
  }
  return "";
}

void print_row(const Check& c) {
  if (c.verdict == Check::Verdict::skipped) fmt::print("{:<64} {}: {}\n", c.name, verdict_text(c.verdict), c.note);
  else
    fmt::print("{:<64} {:>20.13f} {:>20.13f} {:>10.1e} {:>8.0e}  {} {}\n", c.name, c.expected, c.got, c.deviation, c.limit,
               verdict_text(c.verdict), c.verdict == Check::Verdict::fail ? c.note : "");
  std::fflush(stdout);
}

void print_json(const std::vector<Check>& checks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Check& c : checks) {
    nlohmann::ordered_json entry{{"case", c.name}, {"verdict", verdict_text(c.verdict)}, {"note", c.note}};
    if (c.verdict != Check::Verdict::skipped)
      entry.update({{"expected", c.expected}, {"got", c.got}, {"deviation", c.deviation}, {"limit", c.limit}});
    list.push_back(std::move(entry));
  }
  fmt::print("{}\n", list.dump(2));
}

/// --data, else $QUARKSTAR_DATA, else ../shared/data.
std::string default_data() {
  const char* named = std::getenv("QUARKSTAR_DATA");
  return named != nullptr && *named != '\0' ? named : "../shared/data";
}

void run_verify(const VerifyOptions& options) {
  CommandWatch watch;
  VerifyConfig config = options.config;
  config.watch = &watch;
  config.session = with_cpu_kernels(config.session, KernelTuning::known);
  spdlog::set_level(spdlog::level::warn);  // a line for each column would drown the table
  if (!options.json) fmt::print("{:<64} {:>20} {:>20} {:>10} {:>8}  {}\n", "case", "expected", "got", "deviation", "limit", "verdict");
  std::vector<Check> checks;
  for (const auto run : {check_free_field, check_free_staggered, check_gauge_invariance, check_configurations, check_golden_correlators,
                         check_domain_wall, check_staggered_data})
    for (const Check& check : run(config)) {
      if (!options.json) print_row(check);
      checks.push_back(check);
    }
  if (options.json) print_json(checks);

  const auto count = [&checks](Check::Verdict verdict) {
    return std::count_if(checks.begin(), checks.end(), [verdict](const Check& c) { return c.verdict == verdict; });
  };
  const auto failed = count(Check::Verdict::fail), left_out = count(Check::Verdict::skipped);
  if (!options.json) fmt::print("{} passed, {} failed, {} skipped\n", count(Check::Verdict::pass), failed, left_out);
  if (left_out > 0) spdlog::warn("{} cases were skipped: reference data are missing in {}", left_out, config.data);
  if (failed > 0)
    throw Error(ErrorKind::numerical, "verify", fmt::format("{} of {} cases failed", failed, checks.size()),
                "do not trust this build: report the table above");
}

}  // namespace

void add_verify(CLI::App& app) {
  CLI::App* command = app.add_subcommand("verify", "Compare with known answers");
  const auto options = std::make_shared<VerifyOptions>();
  options->config.data = default_data();
  command->add_option("--data", options->config.data, "Folder of reference data (default $QUARKSTAR_DATA, else ../shared/data)")
      ->type_name("DIR");
  command->add_flag("--json", options->json, "Print JSON");
  add_session_flags(*command, options->config.session);
  command->callback([options] { run_verify(*options); });
}

}  // namespace quarkstar::app
