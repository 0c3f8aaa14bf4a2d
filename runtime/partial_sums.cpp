#include <cstring>

#include "runtime/batch.hpp"
#include "runtime/mpi/messages.hpp"
#include "runtime/scalar.hpp"
#include "runtime/session.hpp"
#include "runtime/turns.hpp"

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
  const bool idle =
      arguments.has_state && *idle_flag(call.buffer<const GraphStatus>(1 + arguments.partials), arguments.when) != 0;
  auto* merged = call.buffer<BinnedSum>(0);
  for (int s = 0; s < arguments.sums; ++s) {
    merged[s] = BinnedSum::zero();
    // What a stopped graph left in the partial sums is no sum, and other ranks would add it.
    for (int p = 0; p < arguments.partials && !idle; ++p) merged[s].merge(call.buffer<const BinnedSum>(1 + p)[s]);
  }
  if (idle) call.skip();
}
const Codelet merge_codelet("scalar.merge", merge_partials);

#ifdef QUARKSTAR_CUDA
struct DeviceSumArguments {
  MergeArguments merge;
  SumBoard board;
};

/// Buffers as above, but for the result: of all ranks.
void sum_over_ranks_on_cuda(Call& call) {
  const auto& arguments = call.arguments<DeviceSumArguments>();
  const MergeArguments& merge = arguments.merge;
  GpuPartials partials{};
  for (; partials.count < merge.partials; ++partials.count) partials.of[partials.count] = call.buffer<const BinnedSum>(1 + partials.count);
  const std::int32_t* idle = merge.has_state ? idle_flag(call.buffer<const GraphStatus>(1 + merge.partials), merge.when) : nullptr;
  enqueue_sum(arguments.board, partials, call.buffer<BinnedSum>(0), merge.sums, idle, static_cast<CudaStream>(call.stream()));
}
void sum_on_gpus_only(Call&) {}
const Codelet device_sum_codelet("scalar.sum", sum_on_gpus_only, sum_over_ranks_on_cuda);

/// The sum as a step of a batch over GPUs.
void collect_sum(const PartialSums& partials, int sums, const Guard& guard, const AccessList& merged, const char* name) {
  const mpi::Messages& messages = *Session::current().messages();
  DeviceSumArguments arguments;
  std::memset(static_cast<void*>(&arguments), 0, sizeof arguments);  // graphs are recognised by their arguments' bytes
  arguments.merge.partials = partials.tasks();
  arguments.merge.sums = sums;
  arguments.merge.has_state = guard.state != nullptr;
  arguments.merge.when = guard.when;
  arguments.board = messages.peers().sum_board();
  const auto* bytes = reinterpret_cast<const std::byte*>(&arguments);
  Batch::Part part{.codelet = &device_sum_codelet, .arguments = {bytes, bytes + sizeof arguments}, .accesses = merged, .kind = Batch::Part::Kind::sum};
  part.accesses.front() = out(partials.all_ranks());
  part.placement = {.owner = 0, .block = -1, .urgent = true, .role = role_of(guard.when)};
  part.unfused = [&partials, sums, guard, name] { detail::submit_sum_over_ranks(partials, sums, guard, name); };
  Batch::current()->add(std::move(part));
}
#endif

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
#ifdef QUARKSTAR_CUDA
  if (Session::current().messages()->collected() && partials.tasks() <= most_gpu_partials && sums <= SumBoard::most_sums)
    return collect_sum(partials, sums, guard, accesses, name);
#endif
  submit(merge_codelet, MergeArguments{partials.tasks(), sums, guard.state != nullptr, guard.when}, accesses, {},
         Placement{.owner = 0, .block = -1, .urgent = true, .role = role_of(guard.when)});
  Session::current().messages()->sum(partials.all_ranks(), partials.this_rank(), sums, name);
}

std::vector<double> values_of(const PartialSums& partials, int sums) {
  std::vector<BinnedSum> totals(static_cast<std::size_t>(sums), BinnedSum::zero());
  const auto add = [&](const Handle& handle) {
    const HostView<BinnedSum> view(handle);
    for (std::size_t s = 0; s < totals.size(); ++s) totals[s].merge(view[s]);
  };
  if (partials.is_distributed()) detail::submit_sum_over_ranks(partials, sums, {}, "norm");
  Turns::pass();
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
