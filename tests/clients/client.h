/* What the test clients of the C library share. */
#ifndef CLIENT_H
#define CLIENT_H
#include <quarkstar.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                       \
  do {                                                                                                         \
    if (!(condition)) {                                                                                        \
      fprintf(stderr, "%s:%d: %s does not hold; last error: %s\n", __FILE__, __LINE__, #condition, qs_error_message()); \
      exit(1);                                                                                                 \
    }                                                                                                          \
  } while (0)
#define OK(call) CHECK((call) == QS_OK)

/* The call fails with this code, its message holds `text`, and it is about that parameter. */
#define FAILS(code, text, parameter, call)                          \
  do {                                                              \
    CHECK((call) == (code));                                        \
    CHECK(strstr(qs_error_message(), text) != NULL);                \
    CHECK(strcmp(qs_error_parameter(), parameter) == 0);            \
  } while (0)

enum { most = 40 };

/* n vectors of so many reals each, zero. */
typedef struct fields {
  double *memory;
  void *data[most];
  qs_vectors vectors;
  size_t reals;
} fields;

static inline fields *new_fields(int n, size_t reals) {
  fields *f = (fields *)calloc(1, sizeof *f);
  f->memory = (double *)calloc((size_t)n * reals, sizeof(double));
  f->reals = reals;
  for (int v = 0; v < n; ++v) f->data[v] = f->memory + (size_t)v * reals;
  f->vectors.struct_size = sizeof f->vectors;
  f->vectors.data = f->data;
  f->vectors.count = n;
  return f;
}
static inline double *of(const fields *f, int v) { return (double *)f->data[v]; }
static inline void free_fields(fields *f) {
  free(f->memory);
  free(f);
}

static inline qs_session *open_session_with(const char *workers) {
  const qs_setting settings[] = {{"devices", "cpu"}, {"workers", workers}, {"threads", "1"}};
  qs_session_options options;
  qs_session *session = NULL;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.settings = settings;
  options.settings_count = sizeof settings / sizeof settings[0];
  OK(qs_session_open(&options, &session));
  return session;
}

static inline qs_session *open_session(void) { return open_session_with("2"); }

/* Numbers between -1 and 1 that look random, always the same. */
static inline double noise(unsigned long long *state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(*state >> 11) / 4503599627370496.0 - 1;
}
static inline void fill(fields *f, unsigned long long seed) {
  for (size_t i = 0; i < f->reals * (size_t)f->vectors.count; ++i) f->memory[i] = noise(&seed);
}
/* Of vectors as reals. */
static inline double dot(const double *x, const double *y, size_t reals) {
  double sum = 0;
  for (size_t i = 0; i < reals; ++i) sum += x[i] * y[i];
  return sum;
}
static inline double norm2(const double *x, size_t reals) { return dot(x, x, reals); }

#endif
