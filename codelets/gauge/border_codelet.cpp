#include "codelets/gauge/gauge_cuda.hpp"
#include "codelets/gauge/gauge_field.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/session.hpp"

#include <algorithm>

namespace quarkstar::gauge {
namespace {

using runtime::Call;

/// Copies between the task's buffers, one after the other: borders that faces fill, borders that the block's other side fills, faces.
struct BorderTask {
  static constexpr int most = 16;
  int count;
  struct Part {
    int to, from;  ///< buffers; 0: the block
    BoxCopy box;
  } parts[most];
};

/// Rows [begin, end). Borders of small blocks are many short rows: a loop of known length and coordinates without divisions take a third of
/// the time.
template <int N>
void copy_rows(const BoxCopy& box, double* to, const double* from, std::int64_t begin, std::int64_t end) {
  Coord start = box.row_start(begin);
  for (std::int64_t row = begin; row < end; ++row) {
    box.copy<N>(to, from, start);
    for (int mu = 1; mu < 4 && ++start[mu] == box.extents[mu]; ++mu) start[mu] = 0;
  }
}

auto copy_of_length(int sites) {
  switch (sites) {
    case 1:
      return copy_rows<1>;
    case 4:
      return copy_rows<4>;
    case 8:
      return copy_rows<8>;
    default:
      return copy_rows<0>;
  }
}

void run_copies(Call& call) {
  const auto& task = call.arguments<BorderTask>();
  for (int i = 0; i < task.count; ++i) {
    const BorderTask::Part& part = task.parts[i];
    double* to = call.buffer<double>(part.to);
    const double* from = call.buffer<const double>(part.from);
    call.team().for_range(part.box.rows(), [&, copy = copy_of_length(part.box.extents[0])](std::int64_t begin, std::int64_t end, int) {
      copy(part.box, to, from, begin, end);
    });
  }
}

#ifdef QUARKSTAR_CUDA
void run_copies_on_cuda(Call& call) {
  const auto& task = call.arguments<BorderTask>();
  for (int i = 0; i < task.count; ++i) {
    const BorderTask::Part& part = task.parts[i];
    cuda::launch_copy(call.buffer<double>(part.to), call.buffer<const double>(part.from), part.box,
                      static_cast<runtime::CudaStream>(call.stream()));
  }
}
#else
constexpr runtime::Implementation run_copies_on_cuda = nullptr;
#endif

const runtime::Codelet border_codelet("gauge.border", runtime::CodeletKind::pack, run_copies, run_copies_on_cuda);

/// In memory of its own: a face.
LinkShape face_of(const Box& layers, int links) { return {layers.extents, {}, links}; }

/// A task in the making, of one block.
class Copies {
 public:
  Copies(const runtime::Block& block, const runtime::Handle& links)
      : block_(block), accesses_{runtime::inout(links)}, task_(runtime::blank<BorderTask>()) {}

  /// Buffers: 0 the block's links, then the faces in the order in which they are added.
  int add_face(const runtime::Access& face) {
    accesses_.push_back(face);
    return static_cast<int>(accesses_.size()) - 1;
  }
  void add(int to, int from, const BoxCopy& box) {
    task_.parts[task_.count++] = {to, from, box};
    bytes_ += 2.0 * static_cast<double>(volume(box.extents)) * box.reals * sizeof(double);
  }
  /// Others wait for what it sends.
  void submit(bool urgent) const {
    if (task_.count > 0) runtime::submit(border_codelet, task_, accesses_, {0, bytes_}, {block_.owner, block_.index, urgent});
  }

 private:
  runtime::Block block_;
  runtime::AccessList accesses_;
  BorderTask task_;
  double bytes_ = 0;
};

}  // namespace

BorderExchange::BorderExchange(const GaugeField& links) : links_(links), first_(0), together_(4) {
  Coord filled{};
  for (int mu = 0; mu < 4; ++mu) {
    stages_.push_back(stage({mu}, filled, filled));
    filled[mu] = links.depth()[mu];
  }
}

BorderExchange::BorderExchange(const GaugeField& links, int mu, Staples staples) : links_(links), first_(mu), together_(1) {
  Coord low{};
  if (staples == Staples::all) {
    stages_.push_back(stage({mu}, low, {}));
    low[mu] = links.depth()[mu];
  }
  std::vector<int> others;
  for (int nu = 0; nu < 4; ++nu)
    if (nu != mu) others.push_back(nu);
  stages_.push_back(stage(others, low, {}));
}

BorderExchange::Stage BorderExchange::stage(std::vector<int> directions, const Coord& low, const Coord& high) const {
  const runtime::Decomposition& decomposition = links_.decomposition();
  Stage stage{std::move(directions), low, high, {}};
  std::erase_if(stage.directions, [this](int mu) { return links_.depth()[mu] == 0; });
  const auto sends = [&](int mu) {
    return decomposition.is_cut(mu) && std::find(stage.directions.begin(), stage.directions.end(), mu) != stage.directions.end();
  };
  const auto bytes = [&](int block, int direction) {
    if (!sends(direction / 2)) return std::size_t{0};
    const LinkShape shape = links_.shape(decomposition.block(block));
    return face_of(slab(shape, stage, direction / 2, false, true), together_).reals() * sizeof(double);
  };
  if (sends(0) || sends(1) || sends(2) || sends(3)) stage.halo.emplace(decomposition, bytes, "border of links");
  return stage;
}

Box BorderExchange::slab(const LinkShape& shape, const Stage& stage, int direction, bool high, bool border) const {
  Box box({}, shape.extents);
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == direction) continue;
    box.origin[nu] -= stage.low[nu];
    box.extents[nu] += stage.low[nu] + stage.high[nu];
  }
  const int depth = shape.depth[direction], extent = shape.extents[direction];
  box.origin[direction] = border ? (high ? extent : -depth) : (high ? extent - depth : 0);
  box.extents[direction] = depth;
  return box;
}

void BorderExchange::submit() {
  const int first_real = first_ * LinkShape::link_reals, reals = together_ * LinkShape::link_reals;
  std::vector<Copies> tasks;
  const auto begin_tasks = [&] {
    tasks.clear();
    for (const runtime::Block& block : links_.blocks()) tasks.emplace_back(block, links_.handle(block));
  };
  begin_tasks();
  for (Stage& stage : stages_) {
    if (stage.halo) stage.halo->next();
    // A face is named after the direction in which its reader looks: the low layers are for the one that looks up.
    for (std::size_t b = 0; b < tasks.size(); ++b) {
      const runtime::Block& block = links_.blocks()[b];
      const LinkShape shape = links_.shape(block);
      for (const int mu : stage.directions)
        for (const bool high : {false, true}) {
          if (links_.decomposition().is_cut(mu)) {
            const Box source = slab(shape, stage, mu, high, false);
            const int face = tasks[b].add_face(runtime::out(stage.halo->outgoing(block.index, 2 * mu + high)));
            tasks[b].add(face, 0, {face_of(source, together_), shape, {}, source.origin, source.extents, 0, first_real, reals});
          } else {
            const Box border = slab(shape, stage, mu, high, true), source = slab(shape, stage, mu, !high, false);
            tasks[b].add(0, 0, {shape, shape, border.origin, source.origin, source.extents, first_real, first_real, reals});
          }
        }
    }
    if (!stage.halo) continue;
    for (const Copies& task : tasks) task.submit(true);
    stage.halo->exchange();
    begin_tasks();
    for (std::size_t b = 0; b < tasks.size(); ++b) {
      const runtime::Block& block = links_.blocks()[b];
      const LinkShape shape = links_.shape(block);
      for (const int mu : stage.directions)
        for (const bool high : {false, true}) {
          if (!links_.decomposition().is_cut(mu)) continue;
          const Box border = slab(shape, stage, mu, high, true);
          const int face = tasks[b].add_face(runtime::in(stage.halo->incoming(block.index, 2 * mu + !high)));
          tasks[b].add(0, face, {shape, face_of(border, together_), border.origin, {}, border.extents, first_real, 0, reals});
        }
    }
  }
  for (const Copies& task : tasks) task.submit(false);
}

void exchange_border(const GaugeField& links) {
  BorderExchange exchange(links);
  exchange.submit();
  if (links.decomposition().is_distributed()) runtime::Session::current().wait_all();
}

}  // namespace quarkstar::gauge
