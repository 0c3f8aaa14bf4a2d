/* MILC includes a header of this name beside quda_milc_interface.h. Nothing of what only it declares is there. */
#ifndef QUARKSTAR_QUDA_H
#define QUARKSTAR_QUDA_H

#include "enum_quda.h"

#include <stdbool.h>

#endif
