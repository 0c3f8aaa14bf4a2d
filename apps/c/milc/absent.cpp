// Functions of the interface that are not there: each ends the job with its name and what to do instead.
#include <string>

namespace quarkstar::c::milc {
[[noreturn]] void end(const char* function, const std::string& message);  // milc.hpp
}

// Their arguments are not looked at, so they are functions without any; hence not with the header, which has them.
#define QUARKSTAR_ABSENT(function, remedy) \
  extern "C" void function(void) { quarkstar::c::milc::end(#function, "it is not part of Quarkstar: " remedy " (docs/howto/milc.md)"); }

#define QUARKSTAR_LEAVE_OUT(option) "build MILC without " option ", which then does this itself"

QUARKSTAR_ABSENT(qudaSetLayout, "give the layout to qudaInit")
QUARKSTAR_ABSENT(qudaDDInvert, "use qudaInvert")
QUARKSTAR_ABSENT(qudaEigCGInvert, "use qudaInvert")
QUARKSTAR_ABSENT(qudaEigCGCloverInvert, "use qudaCloverInvert")
QUARKSTAR_ABSENT(qudaProject, "solve without deflation")
QUARKSTAR_ABSENT(qudaGetDeflationSpace, "solve without deflation")
QUARKSTAR_ABSENT(qudaLoadDeflationSpace, "solve without deflation")
QUARKSTAR_ABSENT(qudaMultigridCreate, QUARKSTAR_LEAVE_OUT("MULTIGRID"))
QUARKSTAR_ABSENT(qudaInvertMG, QUARKSTAR_LEAVE_OUT("MULTIGRID"))
QUARKSTAR_ABSENT(qudaInvertMsrcMG, QUARKSTAR_LEAVE_OUT("MULTIGRID"))
QUARKSTAR_ABSENT(qudaMultigridDestroy, QUARKSTAR_LEAVE_OUT("MULTIGRID"))
QUARKSTAR_ABSENT(qudaLoadGaugeField, "give the links to qudaCloverInvert")
QUARKSTAR_ABSENT(qudaFreeGaugeField, "give the links to qudaCloverInvert")
QUARKSTAR_ABSENT(qudaLoadCloverField, "qudaCloverInvert makes the clover term of the links")
QUARKSTAR_ABSENT(qudaFreeCloverField, "qudaCloverInvert makes the clover term of the links")
QUARKSTAR_ABSENT(qudaCloverMultishiftInvert, "solve for one kappa after the other with qudaCloverInvert")
QUARKSTAR_ABSENT(qudaHisqForce, QUARKSTAR_LEAVE_OUT("WANT_FF_GPU"))
QUARKSTAR_ABSENT(qudaAsqtadForce, QUARKSTAR_LEAVE_OUT("WANT_FF_GPU"))
QUARKSTAR_ABSENT(qudaComputeOprod, QUARKSTAR_LEAVE_OUT("WANT_FF_GPU"))
QUARKSTAR_ABSENT(qudaGaugeForce, QUARKSTAR_LEAVE_OUT("WANT_GF_GPU"))
QUARKSTAR_ABSENT(qudaGaugeForcePhased, QUARKSTAR_LEAVE_OUT("WANT_GF_GPU"))
QUARKSTAR_ABSENT(qudaMomLoad, QUARKSTAR_LEAVE_OUT("WANT_GF_GPU"))
QUARKSTAR_ABSENT(qudaMomSave, QUARKSTAR_LEAVE_OUT("WANT_GF_GPU"))
QUARKSTAR_ABSENT(qudaRephase, QUARKSTAR_LEAVE_OUT("WANT_GF_GPU"))
QUARKSTAR_ABSENT(qudaUnitarizeSU3, QUARKSTAR_LEAVE_OUT("WANT_GA_GPU"))
QUARKSTAR_ABSENT(qudaUnitarizeSU3Phased, QUARKSTAR_LEAVE_OUT("WANT_GA_GPU"))
QUARKSTAR_ABSENT(qudaGaugeLoopTracePhased, QUARKSTAR_LEAVE_OUT("WANT_GA_GPU"))
QUARKSTAR_ABSENT(qudaGaugeMeasurementsPhased, QUARKSTAR_LEAVE_OUT("WANT_GA_GPU"))
QUARKSTAR_ABSENT(qudaGaugeFixingFFT, QUARKSTAR_LEAVE_OUT("WANT_GAUGEFIX_FFT_GPU"))
QUARKSTAR_ABSENT(qudaCloverForce, "compute the force elsewhere")
QUARKSTAR_ABSENT(qudaCloverTrace, "compute the force elsewhere")
QUARKSTAR_ABSENT(qudaCloverDerivative, "compute the force elsewhere")
QUARKSTAR_ABSENT(qudaCreateGaugeField, "keep fields in host memory")
QUARKSTAR_ABSENT(qudaCreateExtendedGaugeField, "keep fields in host memory")
QUARKSTAR_ABSENT(qudaResidentExtendedGaugeField, "keep fields in host memory")
QUARKSTAR_ABSENT(qudaSaveGaugeField, "keep fields in host memory")
QUARKSTAR_ABSENT(qudaDestroyGaugeField, "keep fields in host memory")

// Of quda.h, which MILC asks with WANT_EIG_GPU, wilson_flow and, in 2026, at its end.
QUARKSTAR_ABSENT(newQudaGaugeParam, QUARKSTAR_LEAVE_OUT("WANT_EIG_GPU"))
QUARKSTAR_ABSENT(newQudaInvertParam, QUARKSTAR_LEAVE_OUT("WANT_EIG_GPU"))
QUARKSTAR_ABSENT(newQudaEigParam, QUARKSTAR_LEAVE_OUT("WANT_EIG_GPU"))
QUARKSTAR_ABSENT(loadGaugeQuda, QUARKSTAR_LEAVE_OUT("WANT_EIG_GPU"))
QUARKSTAR_ABSENT(eigensolveQuda, QUARKSTAR_LEAVE_OUT("WANT_EIG_GPU"))
QUARKSTAR_ABSENT(flushPoolQuda, "leave the call out: there are no pools of memory to give up")
