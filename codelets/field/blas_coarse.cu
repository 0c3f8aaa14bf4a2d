#include "codelets/field/blas_cuda.cuh"

#define QUARKSTAR_BLAS_OPERATION(operation)                   \
  QUARKSTAR_BLAS_LAUNCH(quarkstar::Half, 1, false, operation) \
  QUARKSTAR_BLAS_LAUNCH(float, 1, false, operation)           \
  QUARKSTAR_BLAS_LAUNCH(double, 1, false, operation)
QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)
