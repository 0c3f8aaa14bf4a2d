#include "runtime/graph/batch.hpp"
#include "runtime/graph/scalar.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/graph/typed_codelet.hpp"
#include "runtime/graph/wait_for_tasks.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/observe/task_graph.hpp"

namespace quarkstar::runtime {
namespace {

/// state: one or none.
const TypedCodelet merge_codelet("scalar.merge", CodeletKind::scalar,
                                 [](Call& call, Out<BinnedSum, 1> merged, const std::vector<In<BinnedSum, 1>>& partials,
                                    const std::vector<In<GraphStatus>>& state, int sums, When when) {
                                   const bool idle = !state.empty() && *idle_flag(state.front().data, when) != 0;
                                   for (int s = 0; s < sums; ++s) {
                                     merged[s] = BinnedSum::zero();
                                     if (idle) continue;  // what a stopped graph left is no sum, and other ranks would add it
                                     for (const In<BinnedSum, 1>& partial : partials) merged[s].merge(partial[s]);
                                   }
                                   if (idle) call.skip();
                                 });

}  // namespace

PartialSums::PartialSums(int tasks, int sums, bool over_ranks) {
  const std::size_t bytes = static_cast<std::size_t>(sums) * sizeof(BinnedSum);
  for (int i = 0; i < tasks; ++i) handles_.emplace_back(bytes);
  if (over_ranks && Session::current().messages() != nullptr) {
    this_rank_ = Handle(bytes);
    all_ranks_ = Handle(bytes);
  }
}

void detail::submit_sum_over_ranks(const PartialSums& partials, int sums, const Guard& guard, int owner, const char* name) {
  std::vector<const Handle*> parts, state;
  for (int p = 0; p < partials.tasks(); ++p) parts.push_back(&partials.task(p));
  if (guard.state != nullptr) state.push_back(guard.state);
  submit(merge_codelet.on(partials.this_rank(), parts, state, sums, guard.when), {},
         Placement{.owner = owner, .block = -1, .urgent = true, .role = role_of(guard.when)});
  Session::current().messages()->sum(partials.all_ranks(), partials.this_rank(), sums, name);
}

bool detail::collect_step_over_ranks(const Codelet& codelet, const ScalarArguments& arguments, const AccessList& accesses,
                                     const Placement& placement, const std::function<void()>& through_host) {
  if (!Session::current().messages()->collected()) return false;
  GraphRecording::note(codelet, {}, accesses, placement);
  const auto* bytes = reinterpret_cast<const std::byte*>(&arguments);
  Batch::current()->add({.codelet = &codelet,
                         .arguments = {bytes, bytes + sizeof arguments},
                         .accesses = accesses,
                         .placement = placement,
                         .kind = Batch::Part::Kind::sum,
                         .unfused = through_host});
  return true;
}

std::vector<double> values_of(const PartialSums& partials, int sums) {
  std::vector<BinnedSum> totals(static_cast<std::size_t>(sums), BinnedSum::zero());
  const auto add = [&](const Handle& handle) {
    const HostView<BinnedSum> view(handle);
    for (std::size_t s = 0; s < totals.size(); ++s) totals[s].merge(view[s]);
  };
  if (partials.is_distributed()) detail::submit_sum_over_ranks(partials, sums, {}, 0, "norm");
  Turns::wait([&] {
    if (partials.is_distributed()) return wait_for_tasks(partials.all_ranks());
    for (int p = 0; p < partials.tasks(); ++p) wait_for_tasks(partials.task(p));
  });
  if (partials.is_distributed()) {
    add(partials.all_ranks());
  } else {
    for (int p = 0; p < partials.tasks(); ++p) add(partials.task(p));
  }
  std::vector<double> values;
  for (const BinnedSum& total : totals) values.push_back(value_of(total));
  if (partials.is_distributed()) mpi::require_alike(mpi::Job::current(), values, "norm");  // the main thread decides by them
  return values;
}

}  // namespace quarkstar::runtime
