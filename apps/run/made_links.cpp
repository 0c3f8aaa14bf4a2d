#include "apps/run/made_links.hpp"

#include "runtime/mpi/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace quarkstar::app {
namespace {

/// What decides which links come of a configuration; empty for an action whose links nobody else can take.
std::string key_of(const ActionKind& kind, const runtime::Decomposition& decomposition, const ActionRun& run) {
  if (kind.making.empty() || kind.has_own_links(run.settings) || !kind.masses_share_links(run.settings)) return "";
  const Box part = decomposition.part();
  std::string key =
      fmt::format("{} {} {} {} {} {}", kind.name, decomposition.lattice(), part.origin, part.extents, run.boundary, run.identify);
  for (const ActionSetting& setting : kind.settings)
    if (setting.makes_links) key += fmt::format(" {} {}", setting.key, value_text(kind.value(run.settings, setting.key)));
  return key;
}

}  // namespace

MakeOperator MadeLinks::operator()(const ActionKind& kind, runtime::Session& session, const runtime::Decomposition& decomposition,
                                   const LinksOfPart& links, ActionRun& run) {
  const std::string key = key_of(kind, decomposition, run);
  // All ranks make them or none does: making is collective, and a part may be another on some ranks alone.
  const bool others = key.empty() || (decomposition.is_distributed() ? runtime::mpi::Job::current().any(key != key_) : key != key_);
  if (!others) {
    run.gauge = gauge_;
    return make_;
  }
  forget();
  MakeOperator make = kind.make_links(session, decomposition, links, run);
  if (key.empty()) return make;
  key_ = key;
  make_ = make;
  gauge_ = run.gauge;
  return make;
}

void MadeLinks::forget() {
  key_.clear();
  make_ = {};
}

}  // namespace quarkstar::app
