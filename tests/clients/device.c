/* A program whose fields are in GPU memory, in a context of its own, or in the device's, which a session on the GPU has too, and on a stream
 * of its own: what the C library makes of them has the bits of fields in host memory, nothing beside them changes, and the program's context
 * is as before.
 *     device DEVICES      the session's devices: cpu, cuda
 * It knows CUDA's driver alone, which may be the stand-in of tests/fake/fake_cuda.cpp. */
#include "client.h"

#include <dlfcn.h>
#include <stdint.h>

static const int lattice[4] = {4, 4, 4, 8};
enum { sites = 4 * 4 * 4 * 8, link_reals = 72 };

/* ---- the driver */

typedef unsigned long long address;
static struct {
  int (*cuInit)(unsigned);
  int (*cuDeviceGetCount)(int *);
  int (*cuCtxCreate_v2)(void **, unsigned, int);
  int (*cuCtxGetCurrent)(void **);
  int (*cuDevicePrimaryCtxRetain)(void **, int);
  int (*cuCtxPopCurrent_v2)(void **);
  int (*cuCtxPushCurrent_v2)(void *);
  int (*cuStreamCreate)(void **, unsigned);
  int (*cuStreamSynchronize)(void *);
  int (*cuMemAlloc_v2)(address *, size_t);
  int (*cuMemAllocAsync)(address *, size_t, void *);
  int (*cuMemFree_v2)(address);
  int (*cuMemcpyAsync)(address, address, size_t, void *);
} cuda;
static void *context, *stream; /* a blocking stream: CUDA's default stream waits for it */
static void *given;            /* the stream that the library is told */
static int from_pool = 0;

static int load(void) {
  void *const library = dlopen("libcuda.so.1", RTLD_NOW);
  int devices = 0;
  if (library == NULL) return 0;
#define FIND(name) CHECK((*(void **)&cuda.name = dlsym(library, #name)) != NULL)
  FIND(cuInit);
  FIND(cuDeviceGetCount);
  FIND(cuCtxCreate_v2);
  FIND(cuCtxGetCurrent);
  FIND(cuDevicePrimaryCtxRetain);
  FIND(cuCtxPopCurrent_v2);
  FIND(cuCtxPushCurrent_v2);
  FIND(cuStreamCreate);
  FIND(cuStreamSynchronize);
  FIND(cuMemAlloc_v2);
  FIND(cuMemAllocAsync);
  FIND(cuMemFree_v2);
  FIND(cuMemcpyAsync);
  return cuda.cuInit(0) == 0 && cuda.cuDeviceGetCount(&devices) == 0 && devices > 0;
}

/* An array in host memory and one in GPU memory. What goes to the GPU is enqueued on the stream, and nobody here waits for it. */
typedef struct both {
  char *here, *back;
  address there;
  size_t bytes;
} both;

static void to_gpu(both *b) { CHECK(cuda.cuMemcpyAsync(b->there, (address)(uintptr_t)b->here, b->bytes, stream) == 0); }
static both new_both(size_t bytes) {
  both b = {calloc(1, bytes), calloc(1, bytes), 0, bytes};
  CHECK(cuda.cuCtxPushCurrent_v2(context) == 0);
  CHECK((from_pool ? cuda.cuMemAllocAsync(&b.there, bytes, stream) : cuda.cuMemAlloc_v2(&b.there, bytes)) == 0);
  return b;
}
static void free_both(both *b) {
  CHECK(cuda.cuStreamSynchronize(stream) == 0 && cuda.cuMemFree_v2(b->there) == 0);
  CHECK(cuda.cuCtxPopCurrent_v2(&context) == 0);
  free(b->here);
  free(b->back);
}
/* The array on the GPU is the one here. */
static void same(both *b) {
  CHECK(cuda.cuMemcpyAsync((address)(uintptr_t)b->back, b->there, b->bytes, stream) == 0);
  CHECK(cuda.cuStreamSynchronize(stream) == 0);
  CHECK(memcmp(b->here, b->back, b->bytes) == 0);
}

/* ---- fields: arrays of noise, in the lengths of a layout, with which one call is made on the host and one on the GPU */

typedef struct pair {
  qs_vectors host, gpu;
  both array;
  void *here[most], *there[most];
} pair;

static pair *new_pair(int n, int components, qs_layout layout, qs_precision precision, unsigned long long seed) {
  const size_t real = precision == QS_DOUBLE ? sizeof(double) : sizeof(float), padding = layout == QS_MILC_SITE ? 4 : 0;
  const size_t of_site = (size_t)(2 * components) + padding, bytes = (size_t)sites * of_site * real;
  pair *const p = calloc(1, sizeof *p);
  p->array = new_both(bytes * (size_t)n);
  for (size_t i = 0; i < p->array.bytes / real; ++i) {
    if (real == sizeof(double)) ((double *)p->array.here)[i] = noise(&seed);
    else ((float *)p->array.here)[i] = (float)noise(&seed);
  }
  to_gpu(&p->array);
  for (int v = 0; v < n; ++v) {
    p->here[v] = p->array.here + (size_t)v * bytes;
    p->there[v] = (void *)(uintptr_t)(p->array.there + (size_t)v * bytes);
  }
  p->host = (qs_vectors){.struct_size = sizeof p->host, .data = p->here, .count = n, .precision = precision, .layout = layout,
                         .site_stride = padding ? of_site * real : 0};
  p->gpu = p->host;
  p->gpu.data = p->there;
  p->gpu.location = QS_CUDA;
  p->gpu.cuda_stream = given;
  return p;
}
static void free_pair(pair *p) {
  free_both(&p->array);
  free(p);
}

/* Solves, from sources in one layout to solutions in it, with guesses that are there. */
static void solves(qs_operator *op, int components, qs_layout layout, qs_precision precision, qs_parity parity) {
  const int n = layout == QS_PYQUDA_PROPAGATOR ? components : 3;
  pair *const b = new_pair(n, components, layout, precision, 1), *const x = new_pair(n, components, layout, precision, 2);
  const qs_solve_options options = {.struct_size = sizeof options, .parity = parity, .use_guess = 1};
  OK(qs_operator_solve(op, &options, &b->gpu, &x->gpu, NULL));
  same(&b->array);
  OK(qs_operator_solve(op, &options, &b->host, &x->host, NULL));
  same(&x->array);
  /* Of columns that the library makes. */
  OK(qs_operator_propagate(op, "point:1,2,3,5", NULL, &options, &x->gpu, NULL));
  OK(qs_operator_propagate(op, "point:1,2,3,5", NULL, &options, &x->host, NULL));
  same(&x->array);
  /* From one place to the other, and an image. */
  pair *const image = new_pair(n, components, layout, precision, 3);
  const qs_apply_options how = {.struct_size = sizeof how, .parity = parity};
  OK(qs_operator_apply(op, &how, &x->gpu, &image->host));
  OK(qs_operator_apply(op, &how, &x->host, &image->gpu));
  same(&image->array);
  free_pair(image);
  free_pair(x);
  free_pair(b);
}

/* Solves for n vectors of an operator with other settings: one source for all masses, a residual that the host takes, a fifth dimension. */
static void other_solves(qs_gauge *gauge, const char *action, const qs_setting *settings, size_t count, int sources, const qs_solve_options *options) {
  enum { n = 2 };
  qs_operator *op = NULL;
  OK(qs_operator_create(gauge, action, settings, count, &op));
  const int components = qs_operator_components(op);
  pair *const b = new_pair(sources, components, QS_EVEN_ODD, QS_DOUBLE, 7), *const x = new_pair(n, components, QS_EVEN_ODD, QS_DOUBLE, 8);
  OK(qs_operator_solve(op, options, &b->gpu, &x->gpu, NULL));
  same(&b->array);
  OK(qs_operator_solve(op, options, &b->host, &x->host, NULL));
  same(&x->array);
  free_pair(x);
  free_pair(b);
  qs_operator_free(op);
}

/* All layouts, on all kinds of streams. */
static void all_solves(qs_operator *w, qs_operator *s, int all_precisions) {
  void *const streams[3] = {stream, NULL, (void *)(uintptr_t)2}; /* 2: CU_STREAM_PER_THREAD */
  for (from_pool = 0; from_pool < 2; ++from_pool)
    for (int layout = QS_LEXICOGRAPHIC; layout <= QS_PYQUDA_PROPAGATOR; ++layout) {
      given = streams[layout % 3];
      solves(w, 12, (qs_layout)layout, QS_DOUBLE, QS_BOTH);
      solves(s, 3, (qs_layout)layout, QS_SINGLE, QS_EVEN);
      solves(s, 3, (qs_layout)layout, QS_DOUBLE, QS_ODD);
      if (!all_precisions) continue;
      solves(w, 12, (qs_layout)layout, QS_SINGLE, QS_BOTH);
      solves(w, 12, (qs_layout)layout, QS_SINGLE, QS_ODD);
      solves(w, 12, (qs_layout)layout, QS_DOUBLE, QS_ODD);
      for (int parity = QS_BOTH; parity <= QS_ODD; ++parity) {
        solves(s, 3, (qs_layout)layout, QS_SINGLE, (qs_parity)parity);
        solves(s, 3, (qs_layout)layout, QS_DOUBLE, (qs_parity)parity);
      }
    }
  from_pool = 0;
  given = stream;
}

static void links_in_layouts(qs_session *session, qs_gauge *gauge) {
  for (int precision = QS_DOUBLE; precision <= QS_SINGLE; ++precision)
    for (int layout = QS_LEXICOGRAPHIC; layout <= QS_PYQUDA; ++layout) {
      const size_t real = precision == QS_DOUBLE ? sizeof(double) : sizeof(float), padding = layout == QS_MILC_SITE ? 4 : 0;
      both array = new_both(sites * (link_reals + padding) * real), again = new_both(array.bytes);
      qs_links host = {.struct_size = sizeof host, .data = {array.here}, .precision = (qs_precision)precision, .layout = (qs_layout)layout,
                       .site_stride = padding ? (link_reals + padding) * real : 0};
      qs_links gpu = host;
      for (int mu = 0; mu < 4; ++mu) {
        host.data[mu] = array.here + (size_t)mu * sites * 18 * real;
        gpu.data[mu] = (void *)(uintptr_t)(array.there + (address)mu * sites * 18 * real);
      }
      gpu.location = QS_CUDA;
      gpu.cuda_stream = given;
      memset(array.here, 7, array.bytes); /* what is between sites stays */
      to_gpu(&array);
      OK(qs_gauge_export(gauge, &gpu));
      OK(qs_gauge_export(gauge, &host));
      same(&array);
      qs_gauge *copy = NULL;
      OK(qs_gauge_create(session, lattice, &gpu, &copy));
      memset(again.here, 7, again.bytes);
      for (int mu = 0; mu < 4; ++mu) host.data[mu] = again.here + (size_t)mu * sites * 18 * real;
      OK(qs_gauge_export(copy, &host));
      CHECK(memcmp(array.here, again.here, array.bytes) == 0);
      qs_gauge_free(copy);
      free_both(&again);
      free_both(&array);
    }
}

static void refusals(qs_session *session, qs_gauge *gauge, qs_operator *op) {
  pair *const b = new_pair(2, 12, QS_LEXICOGRAPHIC, QS_DOUBLE, 4), *const x = new_pair(2, 12, QS_LEXICOGRAPHIC, QS_DOUBLE, 5);
  b->gpu.data = b->here;
  FAILS(QS_ERROR_INPUT, "GPU memory", "sources", qs_operator_solve(op, NULL, &b->gpu, &x->gpu, NULL));
  b->gpu.data = b->there;
  b->there[1] = NULL;
  FAILS(QS_ERROR_INPUT, "NULL", "sources", qs_operator_solve(op, NULL, &b->gpu, &x->gpu, NULL));
  b->gpu.location = (qs_location)7;
  FAILS(QS_ERROR_INPUT, "location 7", "sources", qs_operator_solve(op, NULL, &b->gpu, &x->gpu, NULL));
  qs_links links = {.struct_size = sizeof links, .data = {x->array.here}, .location = QS_CUDA};
  qs_gauge *none = gauge;
  FAILS(QS_ERROR_INPUT, "GPU memory", "links", qs_gauge_create(session, lattice, &links, &none));
  CHECK(none == NULL);
  free_pair(x);
  free_pair(b);
}

static qs_session *open_on(const char *devices) {
  const qs_setting settings[] = {{"devices", devices}, {"workers", "1"}, {"threads", "1"}};
  const qs_session_options options = {.struct_size = sizeof options, .settings = settings, .settings_count = 3};
  qs_session *session = NULL;
  OK(qs_session_open(&options, &session));
  return session;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  if (!load()) {
    puts("no GPU");
    return 77;
  }
  void *outer = NULL, *now = NULL;
  CHECK(cuda.cuCtxCreate_v2(&context, 0, 0) == 0 && cuda.cuStreamCreate(&stream, 0) == 0);
  CHECK(cuda.cuCtxPopCurrent_v2(&context) == 0);
  CHECK(cuda.cuCtxCreate_v2(&outer, 0, 0) == 0); /* the current one is another than that of the fields */

  given = stream;
  static double u[sites * link_reals];
  qs_links links = {.struct_size = sizeof links, .data = {u}};
  const qs_heatbath heatbath = {.struct_size = sizeof heatbath, .beta = 6.0, .sweeps = 10, .seed = 7};
  qs_gauge *gauge = NULL;
  qs_session *session = open_on("cpu");
  OK(qs_gauge_generate(session, lattice, &heatbath, &gauge));
  OK(qs_gauge_export(gauge, &links));
  qs_gauge_free(gauge);
  OK(qs_session_close(session));

  session = open_on(argv[1]);
  OK(qs_gauge_create(session, lattice, &links, &gauge));
  links_in_layouts(session, gauge);
  const qs_setting wilson[] = {{"kappa", "0.11"}, {"nrhs", "2"}}, staggered[] = {{"mass", "0.4"}};
  qs_operator *w = NULL, *s = NULL;
  OK(qs_operator_create(gauge, "wilson", wilson, 2, &w));
  OK(qs_operator_create(gauge, "hisq", staggered, 1, &s));
  all_solves(w, s, 0);
  refusals(session, gauge, w);

  /* A source and correlators. */
  pair *const b = new_pair(12, 12, QS_EVEN_ODD, QS_DOUBLE, 6);
  qs_correlators *there = NULL, *here = NULL;
  OK(qs_operator_source(w, "random:0,7", NULL, &b->gpu));
  OK(qs_operator_source(w, "random:0,7", NULL, &b->host));
  same(&b->array);
  OK(qs_contract(gauge, "wilson", "random:0,7", NULL, 0, &b->gpu, &there));
  OK(qs_contract(gauge, "wilson", "random:0,7", NULL, 0, &b->host, &here));
  CHECK(qs_correlators_count(here) > 0 && qs_correlators_count(here) == qs_correlators_count(there));
  for (int i = 0; i < qs_correlators_count(here); ++i)
    CHECK(memcmp(qs_correlators_values(here, i, NULL), qs_correlators_values(there, i, NULL), 8 * sizeof(double)) == 0);
  qs_correlators_free(here);
  qs_correlators_free(there);
  free_pair(b);

  /* In the device's own context, from where kernels of a session take them. */
  CHECK(cuda.cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuda.cuCtxPushCurrent_v2(context) == 0);
  CHECK(cuda.cuStreamCreate(&stream, 0) == 0 && cuda.cuCtxPopCurrent_v2(&context) == 0);
  all_solves(w, s, 1);
  const qs_setting shifted[] = {{"masses", "0.4,0.8"}, {"solver", "multishift"}}, wall[] = {{"mass", "0.3"}, {"ls", "4"}};
  const double relative[] = {1e-6, 0}, scales[] = {0.5, 3};
  const qs_solve_options scaled = {.struct_size = sizeof scaled, .solution_scales = scales},
                         by_host = {.struct_size = sizeof by_host, .relative_tolerances = relative};
  other_solves(gauge, "hisq", shifted, 2, 1, &scaled);
  other_solves(gauge, "domain-wall", wall, 2, 2, &scaled);
  other_solves(gauge, "hisq", staggered, 1, 2, &by_host);

  CHECK(cuda.cuCtxGetCurrent(&now) == 0 && now == outer);
  qs_operator_free(w);
  qs_operator_free(s);
  qs_gauge_free(gauge);
  OK(qs_session_close(session));
  CHECK(cuda.cuCtxGetCurrent(&now) == 0 && now == outer);
  puts("all well");
  return 0;
}
