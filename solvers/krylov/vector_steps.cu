// The GPU versions of the scalar steps of solvers for many right-hand sides.
#include "runtime/graph/scalar.cuh"
#include "solvers/krylov/multishift_cg_steps.hpp"
#include "solvers/krylov/vector_cg_steps.hpp"

namespace quarkstar {

QUARKSTAR_SCALAR_STEP_ON_CUDA(vector_cg_steps::State, vector_cg_steps::Begin)
QUARKSTAR_SCALAR_STEP_ON_CUDA(vector_cg_steps::State, vector_cg_steps::Alpha)
QUARKSTAR_SCALAR_STEP_ON_CUDA(vector_cg_steps::State, vector_cg_steps::Beta)
QUARKSTAR_SCALAR_STEP_ON_CUDA(vector_cg_steps::State, vector_cg_steps::Refreshed)
QUARKSTAR_SCALAR_STEP_ON_CUDA(multishift_cg_steps::State, multishift_cg_steps::Begin)
QUARKSTAR_SCALAR_STEP_ON_CUDA(multishift_cg_steps::State, multishift_cg_steps::Alpha)
QUARKSTAR_SCALAR_STEP_ON_CUDA(multishift_cg_steps::State, multishift_cg_steps::Beta)

}  // namespace quarkstar
