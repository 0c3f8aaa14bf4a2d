#pragma once
#include "codelets/field/source_site.hpp"
#include "runtime/gpu/cuda.hpp"

namespace quarkstar::cuda {

/// Writes all vectors of one parity of one block.
void launch_sources(double* field, const double* table, const SourceTask& task, runtime::CudaStream stream);

/// Copies smeared points of one parity of one block to the table.
void launch_slices(double* table, const double* field, const SliceTask& task, runtime::CudaStream stream);

}  // namespace quarkstar::cuda
