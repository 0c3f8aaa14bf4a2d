#include "codelets/field/blas_cuda.cuh"

#define QUARKSTAR_BLAS_OPERATION(operation)                   \
  QUARKSTAR_BLAS_LAUNCH(quarkstar::Half, 3, false, operation) \
  QUARKSTAR_BLAS_LAUNCH(float, 3, false, operation)           \
  QUARKSTAR_BLAS_LAUNCH(double, 3, false, operation)
QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)
