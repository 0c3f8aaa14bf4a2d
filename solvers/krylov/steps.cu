// The GPU versions of every solver's scalar steps.
#include "runtime/graph/scalar.cuh"
#include "solvers/krylov/bicgstab_steps.hpp"
#include "solvers/krylov/cg_steps.hpp"
#include "solvers/krylov/cgnr_steps.hpp"
#include "solvers/krylov/fixed_steps.hpp"
#include "solvers/krylov/gcr_steps.hpp"
#include "solvers/krylov/multishift_cg_steps.hpp"
#include "solvers/krylov/state_task.cuh"

namespace quarkstar {

QUARKSTAR_SCALAR_STEP_ON_CUDA(bicgstab_steps::State, bicgstab_steps::Begin)
QUARKSTAR_SCALAR_STEP_ON_CUDA(bicgstab_steps::State, bicgstab_steps::Alpha)
QUARKSTAR_SCALAR_STEP_ON_CUDA(bicgstab_steps::State, bicgstab_steps::Omega)
QUARKSTAR_SCALAR_STEP_ON_CUDA(bicgstab_steps::State, bicgstab_steps::Rho)
QUARKSTAR_SCALAR_STEP_ON_CUDA(bicgstab_steps::State, bicgstab_steps::Refreshed)
QUARKSTAR_SCALAR_STEP_ON_CUDA(cg_steps::State, cg_steps::Begin)
QUARKSTAR_SCALAR_STEP_ON_CUDA(cg_steps::State, cg_steps::Alpha)
QUARKSTAR_SCALAR_STEP_ON_CUDA(cg_steps::State, cg_steps::Beta)
QUARKSTAR_SCALAR_STEP_ON_CUDA(cg_steps::State, cg_steps::Refreshed)
QUARKSTAR_SCALAR_STEP_ON_CUDA(cgnr_steps::State, cgnr_steps::Begin)
QUARKSTAR_SCALAR_STEP_ON_CUDA(cgnr_steps::State, cgnr_steps::Gamma)
QUARKSTAR_SCALAR_STEP_ON_CUDA(cgnr_steps::State, cgnr_steps::Alpha)
QUARKSTAR_SCALAR_STEP_ON_CUDA(cgnr_steps::State, cgnr_steps::Residual)
QUARKSTAR_SCALAR_STEP_ON_CUDA(cgnr_steps::State, cgnr_steps::Refreshed)
QUARKSTAR_SCALAR_STEP_ON_CUDA(cgnr_steps::State, cgnr_steps::Beta)
QUARKSTAR_SCALAR_STEP_ON_CUDA(gcr_steps::State, gcr_steps::Begin)
QUARKSTAR_SCALAR_STEP_ON_CUDA(gcr_steps::State, gcr_steps::Project)
QUARKSTAR_SCALAR_STEP_ON_CUDA(gcr_steps::State, gcr_steps::Alpha)
QUARKSTAR_SCALAR_STEP_ON_CUDA(gcr_steps::State, gcr_steps::Keep)
QUARKSTAR_SCALAR_STEP_ON_CUDA(gcr_steps::State, gcr_steps::Close)
QUARKSTAR_SCALAR_STEP_ON_CUDA(gcr_steps::State, gcr_steps::Refreshed)
QUARKSTAR_SCALAR_STEP_ON_CUDA(multishift_cg_steps::State, multishift_cg_steps::Begin)
QUARKSTAR_SCALAR_STEP_ON_CUDA(multishift_cg_steps::State, multishift_cg_steps::Alpha)
QUARKSTAR_SCALAR_STEP_ON_CUDA(multishift_cg_steps::State, multishift_cg_steps::Beta)
QUARKSTAR_STATE_TASK_ON_CUDA(gcr_steps::State, gcr_steps::Rest)
QUARKSTAR_STATE_TASK_ON_CUDA(KrylovState, BeginAnew)
QUARKSTAR_STATE_TASK_ON_CUDA(KrylovState, RunBroken)
QUARKSTAR_STATE_TASK_ON_CUDA(KrylovState, TakeTrail)

}  // namespace quarkstar
