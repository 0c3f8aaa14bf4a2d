#pragma once
// The rows of a campaign on its session: configurations are read, quarks solved for, hadrons contracted, results written.
#include "apps/campaign/helper.hpp"
#include "apps/campaign/run.hpp"
#include "runtime/graph/session.hpp"

namespace quarkstar::app::campaign {

/// The name of a quark's or hadron's row.
Row row_of(const Configuration& configuration, const Table& table, const Source& source);

/// Computes what `plan` says is missing, as run() says, and notes it in journal and outcome. helper: nullptr: there is none.
void compute_rows(const Campaign& campaign, const Options& options, CampaignPlan& plan, Journal& journal, runtime::Session& session,
                  RunWatch& watch, const Listener& listener, Outcome& outcome, Helper* helper);

}  // namespace quarkstar::app::campaign
