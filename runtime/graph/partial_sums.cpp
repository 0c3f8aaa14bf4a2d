#include "runtime/graph/batch.hpp"
#include "runtime/graph/scalar.hpp"
#include "runtime/graph/session.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/graph/wait_for_tasks.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/observe/task_graph.hpp"

namespace quarkstar::runtime {
namespace {

struct MergeArguments {
  int partials, sums;
  bool has_state;
  When when;
};

/// Buffers: the result, the partial sums, the state where there is one.
void merge_partials(Call& call) {
  const auto& arguments = call.arguments<MergeArguments>();
  const bool idle = arguments.has_state && *idle_flag(call.buffer<const GraphStatus>(1 + arguments.partials), arguments.when) != 0;
  auto* merged = call.buffer<BinnedSum>(0);
  for (int s = 0; s < arguments.sums; ++s) {
    merged[s] = BinnedSum::zero();
    // What a stopped graph left in the partial sums is no sum, and other ranks would add it.
    for (int p = 0; p < arguments.partials && !idle; ++p) merged[s].merge(call.buffer<const BinnedSum>(1 + p)[s]);
  }
  if (idle) call.skip();
}
const Codelet merge_codelet("scalar.merge", CodeletKind::scalar, merge_partials);

}  // namespace

PartialSums::PartialSums(int tasks, int sums) {
  const std::size_t bytes = static_cast<std::size_t>(sums) * sizeof(BinnedSum);
  for (int i = 0; i < tasks; ++i) handles_.emplace_back(bytes);
  if (Session::current().messages() != nullptr) {
    this_rank_ = Handle(bytes);
    all_ranks_ = Handle(bytes);
  }
}

void detail::submit_sum_over_ranks(const PartialSums& partials, int sums, const Guard& guard, const char* name) {
  AccessList accesses{out(partials.this_rank())};
  for (int p = 0; p < partials.tasks(); ++p) accesses.push_back(in(partials.task(p)));
  if (guard.state != nullptr) accesses.push_back(in(*guard.state));
  auto arguments = blank<MergeArguments>();
  arguments.partials = partials.tasks();
  arguments.sums = sums;
  arguments.has_state = guard.state != nullptr;
  arguments.when = guard.when;
  submit(merge_codelet, arguments, accesses, {}, Placement{.owner = 0, .block = -1, .urgent = true, .role = role_of(guard.when)});
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
  if (partials.is_distributed()) detail::submit_sum_over_ranks(partials, sums, {}, "norm");
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
  return values;
}

}  // namespace quarkstar::runtime
