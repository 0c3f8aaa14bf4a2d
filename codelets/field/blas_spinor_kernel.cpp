#include "codelets/field/blas_cpu.hpp"

#define QUARKSTAR_BLAS_OPERATION(operation)                 \
  QUARKSTAR_BLAS_KERNELS_OF(quarkstar::Half, 12, operation) \
  QUARKSTAR_BLAS_KERNELS_OF(float, 12, operation)           \
  QUARKSTAR_BLAS_KERNELS_OF(double, 12, operation)
QUARKSTAR_FOR_BLAS_OPERATIONS(QUARKSTAR_BLAS_OPERATION)
