#include "codelets/field/blas_cpu.hpp"

#define QUARKSTAR_BLAS_OPERATION(operation)                \
  QUARKSTAR_BLAS_KERNELS_OF(quarkstar::Half, 1, operation) \
  QUARKSTAR_BLAS_KERNELS_OF(float, 1, operation)           \
  QUARKSTAR_BLAS_KERNELS_OF(double, 1, operation)
QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)
