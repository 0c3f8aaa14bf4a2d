#include "codelets/arch/implementations.hpp"
#include "codelets/field/places_of.hpp"
#include "codelets/field/source_cuda.hpp"
#include "codelets/field/source_field.hpp"
#include "codelets/field/source_site.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/backend.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/graph/handle.hpp"
#include "runtime/system/error.hpp"

#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

namespace quarkstar {
namespace {

using runtime::Call;

void run(Call& call) {
  const auto& task = call.arguments<SourceTask>();
  double* field = call.buffer<double>(0);
  const double* table = call.buffer<const double>(1);
  call.team().for_range(task.shape.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
    for (auto outer = static_cast<int>(begin); outer < end; ++outer)
      for (int v = 0; v < task.places.vectors; ++v)
        for (int lane = 0; lane < task.shape.lanes; ++lane) write_source(field, table, task, outer, lane, v);
  });
}

#ifdef QUARKSTAR_CUDA
void run_on_cuda(Call& call) {
  cuda::launch_sources(call.buffer<double>(0), call.buffer<const double>(1), call.arguments<SourceTask>(),
                       static_cast<runtime::CudaStream>(call.stream()));
}
const runtime::Codelet codelet("source", runtime::CodeletKind::copy, run, run_on_cuda);
#else
const runtime::Codelet codelet("source", runtime::CodeletKind::copy, run);
#endif

bool same(const Source& a, const Source& b) { return a.kind == b.kind && a.position == b.position && a.seed == b.seed; }

/// One after the other.
runtime::Handle table_of(const std::vector<Source>& sources, const Coord& lattice, const Box& part) {
  const std::int64_t slice = volume(part.extents) / part.extents[3];
  runtime::Handle handle(sources.size() * static_cast<std::size_t>(slice) * sizeof(std::complex<double>));
  if constexpr (!runtime::backend::computes) return handle;
  const runtime::HostView<std::complex<double>> table(handle, runtime::HostAccess::overwrite);
  for (std::size_t s = 0; s < sources.size(); ++s)
    for_source_sites(sources[s], lattice, part, [&](std::int64_t site, std::complex<double> value) {
      table[s * static_cast<std::size_t>(slice) + static_cast<std::size_t>(site % slice)] = value;
    });
  return handle;
}

}  // namespace

SourceColumns::SourceColumns(const runtime::Decomposition& decomposition, std::vector<SourceColumn> columns)
    : lattice_(decomposition.lattice()), part_(decomposition.part()), columns_(std::move(columns)) {
  std::vector<Source> sources;
  for (const SourceColumn& column : columns_) {
    check_source(column.source, lattice_);
    auto known = std::find_if(sources.begin(), sources.end(), [&](const Source& s) { return same(s, column.source); });
    if (known == sources.end()) known = sources.insert(known, column.source);
    numbers_.push_back(static_cast<int>(known - sources.begin()));
  }
  table_ = table_of(sources, lattice_, part_);
}

void SourceColumns::submit(const Field& field) const {
  const Lattice& lattice = *field.lattice();
  const auto n = static_cast<std::size_t>(field.vectors());
  if (n > columns_.size()) throw ShapeError("SourceColumns", "a field with more vectors");
  const Box part = lattice.decomposition().part();
  if (lattice.decomposition().lattice() != lattice_ || part.origin != part_.origin || part.extents != part_.extents ||
      lattice.precision() != Precision::double_)
    throw ShapeError("SourceColumns", "a field of another lattice, of another part of it, or not of double precision");
  auto task = runtime::blank<SourceTask>();
  for (std::size_t v = 0; v < n; ++v) {
    const auto& [source, column] = columns_[v];
    if (column < 0 || column >= field.components()) throw ShapeError("SourceColumns", "a column that the field has not");
    const int time = source.time() - part_.origin[3];
    task.time[v] = time >= 0 && time < part_.extents[3] ? time : -1;
    task.column[v] = column;
    task.number[v] = numbers_[v];
  }
  task.part = part_.extents;
  task.parity = field.parity();
  task.reals = field.reals();
  task.places = places_of(field);
  for (const int b : lattice.local_blocks()) {
    const BlockGeometry& block = lattice.block(b);
    task.shape = block.shape();
    for (int mu = 0; mu < 4; ++mu) task.origin[mu] = block.block().origin[mu] - part_.origin[mu];
    runtime::submit(codelet, task, {runtime::out(field.block(b)), runtime::in(table_)}, {0, field.block_bytes(b)}, placement_of(block));
  }
}

}  // namespace quarkstar
