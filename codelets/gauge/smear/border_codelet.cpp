#include "codelets/gauge/smear/box_copy.hpp"
#include "codelets/gauge/smear/padded_links.hpp"
#include "codelets/gauge/smear/smear_cuda.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

namespace quarkstar::smear {
namespace {

using runtime::Call;

/// Buffers: the target, then the source unless it is the target.
struct CopyTask {
  BoxCopy box;
  bool within;
};

void run_copy(Call& call) {
  const auto& task = call.arguments<CopyTask>();
  double* to = call.buffer<double>(0);
  const double* from = call.buffer<const double>(task.within ? 0 : 1);
  call.team().for_range(task.box.rows(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row)
      for (int real = 0; real < PaddedShape::site_reals; ++real)
        for (int x = 0; x < task.box.extents[0]; ++x) task.box.copy(to, from, row, real, x);
  });
}

constexpr runtime::Implementation copy_on_cuda() {
#ifdef QUARKSTAR_CUDA
  return [](Call& call) {
    const auto& task = call.arguments<CopyTask>();
    cuda::launch_copy(call.buffer<double>(0), call.buffer<const double>(task.within ? 0 : 1), task.box,
                      static_cast<runtime::CudaStream>(call.stream()));
  };
#else
  return nullptr;
#endif
}

const runtime::Codelet pack_codelet("smear.border.pack", runtime::CodeletKind::pack, run_copy, copy_on_cuda());
const runtime::Codelet unpack_codelet("smear.border.unpack", runtime::CodeletKind::copy, run_copy, copy_on_cuda());
const runtime::Codelet wrap_codelet("smear.border.wrap", runtime::CodeletKind::copy, run_copy, copy_on_cuda());

/// Rectangle of `depth` layers of a block at coordinate `layer` of direction mu, with the border of the directions
/// before mu.
struct Slab {
  Coord origin, extents;
  Slab(const PaddedShape& shape, int mu, int layer) : origin{}, extents(shape.extents) {
    for (int nu = 0; nu < mu; ++nu) {
      origin[nu] = -shape.depth;
      extents[nu] = shape.padded(nu);
    }
    origin[mu] = layer;
    extents[mu] = shape.depth;
  }
};

/// Layers of the block that its neighbours need, and layers of the border that they fill.
int source_layer(const PaddedShape& shape, int mu, bool high) { return high ? shape.extents[mu] - shape.depth : 0; }
int border_layer(const PaddedShape& shape, int mu, bool high) { return high ? shape.extents[mu] : -shape.depth; }

void submit_copy(const runtime::Codelet& codelet, const CopyTask& task, const runtime::AccessList& accesses, const runtime::Block& block) {
  const double bytes = 2.0 * static_cast<double>(volume(task.box.extents)) * PaddedShape::site_reals * sizeof(double);
  runtime::submit(codelet, task, accesses, {0, bytes}, {block.owner, block.index, &codelet == &pack_codelet});
}

void wrap(const PaddedLinks& links, const runtime::Block& block, int mu) {
  const PaddedShape shape = links.shape(block.index);
  for (const bool high : {false, true}) {
    const Slab border(shape, mu, border_layer(shape, mu, high)), source(shape, mu, source_layer(shape, mu, !high));
    submit_copy(wrap_codelet, {{shape, shape, border.origin, source.origin, source.extents}, true},
                {runtime::inout(links.block(block.index))}, block);
  }
}

}  // namespace

PaddedLinks::PaddedLinks(const Region& region, int depth) : region_(region), depth_(depth) {
  for (const runtime::Block& block : region_.blocks.blocks())
    for (int mu = 0; mu < 4; ++mu)
      if (block.extents[mu] < depth)
        throw Error(ErrorKind::input, "--blocks",
                    fmt::format("a block of extent {} along {} is thinner than the border of {} sites that smearing needs",
                                block.extents[mu], "xyzt"[mu], depth),
                    "cut that direction into fewer blocks");
  for (int b = 0; b < region_.blocks.count(); ++b) blocks_.emplace_back(shape(b).reals() * sizeof(double));
}

void exchange_border(const PaddedLinks& links) {
  if (links.depth() == 0) return;
  const runtime::Decomposition& decomposition = links.decomposition();
  for (int mu = 0; mu < 4; ++mu) {
    if (!decomposition.is_cut(mu)) {
      for (const runtime::Block& block : decomposition.blocks()) wrap(links, block, mu);
      continue;
    }
    // faces[2 b + high]: the outermost layers of block b on that side, before any border of this direction is written.
    std::vector<runtime::Handle> faces;
    for (const runtime::Block& block : decomposition.blocks())
      for (const bool high : {false, true}) {
        const PaddedShape shape = links.shape(block.index);
        const Slab source(shape, mu, source_layer(shape, mu, high));
        const PaddedShape face{source.extents, 0};
        faces.emplace_back(face.reals() * sizeof(double));
        submit_copy(pack_codelet, {{face, shape, {}, source.origin, source.extents}, false},
                    {runtime::out(faces.back()), runtime::in(links.block(block.index))}, block);
      }
    for (const runtime::Block& block : decomposition.blocks())
      for (const bool high : {false, true}) {
        const PaddedShape shape = links.shape(block.index);
        const Slab border(shape, mu, border_layer(shape, mu, high));
        const int neighbour = decomposition.neighbour(block.index, high ? 2 * mu : 2 * mu + 1);
        const runtime::Handle& face = faces[static_cast<std::size_t>(2 * neighbour + (high ? 0 : 1))];
        submit_copy(unpack_codelet, {{shape, {border.extents, 0}, border.origin, {}, border.extents}, false},
                    {runtime::inout(links.block(block.index)), runtime::in(face)}, block);
      }
  }
}

}  // namespace quarkstar::smear
