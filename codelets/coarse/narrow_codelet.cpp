// Coarse matrices in 16 bits.
#include "codelets/coarse/coarse_operator.hpp"
#include "codelets/coarse/narrow_site.hpp"
#include "codelets/lattice/placement.hpp"
#include "runtime/system/error.hpp"

namespace quarkstar::coarse {

void CoarseMatrices::narrow() {
  if (!eliminated_ || lattice_->precision() != Precision::single)
    throw ShapeError("CoarseMatrices::narrow", "not eliminated, or not in single precision");
  narrow_.resize(blocks_.size());
  for (const int b : lattice_->local_blocks()) {
    auto task = runtime::blank<NarrowTask>();
    const std::size_t bytes = 2 * static_cast<std::size_t>(lattice_->block(b).outer_sites()) * bytes_per_site(components_, Precision::half);
    task.numbers = static_cast<std::int64_t>(bytes / sizeof(Binary16));
    runtime::Handle& narrow = narrow_[static_cast<std::size_t>(b)];
    if (!narrow) narrow = runtime::Handle(bytes);
    runtime::submit(items_codelet<Narrow>(), task, {runtime::out(narrow), runtime::in(block(b))}, {0, 3.0 * static_cast<double>(bytes)},
                    placement_of(lattice_->block(b)));
  }
}

}  // namespace quarkstar::coarse
