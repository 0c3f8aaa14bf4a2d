#include "codelets/field/blas_cuda.cuh"

#define QUARKSTAR_BLAS_OPERATION(operation)                   \
  QUARKSTAR_BLAS_LAUNCH(quarkstar::Half, 12, true, operation) \
  QUARKSTAR_BLAS_LAUNCH(float, 12, true, operation)           \
  QUARKSTAR_BLAS_LAUNCH(double, 12, true, operation)
QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)
