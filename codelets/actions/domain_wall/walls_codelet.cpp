#include "codelets/actions/domain_wall/walls.hpp"
#include "codelets/actions/domain_wall/walls_arguments.hpp"
#include "codelets/actions/submit_together.hpp"
#include "codelets/field/word_place.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/thread_sums.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace quarkstar::domain_wall {
namespace {

using runtime::Call;

/// Buffers: to, from. The arguments' pointers are filled in when the task runs.
WallArguments arguments_of(Call& call) {
  WallArguments a = call.arguments<WallArguments>();
  a.to = call.buffer<double>(0);
  a.from = call.buffer<const double>(1);
  return a;
}

void run_walls(Call& call) {
  const WallArguments a = arguments_of(call);
  call.team().for_range(a.count(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) a.copy(i);
  });
}
#ifdef QUARKSTAR_CUDA
void walls_on_cuda(Call& call) { cuda::launch_walls(arguments_of(call), static_cast<runtime::CudaStream>(call.stream())); }
#else
constexpr runtime::Implementation walls_on_cuda = nullptr;
#endif
const runtime::Codelet walls_codelet("domain_wall.walls", runtime::CodeletKind::copy, run_walls, walls_on_cuda);

/// q on the sites of a parity, or five <- q.
void submit_walls(const Field& four, const Field& five, int upper, int lower, bool load) {
  const Lattice &a = *four.lattice(), &b = *five.lattice();
  if (four.vectors() != five.vectors() || four.parity() != five.parity() || a.lanes() != b.lanes() ||
      a.chunked() != (b.chunked() && !b.slices_in_lanes()) || a.precision() != Precision::double_ || b.precision() != Precision::double_ ||
      a.decomposition().lattice() != b.decomposition().lattice() || a.decomposition().grid() != b.decomposition().grid())
    throw ShapeError("domain_wall::Walls", "fields of another number of vectors, parity, layout or precision");
  for (const int block : a.local_blocks()) {
    auto task = runtime::blank<WallArguments>();
    task.outer_sites = a.block(block).outer_sites();
    task.slices = b.slices();
    task.vectors = four.vectors();
    task.words = four.reals() * a.lanes().lanes;
    task.upper = upper;
    task.lower = lower;
    task.load = load;
    task.in_lanes = b.slices_in_lanes();
    const runtime::Handle &to = (load ? five : four).block(block), &from = (load ? four : five).block(block);
    runtime::submit(walls_codelet, task, {runtime::out(to), runtime::in(from)}, {0, 2 * four.block_bytes(block)},
                    placement_of(a.block(block)));
  }
}

/// Buffers: sums [time][vector], field.
struct NormTask {
  const BlockGeometry* block;
  std::int32_t parity, vectors, times, chunked;
};

/// The norms of each vector at each time: sums of sites' norms, which no order changes.
void run_norms(Call& call) {
  const auto& task = call.arguments<NormTask>();
  const double* field = call.buffer<const double>(1);
  constexpr int reals = 2 * spinor_components;
  const int lanes = task.block->lanes().lanes, chunk = task.chunked != 0 ? site::chunk_words<double>(reals) : 1;
  const int sums = task.times * task.vectors;
  runtime::ThreadSums partial(call.team().threads(), sums);
  call.team().for_range(task.block->outer_sites(), [&](std::int64_t begin, std::int64_t end, int thread) {
    for (auto outer = static_cast<int>(begin); outer < end; ++outer)
      for (int lane = 0; lane < lanes; ++lane) {
        const int time = task.block->local_site({task.parity, outer, lane})[3] + task.block->block().origin[3];
        for (int v = 0; v < task.vectors; ++v) {
          const double* spinor = field + (static_cast<std::ptrdiff_t>(outer) * task.vectors + v) * reals * lanes;
          double norm = 0;
          for (int w = 0; w < reals; ++w) {
            const double x = spinor[site::word_place(w, lane, lanes, chunk)];
            norm = std::fma(x, x, norm);
          }
          runtime::add(partial.of(thread)[time * task.vectors + v], norm);
        }
      }
  });
  partial.merge_into(call.buffer<runtime::BinnedSum>(0), sums);
}
const runtime::Codelet norms_codelet("domain_wall.norms", runtime::CodeletKind::vector, run_norms);

bool is_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
}

}  // namespace

Walls::Walls(LatticePointer four, const Parameters& parameters, std::function<wilson::Hopping&(int vectors)> hopping)
    : four_(std::move(four)), parameters_(parameters), hopping_(std::move(hopping)) {}

void Walls::load(const FullField& b, const FullField& eta) {
  const int last = parameters_.slices() - 1;
  if (is_zero(parameters_.c)) {
    for (const int parity : {0, 1}) submit_walls(eta.of(parity), b.of(parity), 0, last, true);
    return;
  }
  const int n = eta.even.vectors();
  const FullField walls(b.even.lattice(), spinor_components, n);
  for (const int parity : {0, 1}) submit_walls(eta.of(parity), walls.of(parity), 0, last, true);
  const auto of_slice = [&](auto&& value) {
    PerVector values{};
    for (std::size_t v = 0; v < static_cast<std::size_t>(b.even.site_vectors()); ++v) values[v] = value(v / static_cast<std::size_t>(n));
    return values;
  };
  const double a = parameters_.diagonal(), h = parameters_.half_hop();
  const PerVector diagonal = of_slice([&](std::size_t s) { return 1 - parameters_.c[s] * a; }),
                  scale = of_slice([&](std::size_t s) { return parameters_.c[s] * h; });
  submit_together([&] {
    for (const int parity : {0, 1})
      hopping_(n).apply(b.of(parity), walls.of(1 - parity), {.x = &walls.of(parity), .diagonal = diagonal, .scale = scale});
  });
}

void Walls::store(const FullField& q, const FullField& x) {
  for (const int parity : {0, 1}) submit_walls(q.of(parity), x.of(parity), parameters_.slices() - 1, 0, false);
}

std::vector<std::vector<double>> Walls::midpoint(const FullField& x) {
  const int n = x.even.vectors(), times = four_->decomposition().lattice()[3], slices = parameters_.slices();
  const FullField q(four_, spinor_components, n);
  std::vector<std::vector<double>> norms(static_cast<std::size_t>(n));
  for (const auto& [upper, lower] : {std::pair{slices / 2 - 1, slices / 2}, {slices - 1, 0}}) {
    std::vector<double> total(static_cast<std::size_t>(times * n), 0);
    for (const int parity : {0, 1}) {
      submit_walls(q.of(parity), x.of(parity), upper, lower, false);
      const runtime::PartialSums sums = partial_sums_on(*four_, times * n);
      for (const int b : four_->local_blocks())
        runtime::submit(norms_codelet, NormTask{&four_->block(b), parity, n, times, four_->chunked() ? 1 : 0},
                        {runtime::out(sums.task(four_->decomposition().local_index(b))), runtime::in(q.of(parity).block(b))},
                        {0, q.of(parity).block_bytes(b)}, placement_of(four_->block(b)));
      const std::vector<double> of_parity = runtime::values_of(sums, times * n);
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += of_parity[i];
    }
    for (std::size_t i = 0; i < total.size(); ++i) norms[i % norms.size()].push_back(total[i]);
  }
  return norms;
}

}  // namespace quarkstar::domain_wall
