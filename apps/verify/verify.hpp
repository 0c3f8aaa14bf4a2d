#pragma once
// Known answers, and what this build gives for them.
#include "apps/run/run_watch.hpp"
#include "apps/run/session_defaults.hpp"
#include "runtime/graph/session.hpp"

#include <string>
#include <vector>

namespace quarkstar::app {

struct Check {
  enum class Verdict { pass, fail, skipped };
  std::string name;
  double expected = 0, got = 0;  ///< where they differ most
  double deviation = 0, limit = 0;
  Verdict verdict = Verdict::pass;
  std::string note;  ///< "t = 3", or why it was skipped
};

/// Where the reference files are, and how to run.
struct VerifyConfig {
  std::string data;  ///< folder with golden.json, golden-milc.json, milc/, other/; may be missing
  runtime::SessionOptions session = session_defaults();
  RunWatch* watch = &unwatched();
};

/// Free quarks against sums over momenta, and against numbers written down independently; limit 1e-12 relative.
std::vector<Check> check_free_field(const VerifyConfig& config);

/// Plaquettes and link traces of real configurations, their checksums verified on the way; limit 1e-12 or the table's
/// digits.
std::vector<Check> check_configurations(const VerifyConfig& config);

/// Wilson correlators of golden.json (links as stored) and golden-milc.json (reunitarised, as MILC does); limit 1e-10
/// relative.
std::vector<Check> check_golden_correlators(const VerifyConfig& config);

/// Correlators of every action on random links and on a gauge transform of them; limit 1e-10 of the largest value.
std::vector<Check> check_gauge_invariance(const VerifyConfig& config);

/// -D^2 of naive, asqtad and HISQ links made from unit links on every plane wave; limit 1e-12.
std::vector<Check> check_free_staggered(const VerifyConfig& config);

/// MILC's solutions in ksvector.* from its fat and long links (1e-6 of the largest component), staggered correlators of golden.json (links
/// as stored) and golden-milc.json (reunitarised); limit 1e-10 relative.
std::vector<Check> check_staggered_data(const VerifyConfig& config);

/// Domain wall and Moebius of golden-2.json: products of the operator, correlators and residual masses; limit 1e-10 relative.
std::vector<Check> check_domain_wall(const VerifyConfig& config);

/// The largest deviation of two lists: relative if `relative`, else absolute.
Check compare(const std::string& name, const std::vector<double>& expected, const std::vector<double>& got, double limit, bool relative);

/// A case whose data are missing.
Check skipped(const std::string& name, const std::string& reason);

}  // namespace quarkstar::app
