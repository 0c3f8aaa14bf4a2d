#pragma once
// Fields of the caller, in any of the layouts, to and from the library's own.
#include "apps/c/quarkstar.h"
#include "codelets/field/field.hpp"
#include "codelets/field/vector_arrays.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "runtime/system/team.hpp"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
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
/// Whether sites of a parity (0, 1) are among those that are asked for.
inline bool is_in(qs_parity asked, int parity) { return asked == QS_BOTH || parity == (asked == QS_ODD ? 1 : 0); }

class Copies;

/// Vectors first, ..., first + n - 1 of the caller: where they are, or copies in host memory of what is in GPU memory that tasks do not
/// reach, for as long as this lives. Of one parity alone the sites of the other one are not used.
class CallersVectors {
 public:
  /// gpu: by number, which alone works on the fields (Lattice::only_gpu()); none: there is no such one, or the host needs the numbers.
  /// read: the numbers there are used. Not read: they are only kept where nothing is written. What is enqueued on the caller's stream has
  /// run when this returns. before: others of this call, whose stream needs no second wait.
  CallersVectors(const qs_vectors& vectors, int first, int n, int components, const Box& part, qs_parity parity, bool read,
                 std::optional<int> gpu, const CallersVectors* before = nullptr);
  const VectorArrays& here() const { return here_; }
  /// What has been written in copies goes to GPU memory.
  void give_back() const;

 private:
  VectorArrays here_;
  std::shared_ptr<Copies> copies_;
  void* stream_;
};

/// Vectors to fields where their sites are asked for, else zeros. Waits for its tasks, since the caller's memory may go as soon as this
/// thread waits for anything else.
class Loading {
 public:
  /// by_pairs: fields come as even and odd ones in turn, with nothing between that uses the even one: one task loads both.
  Loading(const VectorArrays& vectors, qs_parity parity, bool by_pairs) : vectors_(vectors), parity_(parity), by_pairs_(by_pairs) {}
  void load(const Field& field);

 private:
  VectorArrays vectors_;
  qs_parity parity_;
  bool by_pairs_;
  const Field* even_ = nullptr;  ///< that waits for the odd one
};

/// Fields to vectors, where they are asked for, once the tasks that write them have run. Waits for its tasks, too.
void store(const VectorArrays& vectors, std::initializer_list<const Field*> fields, qs_parity parity);

/// n fields of zeros.
std::vector<HostField> zero_fields(std::size_t n, int components, const Box& part);
/// Copies vectors on the sites of a parity, or of both, to others of the same box and kind.
void copy(const VectorArrays& to, const VectorArrays& from, qs_parity parity, const runtime::Team& team);
/// Copies vectors 0, ..., n - 1 on all sites.
std::vector<HostField> vectors_from(const qs_vectors& vectors, int n, int components, const Box& part, const runtime::Team& team);
/// Copies a field to a vector.
void vector_to(const qs_vectors& vectors, int number, const HostField& field, const runtime::Team& team);

}  // namespace quarkstar::c
