#pragma once
// Colour vectors between host order (lexicographic, double) and the blocks of the task graph, and between precisions.
#include "codelets/actions/staggered/colour_field.hpp"
#include "codelets/actions/staggered/vector_status.hpp"
#include "codelets/field/host_colour.hpp"

#include <span>

namespace quarkstar::staggered {

/// Field <- one host field a vector (sites of the field's parity), and back. The host fields must outlive the tasks
/// (store: wait for the session before reading). They hold the whole lattice (of which store writes this rank's part)
/// or this rank's part. Throws ShapeError when they do not, or numbers differ.
void load_vectors(const ColourField& field, std::span<const HostColour> host);
void store_vectors(std::span<HostColour> host, const ColourField& field);

/// to <- from, rounded to nearest where `to` is narrower. Lane grids may differ, and numbers of vectors in lanes;
/// decompositions, parities, vectors and what is in lanes may not. control: whose flags it obeys.
void convert(const ColourField& to, const ColourField& from, const Control& control = {});

}  // namespace quarkstar::staggered
