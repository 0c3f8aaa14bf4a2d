#include "codelets/field/places_of.hpp"
#include "codelets/field/source_field.hpp"
#include "codelets/field/source_site.hpp"
#include "codelets/lattice/placement.hpp"
#include "codelets/quark_smear/smearers.hpp"
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

int slices_of(const Source& source) { return source.smearing ? 9 : 1; }

/// One after the other; of smeared points the place alone.
runtime::Handle table_of(const std::vector<Source>& sources, const std::vector<int>& first, int slices, const Coord& lattice,
                         const Box& part) {
  const std::int64_t slice = volume(part.extents) / part.extents[3];
  runtime::Handle handle(static_cast<std::size_t>(slices * slice) * sizeof(std::complex<double>));
  if constexpr (!runtime::backend::computes) return handle;
  const runtime::HostView<std::complex<double>> table(handle, runtime::HostAccess::overwrite);
  for (std::size_t s = 0; s < sources.size(); ++s)
    for_source_sites(sources[s], lattice, part, [&](std::int64_t site, std::complex<double> value) {
      table[static_cast<std::size_t>(first[s] * slice + site % slice)] = value;
    });
  return handle;
}

/// Of this part, or -1.
int time_in(const Box& part, const Source& source) {
  const int time = source.time() - part.origin[3];
  return time >= 0 && time < part.extents[3] ? time : -1;
}

}  // namespace

SourceColumns::SourceColumns(const runtime::Decomposition& decomposition, std::vector<SourceColumn> columns, const QuarkSmearers* smearers)
    : lattice_(decomposition.lattice()), part_(decomposition.part()), columns_(std::move(columns)) {
  std::vector<Source> sources;
  std::vector<int> first;
  int slices = 0;
  bool smeared = false;
  for (const SourceColumn& column : columns_) {
    check_source(column.source, lattice_);
    auto known = std::find(sources.begin(), sources.end(), column.source);
    if (known == sources.end()) {
      known = sources.insert(known, column.source);
      first.push_back(std::exchange(slices, slices + slices_of(column.source)));
      smeared = smeared || column.source.smearing;
    }
    numbers_.push_back(first[static_cast<std::size_t>(known - sources.begin())]);
  }
  table_ = table_of(sources, first, slices, lattice_, part_);
  if (!smeared) return;
  if (smearers == nullptr) throw ShapeError("SourceColumns", "a smeared source without links");
  smear(sources, first, decomposition, *smearers);
}

/// Points with one smearing go together, each link read once for all of them.
void SourceColumns::smear(const std::vector<Source>& sources, const std::vector<int>& first, const runtime::Decomposition& decomposition,
                          const QuarkSmearers& smearers) {
  constexpr std::size_t most = most_vectors / colour_components;
  std::vector<bool> done(sources.size());
  for (std::size_t begin = 0; begin < sources.size(); ++begin) {
    if (done[begin] || !sources[begin].smearing) continue;
    std::vector<std::size_t> together;
    for (std::size_t s = begin; s < sources.size() && together.size() < most; ++s)
      if (!done[s] && sources[s].smearing == sources[begin].smearing) together.push_back(s);
    std::vector<SourceColumn> points;
    std::vector<int> vectors;
    auto task = runtime::blank<SliceTask>();
    for (const std::size_t s : together) {
      done[s] = true;
      task.time[task.sources] = time_in(part_, sources[s]);
      task.number[task.sources++] = first[s];
      for (int colour = 0; colour < colour_components; ++colour) {
        vectors.push_back(static_cast<int>(vectors.size()));
        points.push_back({sources[s], colour});
        points.back().source.smearing.reset();
      }
    }
    const SourceColumns from(decomposition, std::move(points));
    const FullField field(smearers.lattice(), colour_components, static_cast<int>(vectors.size()));
    from.submit(field.even);
    from.submit(field.odd);
    smearers.smear(*sources[begin].smearing, field, field, vectors);
    task.places = places_of(field.even);
    task.part = part_.extents;
    const Lattice& lattice = *smearers.lattice();
    for (const Field* half : {&field.even, &field.odd})
      for (const int b : lattice.local_blocks()) {
        const BlockGeometry& block = lattice.block(b);
        task.parity = half->parity();
        task.shape = block.shape();
        for (int mu = 0; mu < 4; ++mu) task.origin[mu] = block.block().origin[mu] - part_.origin[mu];
        runtime::submit(items_codelet<WriteSlices>(), task, {runtime::inout(table_), runtime::in(half->block(b))},
                        {0, half->block_bytes(b)}, placement_of(block));
      }
  }
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
    task.time[v] = time_in(part_, source);
    task.column[v] = column;
    task.number[v] = numbers_[v];
    task.mixes[v] = source.smearing.has_value();
  }
  task.part = part_.extents;
  task.parity = field.parity();
  task.reals = field.reals();
  task.places = places_of(field);
  for (const int b : lattice.local_blocks()) {
    const BlockGeometry& block = lattice.block(b);
    task.shape = block.shape();
    for (int mu = 0; mu < 4; ++mu) task.origin[mu] = block.block().origin[mu] - part_.origin[mu];
    runtime::submit(items_codelet<WriteSource>(), task, {runtime::out(field.block(b)), runtime::in(table_)}, {0, field.block_bytes(b)},
                    placement_of(block));
  }
}

}  // namespace quarkstar
