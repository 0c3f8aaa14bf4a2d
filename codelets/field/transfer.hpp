#pragma once
// Between host memory and the blocks of the task graph, and between precisions.
#include "codelets/field/field.hpp"
#include "codelets/field/link_field.hpp"
#include "codelets/field/vector_arrays.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/graph/scalar.hpp"

#include <array>
#include <span>

namespace quarkstar::transfer {

/// Links in double precision, of 18 reals, on the blocks and owners of others that come of the same host links; or none.
struct WideLinks {
  const LinkField *even = nullptr, *odd = nullptr;
};

/// These, where they are such links.
inline WideLinks wide_links(const LinkField& even, const LinkField& odd) {
  const bool wide = even.reals() == 18 && even.lattice()->precision() == Precision::double_;
  return wide ? WideLinks{&even, &odd} : WideLinks{};
}

/// Fields of one kind on the two parities.
struct FieldPair {
  const Field &even, &odd;
};

/// Writes the links that touch the sites of either parity from `gauge`, those of direction mu times factors[mu], forward and backward side
/// by side, and freezes both fields: the tasks have run on return. Each block's runs where its owner is, but for links of 8 reals, which
/// CPUs make. `gauge` holds the whole lattice, or at least this rank's part and the layer before it in every direction that is cut between
/// ranks. Throws ShapeError when it does not, when the fields are no such pair, or for other factors than 1 with links that are to be
/// stored as 12 or 8 reals; Error(input) when links that are to be stored as 12 or 8 reals are further than 1e-4 from SU(3) (on all ranks
/// that have parts of the lattice, which must all call). wide: have come of the same; links of 18 or 12 reals are then copied from there,
/// which spares a GPU the way from host memory, and have the same bits.
void load_links(LinkField& even, LinkField& odd, const HostGauge& gauge, const std::array<double, 4>& factors = {1, 1, 1, 1},
                const WideLinks& wide = {});

/// Field <- one vector in an array per vector and slice (Field::site_vectors(); sites of the field's parity), and back. What is there must
/// outlive the tasks (store: wait for the session before reading). The vectors hold the whole lattice (of which store writes this rank's
/// part), or this rank's part. Throws ShapeError when they do not, or numbers or kinds differ, or for arrays on a GPU where that is not
/// Lattice::only_gpu(). Fields on all sites are copied from or to two of single parities, which takes as much memory again.
void load(const Field& field, const VectorArrays& arrays);
void store(const VectorArrays& arrays, const Field& field);
/// The same for both parities, by one task a block.
void load(const FieldPair& fields, const VectorArrays& arrays);
void store(const VectorArrays& arrays, const FieldPair& fields);
inline void load(const Field& field, std::span<const HostField> host) { load(field, VectorArrays::to_read(host)); }
inline void store(std::span<HostField> host, const Field& field) { store(VectorArrays::to_write(host), field); }
/// Of one vector.
inline void load(const Field& field, const HostField& host) { load(field, VectorArrays::to_read({&host, 1})); }
inline void store(HostField& host, const Field& field) { store(VectorArrays::to_write({&host, 1}), field); }

/// to <- from, rounded to nearest where `to` is narrower, on the sites that both have: of one parity, or of both. Lane grids may differ,
/// and numbers of vectors in lanes; decompositions, kinds, numbers of vectors and what is in lanes may not, nor one parity from the other:
/// ShapeError. To a field on both parities the even half must come first: it makes the other one undefined. guard: the state that stops it.
void convert(const Field& to, const Field& from, const runtime::Guard& guard = {});

}  // namespace quarkstar::transfer
