#pragma once
// Products with matrices in the fifth dimension, alone and behind Wilson's hops: the contract between the codelets and the kernels of every
// architecture.
#include "codelets/actions/wilson/hopping_arguments.hpp"
#include "codelets/arch/dispatch.hpp"
#include "codelets/field/number_format.hpp"
#include "codelets/field/vector_status.hpp"
#include "runtime/gpu/host_device.hpp"

#include <cstdint>

namespace quarkstar {
namespace domain_wall {

/// The forms of a matrix, by what its kernels read of it for each right-hand side and chirality: nothing; [slice] of a diagonal one;
/// [slice] d and [slice] e of d_s psi_s + e_s psi_{s +- 1}, cyclic, the sign being the other one for the other chirality; [column][row] of
/// any other, whose columns have rows for whole groups of row_group.
enum class Form : std::int32_t { none, diagonal, neighbours, dense };
inline constexpr int row_group = 4;
QUARKSTAR_HD constexpr int padded_rows(int slices) { return (slices + row_group - 1) / row_group * row_group; }
QUARKSTAR_HD constexpr int numbers_of(Form form, int slices) {
  return form == Form::none ? 0 : form == Form::diagonal ? slices : form == Form::neighbours ? 2 * slices : slices * padded_rows(slices);
}

/// A matrix T and the field that it multiplies.
template <class F>
struct Product {
  Form form;
  int step;        ///< of chirality + where there are neighbours: 1 or -1
  Real<F> factor;  ///< of all numbers
  const F* field;  ///< [outer site][slice][vector][word][lane]; nullptr: what a hopping kernel has made of the hops
  const Real<F>* numbers;
};

/// out_s = sum over s' T_ss' in_s' + S_ss' x_s', for every right-hand side. Only the first may be dense, and then of the hops, where there
/// are any.
template <class F>
struct Products {
  Product<F> first, second;
  int slices, vectors;
};

/// out = T in on a list of outer sites.
template <class F>
struct SliceArguments {
  Product<F> product;
  F* out;
  int slices, vectors, lanes;
};

/// Over outer sites [begin, end). left_out: nullptr, or for each right-hand side non-zero where nobody needs its result.
template <class F>
using SliceKernel = void (*)(const SliceArguments<F>& arguments, std::int64_t begin, std::int64_t end, const std::int32_t* left_out);

/// What becomes of Wilson's hops of all slices of a right-hand side at a site. Its kernels are not the loops over vectors of other
/// epilogues.
struct SliceEpilogue {
  template <class F>
  using Arguments = Products<F>;
};

}  // namespace domain_wall

#define QUARKSTAR_DECLARE_SLICE_KERNELS(architecture)                                                            \
  namespace architecture {                                                                                       \
  template <class F>                                                                                             \
  domain_wall::SliceKernel<F> slice_kernel(int lanes);                                                           \
  template <class F>                                                                                             \
  wilson::HoppingKernel<F, domain_wall::SliceEpilogue> slice_hopping_kernel(const wilson::KernelChoice& choice); \
  }
QUARKSTAR_FOR_ARCHITECTURES(QUARKSTAR_DECLARE_SLICE_KERNELS)
#undef QUARKSTAR_DECLARE_SLICE_KERNELS

}  // namespace quarkstar
