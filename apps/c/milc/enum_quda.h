/* Constants of the interface to MILC, with the values that its users were compiled with. Those of quda_milc_interface.h alone. */
#ifndef QUARKSTAR_ENUM_QUDA_H
#define QUARKSTAR_ENUM_QUDA_H

#include <limits.h>

#define QUDA_INVALID_ENUM INT_MIN

typedef enum QudaVerbosity_s {
  QUDA_SILENT = 0,
  QUDA_SUMMARIZE = 1,
  QUDA_VERBOSE = 2,
  QUDA_DEBUG_VERBOSE = 3,
  QUDA_INVALID_VERBOSITY = QUDA_INVALID_ENUM
} QudaVerbosity;

typedef enum QudaParity_s { QUDA_EVEN_PARITY = 0, QUDA_ODD_PARITY = 1, QUDA_INVALID_PARITY = QUDA_INVALID_ENUM } QudaParity;

/* Bytes of a real. */
typedef enum QudaPrecision_s {
  QUDA_QUARTER_PRECISION = 1,
  QUDA_HALF_PRECISION = 2,
  QUDA_SINGLE_PRECISION = 4,
  QUDA_DOUBLE_PRECISION = 8,
  QUDA_INVALID_PRECISION = QUDA_INVALID_ENUM
} QudaPrecision;

typedef enum QudaInverterType_s {
  QUDA_CG_INVERTER = 0,
  QUDA_BICGSTAB_INVERTER = 1,
  QUDA_INVALID_INVERTER = QUDA_INVALID_ENUM
} QudaInverterType;

typedef enum QudaBoolean_s { QUDA_BOOLEAN_FALSE = 0, QUDA_BOOLEAN_TRUE = 1, QUDA_BOOLEAN_INVALID = QUDA_INVALID_ENUM } QudaBoolean;

/* Of an eigensolver that is not here; MILC names them in arguments that are not looked at. */
typedef enum QudaEigType_s { QUDA_EIG_TR_LANCZOS = 0, QUDA_EIG_BLK_TR_LANCZOS = 1, QUDA_EIG_INVALID = QUDA_INVALID_ENUM } QudaEigType;
typedef enum QudaEigSpectrumType_s {
  QUDA_SPECTRUM_LM_EIG = 0,
  QUDA_SPECTRUM_SM_EIG = 1,
  QUDA_SPECTRUM_LR_EIG = 2,
  QUDA_SPECTRUM_SR_EIG = 3,
  QUDA_SPECTRUM_INVALID = QUDA_INVALID_ENUM
} QudaEigSpectrumType;

/* Factor of one direction in a Fourier sum, theta = 2 pi k (x - x0) / L. */
typedef enum QudaFFTSymmType_s {
  QUDA_FFT_SYMM_ODD = 1,  /* i sin(theta) */
  QUDA_FFT_SYMM_EVEN = 2, /* cos(theta) */
  QUDA_FFT_SYMM_EO = 3,   /* exp(i theta) */
  QUDA_FFT_SYMM_INVALID = QUDA_INVALID_ENUM
} QudaFFTSymmType;

#endif
