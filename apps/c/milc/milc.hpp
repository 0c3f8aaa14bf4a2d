#pragma once
// What the functions of quda_milc_interface.h have in common: one session, MILC's fields as those of the C library, errors that end the
// job.
#include "apps/c/context.hpp"
#include "apps/c/milc/quda_milc_interface.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace quarkstar::c::milc {

/// The session from qudaInit to qudaFinalize. Ends the job where there is none, naming the function.
qs_session* session(const char* function);
/// The lattice that qudaInit was told.
const Coord& lattice();

/// Ends the job with one line that names the function.
[[noreturn]] void end(const char* function, const std::string& message);
/// Ends the job with the text of the last error unless status is QS_OK or QS_NOT_CONVERGED.
void require_ok(const char* function, qs_status status);

/// Runs work on the session's thread, with workers awake. Ends the job where it throws.
void work(const char* function, const std::function<void(Context& context)>& work);

/// The whole lattice's cut over the ranks.
runtime::Decomposition cut(Context& context);

struct FreeGauge {
  void operator()(qs_gauge* gauge) const { qs_gauge_free(gauge); }
};
using GaugePointer = std::unique_ptr<qs_gauge, FreeGauge>;
struct FreeOperator {
  void operator()(qs_operator* op) const { qs_operator_free(op); }
};
using OperatorPointer = std::unique_ptr<qs_operator, FreeOperator>;

/// precision: 1 float, 2 double.
qs_precision precision_of(const char* function, int precision);
/// Links in an array of their own, or in MILC's sites.
qs_links links_at(const char* function, int precision, const void* links);
qs_links links_at(const char* function, int precision, const QudaMILCSiteArg_t* site);
GaugePointer gauge_of(const char* function, const qs_links& links);

/// Vectors at these addresses, which must stay while the result is used.
qs_vectors vectors_at(const char* function, int precision, void* const* vectors, int count);

/// Of bytes, behind what `sum` is of: nothing but equal bytes has it in practice.
std::uint64_t hash(std::uint64_t sum, const void* data, std::size_t bytes);
/// The same of some of this rank's links, of so many bytes in all: those of the four lines of sites through its first site, where every
/// change of a boundary, a twist or the origin of phases is seen, and of sites far and wide. nullptr: of none.
std::uint64_t sample_of(std::uint64_t sum, const void* links, const Coord& extents, std::size_t bytes);

/// Gives up what is kept between calls: operators, links for hops of vectors.
void forget_operators();
void forget_transport();

}  // namespace quarkstar::c::milc
