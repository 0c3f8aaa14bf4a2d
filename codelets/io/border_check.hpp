#pragma once
// Sites that several ranks have read from a file.
#include "runtime/cut/coord.hpp"
#include "runtime/mpi/job.hpp"

#include <span>
#include <string>

namespace quarkstar::format {

/// Collective. A file's checksums cover each site once, in the part of the rank that owns it. This compares what a rank has of its border,
/// the sites of its box outside its part, with what their owners have, by sums that travel instead of the numbers. field: the same number
/// of reals for each site of the box. Throws Error(environment) with the rank whose border differs.
void compare_borders(runtime::mpi::Job& job, const std::string& path, std::span<const double> field, const Box& box, const Box& part,
                     const Coord& lattice);

}  // namespace quarkstar::format
