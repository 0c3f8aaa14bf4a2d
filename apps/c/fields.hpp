#pragma once
// Fields of the caller, in any of the layouts, to and from the library's own.
#include "apps/c/quarkstar.h"
#include "codelets/field/host_field.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/system/team.hpp"

#include <vector>

namespace quarkstar::c {

/// Copies the links of a part of the lattice. Throw Error(input) naming `links` for a description that makes no sense.
HostGauge links_from(const qs_links& links, const Box& part, const runtime::Team& team);
void links_to(const qs_links& links, const HostGauge& part, const runtime::Team& team);

/// Throws Error(input) naming `argument` for a description that makes no sense of vectors with so many components, or of a propagator with
/// as many columns.
void check_vectors(const qs_vectors& vectors, const char* argument, int components);
/// Throws Error(input) naming `parity`.
void check_parity(qs_parity parity);
/// Whether a site of the part is among those that are asked for.
bool is_in(qs_parity parity, const Box& part, std::int64_t site);

/// n fields of zeros.
std::vector<HostField> zero_fields(std::size_t n, int components, const Box& part);

/// Copies vectors first, ..., first + n - 1, components complex numbers per site; of one parity alone the others are 0.
std::vector<HostField> vectors_from(const qs_vectors& vectors, int first, int n, int components, const Box& part, qs_parity parity,
                                    const runtime::Team& team);
/// Copies fields to vectors first, ...; of one parity alone the others stay as they are.
void vectors_to(const qs_vectors& vectors, int first, const std::vector<HostField>& fields, qs_parity parity, const runtime::Team& team);

}  // namespace quarkstar::c
