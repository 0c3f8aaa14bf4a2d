#pragma once
// Between host order (lexicographic, double) and the blocks of the task graph, and between precisions.
#include "codelets/field/fields.hpp"
#include "codelets/field/host_spinor.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/graph/scalar.hpp"

namespace quarkstar::transfer {

/// Writes the links that touch the sites of either parity from `gauge`, forward and backward side by side, and freezes
/// both fields: the tasks have run on return. They run on CPUs. `gauge` holds the whole lattice, or at least this
/// rank's part and the layer before it in every direction that is cut between ranks. Throws ShapeError when it does
/// not, or when the fields are no such pair; Error(input) when links that are to be stored as 12 or 8 reals are further
/// than 1e-4 from SU(3) (on all ranks that have parts of the lattice, which must all call).
void load_links(LinkField& even, LinkField& odd, const HostGauge& gauge);

/// Field <- host spinor (sites of the field's parity), and back. The host spinor must outlive the tasks (store: wait for the
/// session before reading). It holds the whole lattice (of which store writes this rank's part) or this rank's part. Throws ShapeError
/// when it does not.
void load_spinor(const SpinorField& field, const HostSpinor& host);
void store_spinor(HostSpinor& host, const SpinorField& field);

/// to <- from, rounded to nearest where `to` is narrower. Lane grids may differ; decompositions and parities may not. guard: the state that
/// stops it.
void convert(const SpinorField& to, const SpinorField& from, const runtime::Guard& guard = {});

}  // namespace quarkstar::transfer
