#pragma once
// A decomposed lattice in one precision: the layout that all fields on it share.
#include "codelets/lattice/block_geometry.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace quarkstar {

/// Immutable; shared by the fields that live on it.
class Lattice {
 public:
  /// Throws Error(input) where a cut leaves a block thinner than layout.reach, ShapeError for vectors_in_lanes other than 1, 8 and 16, on
  /// GPUs also 12, and with slices for another than that of slices.
  Lattice(const runtime::Decomposition& decomposition, Precision precision, const BoundaryAngles& boundary,
          const LayoutRequest& layout = {})
      : decomposition_(decomposition),
        precision_(precision),
        boundary_(boundary),
        on_gpus_(is_on_gpus(decomposition)),
        vectors_in_lanes_(vectors_in_lanes_of(precision, layout, on_gpus_)),
        slices_(layout.slices),
        lanes_(choose_lane_grid(decomposition, precision, layout)) {
    blocks_.resize(decomposition_.blocks().size());
    for (const int b : decomposition_.local())
      blocks_[static_cast<std::size_t>(b)] =
          std::make_unique<BlockGeometry>(decomposition_, b, lanes_, boundary, layout.reach, layout.tile);
  }

  const runtime::Decomposition& decomposition() const { return decomposition_; }
  Precision precision() const { return precision_; }
  const BoundaryAngles& boundary() const { return boundary_; }
  const LaneGrid& lanes() const { return lanes_; }
  /// Whether words of a lane lie in chunks (codelets/field/word_place.hpp), in spinors and the links between them: where all tasks on this
  /// rank's blocks run on GPUs, and lanes fill 64 bytes or hold vectors. In faces they do not, so that ranks need not agree.
  bool chunked() const { return on_gpus_ && (vectors_in_lanes_ > 1 || lanes_.lanes * static_cast<int>(computed_bytes(precision_)) == 64); }
  /// Vectors in lanes; 1: the lanes are of sites.
  int vectors_in_lanes() const { return vectors_in_lanes_; }
  /// Of the fifth dimension; 1: there is none.
  int slices() const { return slices_; }
  /// Whether these are what the lanes hold: all slices of a vector.
  bool slices_in_lanes() const { return slices_ > 1 && vectors_in_lanes_ > 1; }
  /// All blocks of the lattice, and those of this rank, which alone have a geometry.
  int block_count() const { return decomposition_.count(); }
  const std::vector<int>& local_blocks() const { return decomposition_.local(); }
  const BlockGeometry& block(int index) const { return *blocks_[static_cast<std::size_t>(index)]; }
  /// The device number of this rank's GPU where that is the only worker for all of its blocks.
  static std::optional<int> only_gpu(const runtime::Decomposition& decomposition);
  std::int64_t sites_of_parity() const { return volume(decomposition_.lattice()) / 2; }

  /// Throws ShapeError naming `where` unless a host field's box holds this rank's part and, in directions that are cut between ranks,
  /// `before` layers before it.
  void require_part(const char* where, const Box& box, int before) const;

 private:
  static bool is_on_gpus(const runtime::Decomposition& decomposition);
  static int vectors_in_lanes_of(Precision precision, const LayoutRequest& layout, bool on_gpus);
  runtime::Decomposition decomposition_;
  Precision precision_;
  BoundaryAngles boundary_;
  bool on_gpus_;
  int vectors_in_lanes_, slices_;
  LaneGrid lanes_;
  std::vector<std::unique_ptr<BlockGeometry>> blocks_;
};

using LatticePointer = std::shared_ptr<const Lattice>;

}  // namespace quarkstar
