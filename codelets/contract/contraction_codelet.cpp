#include "codelets/arch/implementations.hpp"
#include "codelets/arch/table.hpp"
#include "codelets/contract/contract_cuda.hpp"
#include "codelets/contract/contract_kernels.hpp"
#include "codelets/contract/contraction.hpp"
#include "codelets/contract/phases.hpp"
#include "codelets/field/places_of.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/backend.hpp"
#include "runtime/gpu/gpu_sums.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/graph/turns.hpp"
#include "runtime/graph/wait_for_tasks.hpp"
#include "runtime/mpi/job.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::contract {
namespace {

using runtime::Call;

// Buffers: the sums of the block, phases, the field's even and odd parity.

Arguments unpack(Call& call) {
  Arguments a = call.arguments<Arguments>();
  a.phases = call.buffer<const double>(1);
  for (const int parity : {0, 1}) a.field[parity] = call.buffer<const double>(2 + parity);
  return a;
}

int slices(const Arguments& a) { return a.shape.outer[3] * (a.shape.stride[3] != 0 ? 2 : 1); }

template <class Family>
void run(Call& call) {
  static constexpr arch::KernelTable<Kernel (*)(int)> table = QUARKSTAR_KERNEL_TABLE(contract_kernel<Family>);
  const Arguments a = unpack(call);
  const Kernel kernel = table.current()(a.lanes);
  const int sums = slices(a) * a.slice_sums();
  runtime::ThreadSums partial(call.team().threads(), sums);
  call.team().for_range(volume(a.shape.outer),
                        [&](std::int64_t begin, std::int64_t end, int thread) { kernel(a, begin, end, partial.of(thread)); });
  partial.merge_into(call.buffer<runtime::BinnedSum>(0), sums);
}

#ifdef QUARKSTAR_CUDA
template <class Family>
void run_on_cuda(Call& call) {
  const Arguments a = unpack(call);
  const auto stream = static_cast<runtime::CudaStream>(call.stream());
  auto* sums = call.buffer<runtime::BinnedSum>(0);
  const int at_a_time = cuda::momenta_at_a_time(a.channels);
  for (int slice = 0; slice < slices(a); ++slice)
    for (int first = 0; first < a.momenta; first += at_a_time) {
      const int count = std::min(at_a_time, a.momenta - first);
      cuda::launch_contract<Family>(a, slice, first, count, stream);
      runtime::finish_sums(sums + (slice * a.momenta + first) * 2 * a.channels, count * 2 * a.channels, nullptr, stream);
    }
}
#endif

template <class Family>
const runtime::Codelet& codelet_of() {
  static_assert(Family::numbers <= most_channels && std::size(Family::channels) == Family::numbers && Family::columns <= most_columns);
  static const runtime::Codelet codelet(fmt::format("contract.{}", Family::name), runtime::CodeletKind::vector,
                                        QUARKSTAR_BOTH(run, Family));
  return codelet;
}

/// How a family's tasks are submitted.
struct Tasks {
  std::string_view name;
  const runtime::Codelet& (*codelet)();
  double flops;
};
const Tasks& tasks_of(const Family& wanted) {
  static const std::vector<Tasks> all{
#define QUARKSTAR_CORRELATORS(family) {family::name, codelet_of<family>, family::flops},
#include "codelets/contract/families.inc"
#undef QUARKSTAR_CORRELATORS
  };
  return *std::find_if(all.begin(), all.end(), [&](const Tasks& tasks) { return tasks.name == wanted.name; });
}

/// All of a block's arguments but the channels.
Arguments arguments_of(const FullField& columns, std::span<const int> vectors, const BlockGeometry& block, int momenta,
                       const Coord& source) {
  const Field& field = columns.even;
  const Lattice& lattice = *field.lattice();
  const VectorPlaces places = places_of(field);
  const int words = field.reals(), width = places.width();
  auto a = runtime::blank<Arguments>();
  a.shape = block.shape();
  a.origin = block.block().origin;
  a.lattice = lattice.decomposition().lattice();
  a.source = source;
  a.site = static_cast<std::ptrdiff_t>(places.groups()) * words * width;
  a.component = 2 * width;
  a.imaginary = field.chunked() ? 1 : width;
  a.lane = field.chunked() ? 2 : 1;
  for (std::size_t c = 0; c < vectors.size(); ++c)
    a.column[c] = static_cast<int>(places.group(words, 0, vectors[c])) + places.lane_of(vectors[c], 0) * a.lane;
  a.lanes = places.lanes;
  a.momenta = momenta;
  return a;
}

}  // namespace

Contraction::Contraction(const std::vector<Choice>& choices, const Request& request, LatticePointer lattice, const Source& source)
    : request_(request), source_(source), lattice_(std::move(lattice)) {
  if (lattice_->precision() != Precision::double_) throw ShapeError("Contraction", "columns that are not in double precision");
  phases_ = make_phases(request.momenta, lattice_->decomposition().lattice(), origin_of(source));
  for (const Choice& choice : choices) parts_.push_back({choice, {}});
}

void Contraction::add(const FullField& columns, std::span<const int> vectors) {
  const Lattice& lattice = *lattice_;
  if (columns.even.lattice() != lattice_) throw ShapeError("Contraction", "columns of another lattice");
  if (columns.odd.lattice() != lattice_ || columns.odd.vectors() != columns.even.vectors())
    throw ShapeError("Contraction", "the parities do not belong together");
  for (const int v : vectors)
    if (v < 0 || v >= columns.even.vectors()) throw ShapeError("Contraction", "a vector that the field has not");
  const int momenta = static_cast<int>(request_.momenta.size());
  const Coord origin = origin_of(source_);
  for (Part& part : parts_) {
    const Choice& choice = part.choice;
    const Family& family = *choice.family;
    if (family.components != columns.even.components() || vectors.size() != static_cast<std::size_t>(family.columns))
      throw ShapeError("Contraction", "another number of columns than a propagator has");
    const Tasks& tasks = tasks_of(family);
    for (const int b : lattice.local_blocks()) {
      const BlockGeometry& block = lattice.block(b);
      Arguments a = arguments_of(columns, vectors, block, momenta, origin);
      a.channels = static_cast<int>(choice.channels.size());
      std::copy(choice.channels.begin(), choice.channels.end(), a.channel);
      part.sums.emplace_back(static_cast<std::size_t>(slices(a) * a.slice_sums()) * sizeof(runtime::BinnedSum));
      const auto sites = static_cast<double>(volume(block.block().extents));
      runtime::submit(
          tasks.codelet(), a,
          {runtime::out(part.sums.back()), runtime::in(phases_), runtime::in(columns.even.block(b)), runtime::in(columns.odd.block(b))},
          {sites * (tasks.flops + 20.0 * a.slice_sums()), sites * 16 * family.columns * columns.even.components()}, placement_of(block));
    }
  }
}

std::vector<std::vector<double>> Contraction::sums() const {
  const runtime::Decomposition& decomposition = lattice_->decomposition();
  const int times = decomposition.lattice()[3];
  runtime::Turns::wait([this] {
    for (const Part& part : parts_)
      for (const runtime::Handle& sums : part.sums) runtime::wait_for_tasks(sums);
  });
  std::vector<std::vector<double>> result;
  for (const Part& part : parts_) {
    const std::size_t of_slice = 2 * request_.momenta.size() * part.choice.channels.size();
    std::vector<runtime::BinnedSum> totals(static_cast<std::size_t>(times) * of_slice, runtime::BinnedSum::zero());
    for (std::size_t i = 0; i < part.sums.size() && runtime::backend::computes; ++i) {
      const runtime::Block& block = decomposition.block(lattice_->local_blocks()[i % lattice_->local_blocks().size()]);
      const runtime::HostView<const runtime::BinnedSum> sums(part.sums[i]);
      for (int slice = 0; slice < block.extents[3]; ++slice) {
        const int t = (block.origin[3] + slice - source_.time() + times) % times;
        for (std::size_t s = 0; s < of_slice; ++s)
          totals[static_cast<std::size_t>(t) * of_slice + s].merge(sums[static_cast<std::size_t>(slice) * of_slice + s]);
      }
    }
    runtime::mpi::Job::current().combine(totals);
    std::transform(totals.begin(), totals.end(), std::back_inserter(result.emplace_back()), runtime::value_of);
  }
  return result;
}

std::vector<Correlator> Contraction::correlators() const {
  const auto times = static_cast<std::size_t>(lattice_->decomposition().lattice()[3]);
  const std::vector<std::vector<double>> all = sums();
  std::vector<Correlator> result;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    const std::size_t channels = part.choice.channels.size(), of_slice = 2 * request_.momenta.size() * channels;
    for (std::size_t m = 0; m < request_.momenta.size(); ++m)
      for (std::size_t c = 0; c < channels; ++c) {
        const Channel& channel = part.choice.family->channels[static_cast<std::size_t>(part.choice.channels[c])];
        const bool real = !part.choice.family->complex && request_.momenta[m] == Momentum{0, 0, 0};
        std::vector<double> values[2];
        for (std::size_t i = 0; i < (real ? 1u : 2u); ++i) {
          std::vector<double>& of_part = values[i];
          for (std::size_t t = 0; t < times; ++t) of_part.push_back(all[p][t * of_slice + 2 * (m * channels + c) + i]);
          if (request_.fold) of_part = folded(of_part, channel.reflection);
        }
        result.push_back(correlator_of(name_of(channel, request_.momenta[m]), std::move(values[0]), std::move(values[1])));
      }
  }
  return result;
}

}  // namespace quarkstar::contract
