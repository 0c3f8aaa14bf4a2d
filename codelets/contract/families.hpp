#pragma once
// The families of families.inc: kernels of all architectures, tasks, settings and outputs follow from a line there.
#define QUARKSTAR_CORRELATORS(family)
#include "codelets/contract/families.inc"
#undef QUARKSTAR_CORRELATORS
