/* Memory of this process. Before the other headers, for the names that it needs. */
#ifndef RESIDENT_H
#define RESIDENT_H
#define _GNU_SOURCE
#include "client.h"

#include <malloc.h>
#include <unistd.h>

static inline long resident_kb(void) {
  long pages = 0, resident = 0;
  malloc_trim(0);
  FILE *const file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld %ld", &pages, &resident) == 2);
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

#endif
