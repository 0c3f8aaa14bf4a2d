#pragma once
// Where CPU kernels put their results: plain or streaming stores (codelets/arch/memory_access.hpp), and kernels with and without prefetch.
#include "codelets/arch/lanes.hpp"
#include "codelets/arch/memory_access.hpp"

#include <cstddef>

namespace quarkstar::QUARKSTAR_ARCH_NAME {

/// Whether a component of a block of W lanes fills a vector register: lattices of any size but the smallest.
template <class F, int W>
inline constexpr bool fills_registers = native_lanes<Real<F>> > 1 && W >= native_lanes<Real<F>>;
/// Whether so many words of W lanes fill lines of 64 bytes, too.
template <class F, int W, int Words>
inline constexpr bool may_stream = has_nontemporal_stores&& fills_registers<F, W>&& Words* W * sizeof(Real<F>) % 64 == 0;

/// The results of Words words of W lanes. With plain stores they are written into the field. With streaming stores they are gathered
/// in a buffer that stays in the first-level cache, and leave it line by line when all lane groups are there: a line that is streamed in
/// parts is a transfer for each part.
template <class F, int W, int Words>
class SiteStores {
  using T = Real<F>;

 public:
  explicit SiteStores(bool stream) : stream_(stream) {}

  /// Where to write what belongs at `field`, which is `offset` behind the first result.
  inline __attribute__((always_inline)) F* place(F* field, int offset) {
    if constexpr (may_stream<F, W, Words>)
      if (stream_) return reinterpret_cast<F*>(buffer_) + offset;
    return field;
  }
  /// All lanes of the words that belong from `field` on have been written.
  inline __attribute__((always_inline)) void complete(F* field) const {
    if constexpr (may_stream<F, W, Words>) {
      if (!stream_) return;
      using V = Pack<T, native_lanes<T>>;
      T* to = reinterpret_cast<T*>(field);
      for (int i = 0; i < Words * W; i += V::lanes) V::load(buffer_ + i).stream(to + i);
    }
  }
  /// Before another thread may be told that the results are there.
  inline __attribute__((always_inline)) void finish() const {
    if constexpr (may_stream<F, W, Words>)
      if (stream_) finish_nontemporal_stores();
  }

 private:
  bool stream_;
  alignas(64) T buffer_[may_stream<F, W, Words> ? Words * W : 1];
};

/// Calls body(Index<prefetch>) with what is wanted, where a block's lanes fill registers. Others have one kernel, whose prefetch is `Rule`:
/// lattices with narrower blocks stay in the cache, and without vectors memory is not what is waited for.
template <class F, int W, int Rule, class Body>
auto with_prefetch(int wanted, Body&& body) {
  if constexpr (fills_registers<F, W>) return wanted > 0 ? body(site::Index<1>{}) : body(site::Index<0>{});
  else return body(site::Index<Rule>{});
}

/// Calls body(true_type) for streaming stores where results of so many words may be streamed, else body(false_type).
template <class F, int W, int Words, class Body>
auto with_stores(arch::Stores wanted, Body&& body) {
  if constexpr (may_stream<F, W, Words>)
    if (wanted == arch::Stores::streaming) return body(std::true_type{});
  return body(std::false_type{});
}

}  // namespace quarkstar::QUARKSTAR_ARCH_NAME
