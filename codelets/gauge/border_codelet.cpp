#include "codelets/arch/on_cuda.hpp"
#include "codelets/gauge/gauge_field.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/session.hpp"

#include <algorithm>

namespace quarkstar::gauge {

QUARKSTAR_ON_CUDA(run_copies_on_cuda)

namespace {

using runtime::Call;

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

void run_copies(Call& call) { call.arguments<BorderCopies>().run(call, 1); }

const runtime::Codelet border_codelet("gauge.border", runtime::CodeletKind::pack, run_copies, run_copies_on_cuda);

/// In memory of its own: a face.
LinkShape face_of(const Box& layers, int links) { return {layers.extents, {}, links}; }

/// Those of a block as a task of its own, where there are any. urgent: others wait for what it sends.
void submit_copies(const runtime::Block& block, const runtime::Handle& links, const BorderExchange::OfBlock& of_block, bool urgent) {
  if (of_block.copies.count == 0) return;
  runtime::AccessList accesses{runtime::inout(links)};
  accesses.insert(accesses.end(), of_block.faces.begin(), of_block.faces.end());
  runtime::submit(border_codelet, of_block.copies, accesses, {0, of_block.copies.bytes()}, {block.owner, block.index, urgent});
}

}  // namespace

void BorderCopies::run(const Call& call, int first_face) const {
  for (int i = 0; i < count; ++i) {
    const Part& part = parts[i];
    double* to = call.buffer<double>(part.buffer(part.to, first_face));
    const double* from = call.buffer<const double>(part.buffer(part.from, first_face));
    call.team().for_range(part.box.rows(), [&, copy = copy_of_length(part.box.extents[0])](std::int64_t begin, std::int64_t end, int) {
      copy(part.box, to, from, begin, end);
    });
  }
}

double BorderCopies::bytes() const {
  double reals = 0;
  for (int i = 0; i < count; ++i) reals += 2.0 * static_cast<double>(volume(parts[i].box.extents)) * parts[i].box.reals;
  return reals * sizeof(double);
}

void BorderExchange::OfBlock::add(const runtime::Access& face, bool is_target, const BoxCopy& box) {
  faces.push_back(face);
  const auto number = static_cast<int>(faces.size());
  copies.parts[copies.count++] = is_target ? BorderCopies::Part{number, 0, box} : BorderCopies::Part{0, number, box};
}

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

std::vector<BorderExchange::OfBlock> BorderExchange::nothing() const {
  return std::vector<OfBlock>(links_.blocks().size(), {runtime::blank<BorderCopies>(), {}});
}

void BorderExchange::gather(std::vector<OfBlock>& of_blocks) {
  const int first_real = first_ * LinkShape::link_reals, reals = together_ * LinkShape::link_reals;
  for (; at_ < stages_.size(); ++at_) {
    Stage& stage = stages_[at_];
    if (stage.halo) stage.halo->next();
    for (std::size_t b = 0; b < of_blocks.size(); ++b) {
      const runtime::Block& block = links_.blocks()[b];
      const LinkShape shape = links_.shape(block);
      for (const int mu : stage.directions)
        for (const bool high : {false, true}) {
          if (links_.decomposition().is_cut(mu)) {
            // A face is named after the direction in which its reader looks: the low layers are for the one that looks up.
            const Box source = slab(shape, stage, mu, high, false);
            of_blocks[b].add(runtime::out(stage.halo->outgoing(block.index, 2 * mu + high)), true,
                             {face_of(source, together_), shape, {}, source.origin, source.extents, 0, first_real, reals});
          } else {
            const Box border = slab(shape, stage, mu, high, true), source = slab(shape, stage, mu, !high, false);
            BorderCopies& copies = of_blocks[b].copies;
            copies.parts[copies.count++] = {
                0, 0, {shape, shape, border.origin, source.origin, source.extents, first_real, first_real, reals}};
          }
        }
    }
    if (stage.halo) return;
  }
}

void BorderExchange::receive(std::vector<OfBlock>& of_blocks) {
  const int first_real = first_ * LinkShape::link_reals, reals = together_ * LinkShape::link_reals;
  Stage& stage = stages_[at_++];
  stage.halo->exchange();
  for (std::size_t b = 0; b < of_blocks.size(); ++b) {
    const runtime::Block& block = links_.blocks()[b];
    const LinkShape shape = links_.shape(block);
    for (const int mu : stage.directions)
      for (const bool high : {false, true}) {
        if (!links_.decomposition().is_cut(mu)) continue;
        const Box border = slab(shape, stage, mu, high, true);
        of_blocks[b].add(runtime::in(stage.halo->incoming(block.index, 2 * mu + !high)), false,
                         {shape, face_of(border, together_), border.origin, {}, border.extents, first_real, 0, reals});
      }
  }
}

std::vector<BorderExchange::OfBlock> BorderExchange::begin() {
  at_ = 0;
  std::vector<OfBlock> of_blocks = nothing();
  gather(of_blocks);
  return of_blocks;
}

std::vector<BorderExchange::OfBlock> BorderExchange::finish() {
  std::vector<OfBlock> of_blocks = nothing();
  while (at_ < stages_.size()) {
    submit(of_blocks, true);
    of_blocks = nothing();
    receive(of_blocks);
    gather(of_blocks);
  }
  return of_blocks;
}

void BorderExchange::submit(const std::vector<OfBlock>& of_blocks, bool urgent) const {
  for (std::size_t b = 0; b < of_blocks.size(); ++b)
    submit_copies(links_.blocks()[b], links_.handle(links_.blocks()[b]), of_blocks[b], urgent);
}

void BorderExchange::submit() {
  const std::vector<OfBlock> first = begin();  // before at_ is looked at
  submit(first, at_ < stages_.size());
  submit(finish(), false);
}

void exchange_border(const GaugeField& links) {
  BorderExchange exchange(links);
  exchange.submit();
  if (links.decomposition().is_distributed()) runtime::Session::current().wait_all();
}

}  // namespace quarkstar::gauge
