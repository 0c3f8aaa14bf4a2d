#pragma once
// Which right-hand sides a run has, and which of them are solved together.
#include "apps/run/config.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace quarkstar::app {

/// The place of its source among the run's, its column, and the place of its mass in the list of masses.
struct RightHandSide {
  std::size_t source;
  int column;
  std::size_t mass;
  bool operator==(const RightHandSide&) const = default;
};

/// Masses (places in their list) that share an operator: all of them, or where each has a Naik epsilon of its own one after the other.
std::vector<std::vector<std::size_t>> operators_of(const RunConfig& config);

/// Right-hand sides of one operator in the groups in which they are solved together, one after the other: config.nrhs at most, of any
/// sources, columns and masses; those of one mass follow each other, for they take about the same iterations. With `blockcg`, and where
/// modes are gathered of an operator that masses do not shift, a group has one mass, with `multishift` one column of one source, with as
/// many masses as go together.
std::vector<std::vector<RightHandSide>> groups_of(const RunConfig& config, std::span<const std::size_t> masses);

/// Places of masses m > 0 and -m, both in the list: of twisted mass the two flavours.
struct MassPair {
  std::size_t plus, minus;
};
std::vector<MassPair> opposite_masses(const std::vector<double>& masses);

/// The currents that are wanted; none where no three-point functions are.
std::vector<contract::Choice> three_point_currents(const RunConfig& config);

/// Columns of a sequential propagator that are solved together, one list after the other; none where no three-point functions are wanted.
std::vector<std::vector<int>> sequential_groups(const RunConfig& config);

/// How many right-hand sides the groups of the run's first operator have, and those of sequential propagators.
std::vector<int> numbers_together(const RunConfig& config);

/// Bytes per site of a copy of a propagator that is made to contract it, or of two that are contracted together, and of what three-point
/// functions take; 0 where its columns are always solved together, or not all wanted.
double contraction_bytes(const RunConfig& config);

/// What smearing sources and sinks takes, in bytes per site: links that stay, vectors while it goes on, and gauge fields before.
struct SmearingBytes {
  double links = 0, vectors = 0, making = 0;
};
SmearingBytes smearing_bytes(const RunConfig& config);

/// Whether solutions of a group come to host memory: for the caller, for restart files, or because a propagator's columns come in parts or
/// are contracted with another's.
bool comes_to_host(const RunConfig& config, const std::vector<RightHandSide>& group);
/// Of any group.
bool columns_come_to_host(const RunConfig& config);

/// Sources whose solutions are there at once at most, where the solutions of each are given away with the last of them, and groups are
/// solved in this order, so many at a time.
std::size_t most_sources_at_once(const RunConfig& config, int groups_at_once);

}  // namespace quarkstar::app
