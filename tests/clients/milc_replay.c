/* What MILC's programs call of libquda.so, as they do: one node of a grid, sites in MILC's order in structs of its own, links with
 * staggered phases and the antiperiodic sign, garbage in the members of structs that MILC leaves unset.
 *   milc_replay FILE  NX NY NZ NT  ranks in x y z t  GOLDEN|-   a configuration in MILC's format, and correlators known from MILC; without
 *                                                              them no more columns are solved than other checks need
 *   milc_replay fix FILE NX NY NZ NT  ranks in x y z t          Coulomb gauge to MILC's usual tolerance; the library tells the steps
 *   milc_replay absent                                         a function that is not there
 * Rank 0 prints what has the same bits for any number of ranks: plaquettes, a correlator, fingerprints of links and solutions. */
#include <math.h>
#include <mpi.h>
#include <quda.h>
#include <quda_milc_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                 \
    }                                                                               \
  } while (0)

typedef struct {
  double re, im;
} number;
typedef struct {
  number e[3][3];
} su3_matrix;
typedef struct {
  number c[3];
} su3_vector;
typedef struct {
  number d[4][3];
} wilson_vector;
typedef struct {
  number m01, m02, m12;
  double m00im, m11im, m22im, space;
} anti_hermitmat;
typedef struct {
  short x, y, z, t;
  char parity;
  int index;
  su3_matrix link[4] __attribute__((aligned(16)));
  anti_hermitmat mom[4];
  char more[24];
} site;

enum { EVEN = 0, ODD = 1 };

static int lattice[4], grid[4], part[4], origin[4];
static int rank, sites;
static site *all;

#ifdef OTHER_ORDER
/* What a program with QMP has, whose ranks are in another order: t fastest. */
int QMP_logical_topology_is_declared(void) { return 1; }
int QMP_get_node_number_from(const int *x) { return ((x[0] * grid[1] + x[1]) * grid[2] + x[2]) * grid[3] + x[3]; }
#endif

static int place(const int local[4]) {
  const int lex = local[0] + part[0] * (local[1] + part[1] * (local[2] + part[2] * local[3]));
  return lex / 2 + ((local[0] + local[1] + local[2] + local[3]) % 2) * (sites / 2);
}
static int coordinate(const site *s, int mu) { return mu == 0 ? s->x : mu == 1 ? s->y : mu == 2 ? s->z : s->t; }
static double global_sum(double x) {
  double sum;
  MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
static uint64_t scrambled(uint64_t x) {
  x = x * 6364136223846793005ULL + 1442695040888963407ULL;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9ULL;
  return x ^ x >> 32;
}
/* A number of its own for each of a site's numbers, the same on any number of ranks. */
static uint64_t number_of_site(const site *s, int k) {
  return (uint64_t)(s->x + lattice[0] * (s->y + lattice[1] * (s->z + lattice[2] * s->t))) * 1000 + (uint64_t)k;
}
/* Numbers between -1 and 1. */
static double noise(const site *s, int k, int seed) {
  return (double)(scrambled(number_of_site(s, k) + (uint64_t)seed * 1000003) >> 11) / 4503599627370496.0 - 1;
}
/* Prints what any other bit of a field changes: of so many doubles at each site. */
static void print_fingerprint(const char *name, const void *field, int doubles) {
  uint64_t mine = 0, whole;
  for (int i = 0; i < sites; ++i)
    for (int k = 0; k < doubles; ++k) {
      uint64_t bits;
      memcpy(&bits, (const double *)field + (long)i * doubles + k, sizeof bits);
      mine ^= scrambled(bits ^ scrambled(number_of_site(&all[i], k)));
    }
  MPI_Allreduce(&mine, &whole, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
  if (rank == 0) printf("%s %016llx\n", name, (unsigned long long)whole);
}

static void layout(char **argument) {
  int rest = rank;
  sites = 1;
  for (int mu = 0; mu < 4; ++mu) {
    lattice[mu] = atoi(argument[mu]);
    grid[mu] = atoi(argument[4 + mu]);
    part[mu] = lattice[mu] / grid[mu];
    origin[mu] = rest % grid[mu] * part[mu];
    rest /= grid[mu];
    sites *= part[mu];
  }
}

static void start(int tells) {
  static MPI_Comm communicator = MPI_COMM_WORLD;
  QudaInitArgs_t input;
  memset(&input, 0x5a, sizeof input);
  input.verbosity = tells ? QUDA_VERBOSE : QUDA_SILENT;
  input.layout.latsize = lattice;
  input.layout.machsize = grid;
  qudaSetMPICommHandle(&communicator);
  qudaInit(input);
  qudaInit(input); /* a second call changes nothing */
}

static void normalize(number *row) {
  double sum = 0;
  for (int c = 0; c < 3; ++c) sum += row[c].re * row[c].re + row[c].im * row[c].im;
  for (int c = 0; c < 3; ++c) row[c].re /= sqrt(sum), row[c].im /= sqrt(sum);
}
static void reunitarize(su3_matrix *u) {
  normalize(u->e[0]);
  number dot = {0, 0};
  for (int c = 0; c < 3; ++c) {
    dot.re += u->e[0][c].re * u->e[1][c].re + u->e[0][c].im * u->e[1][c].im;
    dot.im += u->e[0][c].re * u->e[1][c].im - u->e[0][c].im * u->e[1][c].re;
  }
  for (int c = 0; c < 3; ++c) {
    u->e[1][c].re -= dot.re * u->e[0][c].re - dot.im * u->e[0][c].im;
    u->e[1][c].im -= dot.re * u->e[0][c].im + dot.im * u->e[0][c].re;
  }
  normalize(u->e[1]);
  for (int c = 0; c < 3; ++c) {
    const number a = u->e[0][(c + 1) % 3], b = u->e[0][(c + 2) % 3], d = u->e[1][(c + 1) % 3], e = u->e[1][(c + 2) % 3];
    u->e[2][c].re = a.re * e.re - a.im * e.im - (b.re * d.re - b.im * d.im);
    u->e[2][c].im = -(a.re * e.im + a.im * e.re - (b.re * d.im + b.im * d.re));
  }
}

static uint32_t swapped(uint32_t w) { return w >> 24 | (w >> 8 & 0xff00) | (w << 8 & 0xff0000) | w << 24; }

static void read_lattice(const char *path) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  uint32_t magic;
  CHECK(fread(&magic, sizeof magic, 1, file) == 1);
  CHECK(magic == 20103 || swapped(magic) == 20103);
  for (int t = 0; t < part[3]; ++t)
    for (int z = 0; z < part[2]; ++z)
      for (int y = 0; y < part[1]; ++y)
        for (int x = 0; x < part[0]; ++x) {
          const int local[4] = {x, y, z, t};
          site *s = &all[place(local)];
          s->x = (short)(origin[0] + x), s->y = (short)(origin[1] + y), s->z = (short)(origin[2] + z), s->t = (short)(origin[3] + t);
          s->parity = (char)((x + y + z + t) % 2);
          const long lex = s->x + lattice[0] * (s->y + lattice[1] * (s->z + (long)lattice[2] * s->t));
          uint32_t words[72];
          CHECK(fseek(file, 96 + lex * (long)sizeof words, SEEK_SET) == 0 && fread(words, sizeof words, 1, file) == 1);
          for (int k = 0; k < 72; ++k) {
            const uint32_t word = magic == 20103 ? words[k] : swapped(words[k]);
            float real;
            memcpy(&real, &word, sizeof real);
            ((double *)s->link)[k] = real;
          }
          for (int mu = 0; mu < 4; ++mu) reunitarize(&s->link[mu]);
        }
  fclose(file);
}

static void multiply_links(su3_matrix *u, double factor) {
  for (int k = 0; k < 18; ++k) ((double *)u)[k] *= factor;
}
/* Staggered phases and the antiperiodic boundary in time, put in or taken out. */
static void rephase(void) {
  for (int i = 0; i < sites; ++i) {
    site *s = &all[i];
    if (s->t % 2) multiply_links(&s->link[0], -1);
    if ((s->t + s->x) % 2) multiply_links(&s->link[1], -1);
    if ((s->t + s->x + s->y) % 2) multiply_links(&s->link[2], -1);
    if (s->t == lattice[3] - 1) multiply_links(&s->link[3], -1);
  }
}
static void flip_boundary(void) {
  for (int i = 0; i < sites; ++i)
    if (all[i].t == lattice[3] - 1) multiply_links(&all[i].link[3], -1);
}

static QudaMILCSiteArg_t site_arguments(void) {
  const QudaMILCSiteArg_t arguments = {all, NULL, offsetof(site, link), NULL, offsetof(site, mom), sizeof(site)};
  return arguments;
}

/* Sum of Re tr U in space, over 9 V. */
static double coulomb_functional(void) {
  double sum = 0;
  for (int i = 0; i < sites; ++i)
    for (int mu = 0; mu < 3; ++mu)
      for (int c = 0; c < 3; ++c) sum += all[i].link[mu].e[c][c].re;
  return global_sum(sum) / (9.0 * lattice[0] * lattice[1] * lattice[2] * lattice[3]);
}

/* Another gauge, in which the correlators are the same. */
static void fix_gauge(void) {
  QudaMILCSiteArg_t arguments = site_arguments();
  double before[3], after[3];
  const double first = coulomb_functional();
  qudaPlaquettePhased(2, before, &arguments, 0);
  qudaGaugeFixingOVR(2, 3, 2, 0, 1.5, 0, 10, 0, &arguments);
  const double second = coulomb_functional();
  qudaGaugeFixingOVR(2, 3, 20, 0, 1.5, 0, 10, 1, &arguments);
  const double third = coulomb_functional();
  qudaPlaquettePhased(2, after, &arguments, 0);
  CHECK(first < second && second < third && third > 0.6 && third < 1);
  for (int i = 0; i < 3; ++i) CHECK(fabs(before[i] - after[i]) < 1e-13);
  qudaGaugeFixingOVR(2, 3, 1000, 0, 1.5, 1, 10, 0, &arguments); /* two steps, from one of which to the next F changes by less */
  CHECK(coulomb_functional() >= third);
}

static void observables(const char *golden) {
  QudaMILCSiteArg_t arguments = site_arguments();
  double bare[3], phased[3], loop[2], phased_loop[2];
  qudaPlaquettePhased(2, bare, &arguments, 0);
  qudaPolyakovLoopPhased(2, loop, 3, &arguments, 0);
  rephase();
  qudaPlaquettePhased(2, phased, &arguments, 1);
  qudaPolyakovLoopPhased(2, phased_loop, 3, &arguments, 1);
  for (int i = 0; i < 3; ++i) CHECK(fabs(bare[i] - phased[i]) < 1e-14);
  CHECK(fabs(bare[0] - (bare[1] + bare[2]) / 2) < 1e-14 && bare[1] > 0.1);
  for (int i = 0; i < 2; ++i) CHECK(fabs(loop[i] - phased_loop[i]) < 1e-14 && fabs(loop[i]) < 3);
  if (rank == 0) printf("plaquettes %a %a %a\n", bare[0], bare[1], bare[2]);
  if (strcmp(golden, "-") != 0 && lattice[0] == 8) CHECK(fabs(bare[1] - 0.5930007181528) < 1e-6 && fabs(bare[2] - 0.5941197627129) < 1e-6);

  double action = 0;
  for (int i = 0; i < sites; ++i)
    for (int mu = 0; mu < 4; ++mu) {
      double *p = (double *)&all[i].mom[mu];
      for (int k = 0; k < 10; ++k) p[k] = noise(&all[i], 10 * mu + k, 1);
      for (int k = 0; k < 6; ++k) action += p[k] * p[k];
      for (int k = 6; k < 9; ++k) action += 0.5 * p[k] * p[k];
      action -= 4;
      p[9] = NAN; /* never looked at */
    }
  action = global_sum(action);
  CHECK(fabs(qudaMomAction(2, &arguments) - action) < 1e-12 * fabs(action));

  /* Links that the momentum moves stay unitary, and go back with the opposite step. */
  su3_matrix before[4], moved[4];
  memcpy(before, all[1].link, sizeof before);
  qudaUpdateUPhased(2, 0.1, &arguments, 1);
  memcpy(moved, all[1].link, sizeof moved);
  qudaPlaquettePhased(2, phased, &arguments, 1);
  CHECK(fabs(phased[0] - bare[0]) > 1e-6);
  qudaUpdateUPhasedPipeline(2, -0.1, &arguments, 1, 0);
  for (int k = 0; k < 72; ++k) CHECK(fabs(((double *)all[1].link)[k] - ((double *)before)[k]) < 1e-14);
  for (int mu = 0; mu < 4; ++mu) {
    /* U(step) = U + step P U to first order; row 0 of P U by hand. */
    qudaUpdateU(2, 1e-7, &arguments);
    const anti_hermitmat *p = &all[1].mom[mu];
    const number row[3] = {{0, p->m00im}, p->m01, p->m02};
    number change = {0, 0};
    for (int c = 0; c < 3; ++c) {
      const number u = before[mu].e[c][1];
      change.re += row[c].re * u.re - row[c].im * u.im;
      change.im += row[c].re * u.im + row[c].im * u.re;
    }
    CHECK(fabs((all[1].link[mu].e[0][1].re - before[mu].e[0][1].re) / 1e-7 - change.re) < 1e-5);
    CHECK(fabs((all[1].link[mu].e[0][1].im - before[mu].e[0][1].im) / 1e-7 - change.im) < 1e-5);
    qudaUpdateU(2, -1e-7, &arguments);
  }
  for (int mu = 0; mu < 4; ++mu) { /* U U^+ = 1 */
    double norm = 0;
    for (int c = 0; c < 3; ++c) norm += moved[mu].e[0][c].re * moved[mu].e[0][c].re + moved[mu].e[0][c].im * moved[mu].e[0][c].im;
    CHECK(fabs(norm - 1) < 1e-14);
  }
}

/* ---- fat and long links */

typedef struct {
  su3_matrix *fat, *lng;
} links;

static su3_matrix *new_links(void) { return qudaAllocatePinned((size_t)sites * 4 * sizeof(su3_matrix)); }
static links copies(const links *from) {
  const links to = {new_links(), new_links()};
  memcpy(to.fat, from->fat, (size_t)sites * 4 * sizeof(su3_matrix));
  memcpy(to.lng, from->lng, (size_t)sites * 4 * sizeof(su3_matrix));
  return to;
}
static void free_links(links *l) {
  qudaFreePinned(l->fat);
  qudaFreePinned(l->lng);
}

/* As load_fn_links() of HISQ: U -> W, X and N, and what an epsilon adds. */
static links hisq(double epsilon) {
  const double fat7[6] = {1. / 8, 0, -1. / 16, 1. / 64, -1. / 384, 0};
  const double second[6] = {1, -1. / 24, -1. / 16, 1. / 64, -1. / 384, -1. / 8};
  const double of_epsilon[6] = {1. / 8, -1. / 24, 0, 0, 0, 0};
  QudaFatLinkArgs_t arguments;
  QudaHisqParams_t parameters;
  memset(&arguments, 0x5a, sizeof arguments);
  memset(&parameters, 0x5a, sizeof parameters);
  qudaHisqParamsInit(parameters);
  su3_matrix *u = new_links(), *v = new_links(), *w = new_links(), *again = new_links();
  for (int i = 0; i < sites; ++i) memcpy(&u[4 * i], all[i].link, 4 * sizeof(su3_matrix));
  qudaLoadUnitarizedLink(2, arguments, fat7, u, v, w);
  qudaLoadUnitarizedLink(2, arguments, fat7, u, NULL, again);
  CHECK(memcmp(w, again, (size_t)sites * 4 * sizeof(su3_matrix)) == 0);
  links made = {new_links(), new_links()}, more = {new_links(), new_links()};
  qudaLoadKSLink(2, arguments, second, w, made.fat, made.lng);
  qudaLoadKSLink(2, arguments, second, w, again, NULL);
  CHECK(memcmp(made.fat, again, (size_t)sites * 4 * sizeof(su3_matrix)) == 0);
  qudaLoadKSLink(2, arguments, of_epsilon, w, more.fat, more.lng);
  for (int k = 0; k < sites * 4 * 18; ++k) {
    ((double *)made.fat)[k] += epsilon * ((double *)more.fat)[k];
    ((double *)made.lng)[k] += epsilon * ((double *)more.lng)[k];
  }
  free_links(&more);
  qudaFreePinned(u);
  qudaFreePinned(v);
  qudaFreePinned(w);
  qudaFreePinned(again);
  print_fingerprint("fat links", made.fat, 72);
  print_fingerprint("long links", made.lng, 72);
  return made;
}

/* ---- solves */

static QudaInvertArgs_t garbage(void) {
  QudaInvertArgs_t arguments;
  memset(&arguments, 0xff, sizeof arguments); /* NaN in all doubles */
  return arguments;
}
static QudaInvertArgs_t solver_arguments(int parity, int mixed) {
  QudaInvertArgs_t arguments = garbage();
  arguments.evenodd = parity == EVEN ? QUDA_EVEN_PARITY : QUDA_ODD_PARITY;
  arguments.max_iter = 5000;
  arguments.mixed_precision = mixed;
  arguments.naik_epsilon = 0;
  arguments.tadpole = 1;
  return arguments;
}

static su3_vector *new_vector(void) { return calloc((size_t)sites, sizeof(su3_vector)); }
static int first_of(int parity) { return parity == EVEN ? 0 : sites / 2; }
static double norm2(const su3_vector *v, int parity) {
  double sum = 0;
  for (int i = first_of(parity); i < first_of(parity) + sites / 2; ++i)
    for (int k = 0; k < 6; ++k) sum += ((const double *)&v[i])[k] * ((const double *)&v[i])[k];
  return global_sum(sum);
}

static double difference(const su3_vector *a, const su3_vector *b) {
  double sum = 0;
  for (int k = 0; k < sites * 6; ++k) {
    const double d = ((const double *)a)[k] - ((const double *)b)[k];
    sum += d * d;
  }
  return sqrt(global_sum(sum) / (norm2(b, EVEN) + norm2(b, ODD)));
}

static void dslash(const links *l, int refresh, su3_vector *from, su3_vector *to, int parity) {
  QudaInvertArgs_t arguments = garbage();
  arguments.evenodd = parity == EVEN ? QUDA_EVEN_PARITY : QUDA_ODD_PARITY;
  int iterations = refresh ? -1 : 0;
  qudaDslash(2, 2, arguments, l->fat, l->lng, from, to, &iterations);
}

/* |source - (offset - D D) x| / |source| on a parity. */
static double residual_of(const links *l, su3_vector *source, su3_vector *x, double offset, int parity) {
  su3_vector *d = new_vector(), *dd = new_vector();
  dslash(l, 0, x, d, 1 - parity);
  dslash(l, 0, d, dd, parity);
  for (int i = first_of(parity); i < first_of(parity) + sites / 2; ++i)
    for (int k = 0; k < 6; ++k) ((double *)&dd[i])[k] = ((double *)&source[i])[k] - (offset * ((double *)&x[i])[k] - ((double *)&dd[i])[k]);
  const double r = sqrt(norm2(dd, parity) / norm2(source, parity));
  free(d);
  free(dd);
  return r;
}

static int invert(const links *l, int refresh, double mass, double target, int mixed, su3_vector *source, su3_vector *x, int parity) {
  double final, relative;
  int iterations = refresh ? -1 : 0;
  qudaInvert(2, 2, mass, solver_arguments(parity, mixed), target, 0, l->fat, l->lng, source, x, &final, &relative, &iterations);
  CHECK(final < target);
  CHECK(fabs(final - residual_of(l, source, x, 4 * mass * mass, parity)) < 1e-3 * target);
  return iterations;
}

/* M x = b, as mat_invert_uml_field(): even sites, the odd ones of them, which are then polished. */
static void mat_invert(const links *l, int refresh, double mass, double target, int mixed, su3_vector *b, su3_vector *x) {
  su3_vector *db = new_vector(), *rhs = new_vector();
  dslash(l, refresh, b, db, EVEN);
  dslash(l, 0, b, db, ODD);
  for (int k = 0; k < sites * 6; ++k) ((double *)rhs)[k] = 2 * mass * ((double *)b)[k] - ((double *)db)[k];
  const int iterations = invert(l, 0, mass, target, mixed, rhs, x, EVEN);
  dslash(l, 0, x, db, ODD);
  for (int k = sites / 2 * 6; k < sites * 6; ++k) ((double *)x)[k] = (((double *)b)[k] - ((double *)db)[k]) / (2 * mass);
  const int polishing = invert(l, 0, mass, target, mixed, rhs, x, ODD);
  CHECK(iterations > 10 && polishing < iterations);
  free(db);
  free(rhs);
}

static int origin_is_here(void) { return origin[0] == 0 && origin[1] == 0 && origin[2] == 0 && origin[3] == 0; }

/* C(t) of pion5 and of rhox, from a propagator of three colours. */
static void correlators(su3_vector *const propagator[3], double *pion, double *rho) {
  for (int t = 0; t < lattice[3]; ++t) pion[t] = rho[t] = 0;
  for (int i = 0; i < sites; ++i)
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k < 6; ++k) {
        const double x = ((double *)&propagator[c][i])[k];
        pion[all[i].t] += x * x;
        rho[all[i].t] += all[i].x % 2 ? -x * x : x * x;
      }
  for (int t = 0; t < lattice[3]; ++t) pion[t] = global_sum(pion[t]), rho[t] = global_sum(rho[t]);
}

/* Lines "name C(0) C(1) ...". */
static void compare(const char *golden, const char *name, const double *values, double tolerance) {
  if (strcmp(golden, "-") == 0 || strstr(name, lattice[0] == 4 ? "l4444" : "l8888") == NULL) return;
  FILE *file = fopen(golden, "r");
  CHECK(file != NULL);
  char word[200];
  int found = 0;
  while (!found && fscanf(file, "%199s", word) == 1) found = strcmp(word, name) == 0;
  CHECK(found);
  for (int t = 0; t < lattice[3]; ++t) {
    double known;
    CHECK(fscanf(file, "%lf", &known) == 1);
    if (!(fabs(values[t] - known) <= tolerance * fabs(known)))
      fprintf(stderr, "%s, t = %d: %.15g, MILC %.15g\n", name, t, values[t], known);
    CHECK(fabs(values[t] - known) <= tolerance * fabs(known));
  }
  fclose(file);
}

enum { colours = 3 };
/* The first columns of a propagator. */
static void propagator(const links *l, double mass, double target, int mixed, int columns, su3_vector *result[colours]) {
  for (int c = 0; c < columns; ++c) {
    su3_vector *source = new_vector();
    if (origin_is_here()) source[0].c[c].re = 1;
    result[c] = new_vector();
    mat_invert(l, c == 0, mass, target, mixed, source, result[c]);
    free(source);
  }
}
static void free_propagator(su3_vector *p[colours], int columns) {
  for (int c = 0; c < columns; ++c) free(p[c]);
}

static void contraction(su3_vector *const p[3], const double *pion);

static void spectrum(const char *golden, links *light) {
  const int is_golden = strcmp(golden, "-") != 0;
  double pion[64], rho[64];
  su3_vector *p[colours], *other[colours];
  propagator(light, 0.05, 1e-12, 0, colours, p);
  for (int c = 0; c < colours; ++c) print_fingerprint("light", p[c], 6);
  correlators(p, pion, rho);
  compare(golden, "hisq_l8888_antiperiodic_m0.05_e0_pion5", pion, 1e-10);
  compare(golden, "hisq_l8888_antiperiodic_m0.05_e0_rhox", rho, 1e-10);
  contraction(p, pion);
  for (int mixed = 1; mixed < 3; ++mixed) { /* with the inner solver in single and half precision */
    propagator(light, 0.05, 1e-10, mixed, 1, other);
    CHECK(difference(other[0], p[0]) < 1e-8);
    free_propagator(other, 1);
  }
  if (is_golden && lattice[0] == 4) {
    propagator(light, 0.1, 1e-12, 0, colours, other);
    correlators(other, pion, rho);
    compare(golden, "hisq_l4444_antiperiodic_m0.1_e0_pion5", pion, 1e-10);
    free_propagator(other, colours);
  }
  const int columns = is_golden ? colours : 1;
  links charm = hisq(-0.1);
  propagator(&charm, 0.1, 1e-12, 0, columns, other);
  print_fingerprint("charm", other[0], 6);
  if (is_golden) {
    correlators(other, pion, rho);
    compare(golden, "hisq_l8888_antiperiodic_m0.1_e-0.1_pion5", pion, 1e-10);
  }
  free_propagator(other, columns);
  propagator(light, 0.05, 1e-12, 0, 1, other); /* and back: the links of either are kept apart */
  CHECK(memcmp(other[0], p[0], (size_t)sites * sizeof(su3_vector)) == 0);
  free_propagator(other, 1);
  free_propagator(p, colours);
  free_links(&charm);
}

static su3_vector *noise_vector(int seed) {
  su3_vector *v = new_vector();
  for (int i = 0; i < sites; ++i)
    for (int k = 0; k < 6; ++k) ((double *)&v[i])[k] = noise(&all[i], k, seed);
  return v;
}

/* The rational functions of RHMC. */
static void shifts(const links *l) {
  enum { n = 5 };
  const double mass = 0.05, poles[n] = {0, 1e-3, 2e-2, 0.3, 5};
  for (int parity = EVEN; parity <= ODD; ++parity)
    for (int mixed = 0; mixed < 3; ++mixed) {
      double offsets[n], residuals[n], relative[n], final[n], final_relative[n];
      su3_vector *source = noise_vector(7), *x[n];
      void *solutions[n];
      for (int i = 0; i < n; ++i) {
        offsets[i] = 4 * mass * mass + poles[i];
        residuals[i] = i == 0 || mixed ? 1e-9 : 0;
        relative[i] = 0;
        solutions[i] = x[i] = noise_vector(20 + i); /* no guess */
      }
      int iterations = -1;
      qudaMultishiftInvert(2, 2, n, offsets, solver_arguments(parity, mixed), residuals, relative, l->fat, l->lng, source, solutions, final,
                           final_relative, &iterations);
      CHECK(iterations > 10);
      for (int i = 0; i < n; ++i) {
        CHECK(final[i] < 1e-9);
        CHECK(fabs(final[i] - residual_of(l, source, x[i], offsets[i], parity)) < 1e-12);
        if (i > 0 && !mixed) CHECK(final[i] < final[0] && (i < 4 || final[i] < 1e-13)); /* until the first has converged */
        su3_vector *before = noise_vector(20 + i);
        CHECK(memcmp(before + first_of(1 - parity), x[i] + first_of(1 - parity), (size_t)sites / 2 * sizeof(su3_vector)) == 0);
        free(before);
        free(x[i]);
      }
      free(source);
    }
}

static void several_sources(const links *l) {
  enum { n = 3 };
  const double mass = 0.1;
  void *sources[n], *solutions[n];
  su3_vector *alone[n];
  for (int i = 0; i < n; ++i) {
    sources[i] = noise_vector(30 + i);
    solutions[i] = new_vector();
    alone[i] = new_vector();
    invert(l, 0, mass, 1e-8, 1, sources[i], alone[i], ODD);
  }
  double final, relative;
  int iterations = 0;
  qudaInvertMsrc(2, 2, mass, solver_arguments(ODD, 1), 1e-8, 0, l->fat, l->lng, sources, solutions, &final, &relative, &iterations, n);
  CHECK(final < 1e-8 && iterations > 10);
  /* As later versions of MILC call it, without vectors that deflate. */
  QudaEigensolverArgs_t deflation;
  CHECK(sizeof deflation == 1192); /* MILC writes this number, and file names as long as its own, into it */
  memset(&deflation, 0xff, sizeof deflation);
  deflation.n_ev_deflate = 0;
  void *again[n] = {new_vector(), new_vector(), new_vector()};
  int same_iterations = 0;
  qudaInvertMsrcDeflatable(2, 2, mass, solver_arguments(ODD, 1), deflation, 1e-8, 0, l->fat, l->lng, sources, again, &final, &relative,
                           &same_iterations, n);
  CHECK(same_iterations == iterations);
  for (int i = 0; i < n; ++i) {
    CHECK(memcmp(again[i], solutions[i], (size_t)sites * sizeof(su3_vector)) == 0);
    memset(again[i], 0, (size_t)sites * sizeof(su3_vector));
  }
  qudaInvertDeflatable(2, 2, mass, solver_arguments(ODD, 1), deflation, 1e-8, 0, l->fat, l->lng, sources[0], again[0], &final, &relative,
                       &same_iterations);
  CHECK(memcmp(again[0], solutions[0], (size_t)sites * sizeof(su3_vector)) == 0);
  for (int i = 0; i < n; ++i) {
    free(again[i]);
    CHECK(memcmp(alone[i], solutions[i], (size_t)sites * sizeof(su3_vector)) == 0);
    free(sources[i]);
    free(solutions[i]);
    free(alone[i]);
  }
}

static void other_targets(const links *l) {
  const double mass = 0.05;
  su3_vector *source = noise_vector(40), *x = new_vector(), *y = new_vector();
  double final, relative;
  int iterations = 0;
  /* Fermilab's relative residual alone, and both. */
  qudaInvert(2, 2, mass, solver_arguments(EVEN, 0), 0, 1e-6, l->fat, l->lng, source, x, &final, &relative, &iterations);
  CHECK(relative > 0 && relative < 1e-6);
  qudaInvert(2, 2, mass, solver_arguments(EVEN, 0), 1e-11, 1e-6, l->fat, l->lng, source, x, &final, &relative, &iterations);
  CHECK(relative > 0 && relative < 1e-6 && final < 1e-11);
  /* sqrt(2/V sum |r|^2 / |x|^2) from its definition. */
  su3_vector *d = new_vector(), *dd = new_vector();
  dslash(l, 0, x, d, ODD);
  dslash(l, 0, d, dd, EVEN);
  double sum = 0;
  for (int i = 0; i < sites / 2; ++i) {
    double r2 = 0, x2 = 0;
    for (int k = 0; k < 6; ++k) {
      const double here = ((double *)&x[i])[k], r = ((double *)&source[i])[k] - (4 * mass * mass * here - ((double *)&dd[i])[k]);
      r2 += r * r;
      x2 += here * here;
    }
    sum += r2 / x2;
  }
  sum = sqrt(global_sum(sum) * 2 / ((double)lattice[0] * lattice[1] * lattice[2] * lattice[3]));
  CHECK(fabs(sum - relative) < 1e-4 * relative);
  /* A limit of iterations is no error. */
  QudaInvertArgs_t few = solver_arguments(EVEN, 0);
  few.max_iter = 3;
  qudaInvert(2, 2, mass, few, 1e-12, 0, l->fat, l->lng, source, y, &final, &relative, &iterations);
  CHECK(final > 1e-12 && iterations <= 3);
  /* Fields in single precision. */
  float *fat = malloc((size_t)sites * 72 * sizeof(float)), *lng = malloc((size_t)sites * 72 * sizeof(float));
  float *b = malloc((size_t)sites * 6 * sizeof(float)), *z = calloc((size_t)sites * 6, sizeof(float));
  for (int k = 0; k < sites * 72; ++k) fat[k] = (float)((double *)l->fat)[k], lng[k] = (float)((double *)l->lng)[k];
  for (int k = 0; k < sites * 6; ++k) b[k] = (float)((double *)source)[k];
  iterations = -1;
  qudaInvert(1, 1, mass, solver_arguments(EVEN, 0), 1e-7, 0, fat, lng, b, z, &final, &relative, &iterations);
  CHECK(final < 1e-7);
  for (int k = 0; k < sites * 6; ++k) ((double *)y)[k] = k < sites * 3 ? z[k] : ((double *)x)[k];
  CHECK(difference(y, x) < 1e-4);
  free(fat), free(lng), free(b), free(z), free(source), free(x), free(y), free(d), free(dd);
}

static void links_change(const links *l) {
  links mine = copies(l);
  su3_vector *v = noise_vector(50), *before = new_vector(), *after = new_vector(), *of_others = new_vector();
  dslash(&mine, 1, v, before, EVEN);
  for (int k = 0; k < sites * 72; ++k) ((double *)mine.fat)[k] *= 2, ((double *)mine.lng)[k] *= 2;
  dslash(&mine, 1, v, after, EVEN); /* at the same addresses */
  dslash(l, 1, v, of_others, EVEN);
  for (int k = 0; k < sites * 3; ++k) {
    CHECK(((double *)after)[k] == 2 * ((double *)before)[k]);
    CHECK(((double *)of_others)[k] == ((double *)before)[k]);
  }
  free_links(&mine);
  free(v), free(before), free(after), free(of_others);
}

/* The sign of a boundary in time, of links in place: a layer that most ranks do not have. */
static void flip_time(links *l) {
  for (int i = 0; i < sites; ++i) {
    if (all[i].t == lattice[3] - 1) multiply_links(&l->fat[4 * i + 3], -1);
    if (all[i].t >= lattice[3] - 3) multiply_links(&l->lng[4 * i + 3], -1);
  }
}

/* Links that go to and fro between two boundaries, and all ranks take the same operators; said to be new, or (as by boundary_twist_fn())
 * changed in place without a word. */
static void twists(const links *l) {
  links mine = copies(l);
  su3_vector *v = noise_vector(70), *d[2] = {new_vector(), new_vector()}, *x[2] = {new_vector(), new_vector()}, *again = new_vector();
  const size_t half = (size_t)sites / 2 * sizeof *v;
  for (int turn = 0; turn < 6; ++turn) {
    const int which = turn % 2, is_said = turn < 4;
    dslash(&mine, is_said, v, turn < 2 ? d[which] : again, EVEN);
    if (turn >= 2) CHECK(memcmp(again, d[which], half) == 0);
    su3_vector *const y = turn < 2 ? x[which] : new_vector();
    invert(&mine, is_said, 0.2, 1e-10, 0, v, y, EVEN);
    if (turn >= 2) {
      CHECK(memcmp(y, x[which], half) == 0);
      free(y);
    }
    flip_time(&mine);
  }
  CHECK(difference(d[0], d[1]) > 1e-3 && difference(x[0], x[1]) > 1e-6);
  free_links(&mine);
  free(v), free(d[0]), free(d[1]), free(x[0]), free(x[1]), free(again);
}

/* Long links that a program keeps although they are zero. */
static void without_long(const links *l) {
  links mine = copies(l);
  const links fat_alone = {mine.fat, NULL};
  memset(mine.lng, 0, (size_t)sites * 4 * sizeof(su3_matrix));
  su3_vector *v = noise_vector(71), *a = new_vector(), *b = new_vector();
  dslash(&mine, 1, v, a, ODD);
  dslash(&fat_alone, 1, v, b, ODD);
  CHECK(memcmp(a + sites / 2, b + sites / 2, (size_t)sites / 2 * sizeof *v) == 0);
  free_links(&mine);
  free(v), free(a), free(b);
}

/* Of shifts some have relative targets, and some none. */
static void mixed_targets(const links *l) {
  enum { n = 3 };
  double offsets[n] = {0.04, 0.5, 5}, residuals[n] = {1e-9, 0, 0}, relative[n] = {0, 1e-7, 0}, final[n], final_relative[n];
  su3_vector *source = noise_vector(72), *x[n] = {new_vector(), new_vector(), new_vector()};
  void *solutions[n] = {x[0], x[1], x[2]};
  int iterations = -1;
  qudaMultishiftInvert(2, 2, n, offsets, solver_arguments(EVEN, 0), residuals, relative, l->fat, l->lng, source, solutions, final,
                       final_relative, &iterations);
  CHECK(final[0] < 1e-9 && final[2] < 1e-9 && final_relative[1] < 1e-7 && final_relative[1] > 0);
  for (int i = 0; i < n; ++i) CHECK(fabs(final[i] - residual_of(l, source, x[i], offsets[i], EVEN)) < 1e-12);
  free(source), free(x[0]), free(x[1]), free(x[2]);
}

/* A source that is zero, behind one that is not, with a relative target. */
static void zero_source(const links *l) {
  void *sources[2] = {noise_vector(73), new_vector()}, *solutions[2] = {new_vector(), new_vector()};
  double final, relative;
  int iterations = 0;
  qudaInvertMsrc(2, 2, 0.2, solver_arguments(ODD, 0), 1e-8, 1e-5, l->fat, l->lng, sources, solutions, &final, &relative, &iterations, 2);
  CHECK(final == 0 && relative == 0 && iterations > 10 && norm2(solutions[1], ODD) == 0 && norm2(solutions[0], ODD) > 0);
  for (int i = 0; i < 2; ++i) free(sources[i]), free(solutions[i]);
}

/* A light mass and a smooth source, whose residual first rises for long. */
static void light_mass(const links *l) {
  su3_vector *source = new_vector();
  for (int i = 0; i < sites; ++i)
    if (all[i].t == 0 && all[i].parity == EVEN) source[i].c[0].re = 1;
  for (int mixed = 0; mixed < 3; ++mixed) {
    su3_vector *x = new_vector();
    QudaInvertArgs_t arguments = solver_arguments(EVEN, mixed);
    arguments.max_iter = 50000;
    double final, relative;
    int iterations = 0;
    qudaInvert(2, 2, 0.001, arguments, 1e-8, 0, l->fat, l->lng, source, x, &final, &relative, &iterations);
    CHECK(final < 1e-8 && residual_of(l, source, x, 4e-6, EVEN) < 1.001e-8);
    free(x);
  }
  free(source);
}

/* ---- operations on vectors */

static void contraction(su3_vector *const p[3], const double *pion) {
  enum { n = 3 };
  int modes[4 * n] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0}, where[4] = {0, 1, 0, 0};
  const QudaFFTSymmType eo = QUDA_FFT_SYMM_EO, even = QUDA_FFT_SYMM_EVEN, odd = QUDA_FFT_SYMM_ODD;
  QudaFFTSymmType types[4 * n] = {eo, eo, eo, eo, eo, eo, eo, eo, even, odd, even, eo};
  QudaContractArgs_t arguments;
  memset(&arguments, 0xff, sizeof arguments);
  arguments.n_mom = n;
  arguments.mom_modes = modes;
  arguments.fft_type = types;
  arguments.source_position = where;
  double all_times[n * 64 * 2] = {0}, mine[n * 64 * 2] = {0};
  for (int c = 0; c < 3; ++c) qudaContractFT(2, &arguments, p[c], p[(c + 1) % 3], all_times); /* sums add up */
  for (int c = 0; c < 3; ++c) qudaContractFT(2, &arguments, p[c], p[c], all_times);
  for (int i = 0; i < sites; ++i)
    for (int c = 0; c < 3; ++c)
      for (int other = 0; other < 2; ++other) {
        double re = 0, im = 0;
        for (int k = 0; k < 3; ++k) {
          const number a = p[c][i].c[k], b = p[other ? c : (c + 1) % 3][i].c[k];
          re += a.re * b.re + a.im * b.im;
          im += a.re * b.im - a.im * b.re;
        }
        const double two_pi = 2 * 3.14159265358979323846;
        const double x = two_pi * all[i].x / lattice[0], y = two_pi * (all[i].y - 1) / lattice[1], z = two_pi * all[i].z / lattice[2];
        double *c0 = mine + 2 * all[i].t, *c1 = c0 + 2 * lattice[3], *c2 = c1 + 2 * lattice[3];
        c0[0] += re, c0[1] += im;
        c1[0] += re * cos(x) - im * sin(x), c1[1] += im * cos(x) + re * sin(x);
        c2[0] += -im * sin(y) * cos(z), c2[1] += re * sin(y) * cos(z);
      }
  for (int i = 0; i < n * lattice[3] * 2; ++i) CHECK(fabs(global_sum(mine[i]) - all_times[i]) < 1e-12 * pion[0]);
  double same[64 * 2] = {0};
  arguments.n_mom = 1;
  for (int c = 0; c < 3; ++c) qudaContractFT(2, &arguments, p[c], p[c], same);
  for (int t = 0; t < lattice[3]; ++t) {
    CHECK(fabs(same[2 * t] - pion[t]) < 1e-13 * pion[t] && fabs(same[2 * t + 1]) < 1e-15 * pion[0]);
    if (rank == 0) printf("%a\n", same[2 * t]);
  }
}

static void shift(const su3_matrix *u, int reload, const su3_vector *v, su3_vector *to, int mu, int symmetry) {
  qudaShift(2, 2, u, v, to, mu, symmetry, reload);
}

static int bit(int set, int mu) { return set >> mu & 1; }
/* (-1)^(x+y+z+t) (-1)^x_mu for each direction of a set. */
static double sign_of(const site *s, int set) {
  int sum = 0;
  for (int mu = 0; mu < 4; ++mu)
    if (bit(set, mu)) sum += s->parity + coordinate(s, mu);
  return sum % 2 ? -1 : 1;
}
static void scale(su3_vector *v, const site *s, double factor) {
  (void)s;
  for (int k = 0; k < 6; ++k) ((double *)v)[k] *= factor;
}

/* One and two links, as MILC's one_link() and two_link(). */
static void spin_taste_by_shifts(const su3_matrix *u, const su3_vector *v, su3_vector *to, int spin, int n, const int *order) {
  su3_vector *from = new_vector(), *t = new_vector();
  memcpy(from, v, (size_t)sites * sizeof(su3_vector));
  for (int i = 0; i < sites; ++i) scale(&from[i], &all[i], sign_of(&all[i], spin));
  for (int k = 0; k < n; ++k) {
    shift(u, 0, from, t, order[k], 3);
    for (int i = 0; i < sites; ++i) scale(&t[i], &all[i], sign_of(&all[i], 1 << order[k]));
    memcpy(from, t, (size_t)sites * sizeof(su3_vector));
  }
  for (int i = 0; i < sites; ++i) scale(&from[i], &all[i], all[i].parity ? -1 : 1);
  memcpy(to, from, (size_t)sites * sizeof(su3_vector));
  free(from);
  free(t);
}

static void transport(void) {
  su3_matrix *u = new_links();
  for (int i = 0; i < sites; ++i) memcpy(&u[4 * i], all[i].link, 4 * sizeof(su3_matrix));
  su3_vector *v = noise_vector(60), *forward = new_vector(), *backward = new_vector(), *half = new_vector(), *sum = new_vector(),
             *d = new_vector();
  int reload = 1;
  for (int mu = 0; mu < 4; ++mu) {
    shift(u, reload, v, forward, mu, 1);
    reload = 0;
    shift(u, reload, v, backward, mu, 2);
    shift(u, reload, v, half, mu, 3);
    for (int k = 0; k < sites * 6; ++k) {
      const double f = ((double *)forward)[k], b = ((double *)backward)[k];
      CHECK(fabs(((double *)half)[k] - 0.5 * (f + b)) < 1e-14);
      ((double *)sum)[k] += f - b;
    }
  }
  const links naive = {u, NULL}; /* all forward hops less the backward ones are D of these links */
  dslash(&naive, 1, v, d, EVEN);
  dslash(&naive, 0, v, d, ODD);
  CHECK(difference(sum, d) < 1e-14);

  /* Other links at the same address, said to be new with an operator that needs none. */
  qudaSpinTaste(2, 2, u, v, half, 15, 14, 0);
  for (int k = 0; k < sites * 72; ++k) ((double *)u)[k] *= 2;
  qudaSpinTaste(2, 2, u, v, sum, 15, 15, 1);
  qudaSpinTaste(2, 2, u, v, sum, 15, 14, 0);
  for (int k = 0; k < sites * 6; ++k) CHECK(((double *)sum)[k] == 2 * ((double *)half)[k]);
  for (int k = 0; k < sites * 72; ++k) ((double *)u)[k] /= 2;
  qudaSpinTaste(2, 2, u, v, sum, 15, 14, 0);
  CHECK(memcmp(sum, half, (size_t)sites * sizeof(su3_vector)) == 0);

  qudaSpinTaste(2, 2, u, v, half, 15, 15, 0); /* pion5: nothing to do */
  CHECK(memcmp(half, v, (size_t)sites * sizeof(su3_vector)) == 0);
  qudaSpinTaste(2, 2, u, v, half, 1, 1, 0);
  for (int i = 0; i < sites; ++i) CHECK(half[i].c[0].re == v[i].c[0].re * sign_of(&all[i], 1) * (all[i].parity ? -1 : 1));
  for (int mu = 0; mu < 4; ++mu) {
    qudaSpinTaste(2, 2, u, v, half, 15, 15 ^ 1 << mu, 0);
    spin_taste_by_shifts(u, v, sum, 15, 1, &mu);
    CHECK(difference(half, sum) < 1e-14);
  }
  const int pairs[6][2] = {{0, 1}, {2, 0}, {1, 2}, {0, 3}, {1, 3}, {2, 3}};
  for (int k = 0; k < 6; ++k) {
    const int a = pairs[k][0], b = pairs[k][1], first[2] = {b, a}, second[2] = {a, b};
    qudaSpinTaste(2, 2, u, v, half, 1, 1 ^ 1 << a ^ 1 << b, 0);
    spin_taste_by_shifts(u, v, forward, 1, 2, first);
    spin_taste_by_shifts(u, v, backward, 1, 2, second);
    for (int i = 0; i < sites * 6; ++i) ((double *)sum)[i] = 0.5 * (((double *)forward)[i] - ((double *)backward)[i]);
    CHECK(difference(half, sum) < 1e-14);
  }

  QudaTwoLinkQuarkSmearArgs_t smear;
  memset(&smear, 0x5a, sizeof smear);
  smear.n_steps = 2;
  smear.width = 1.5;
  smear.compute_2link = 1;
  smear.delete_2link = 0;
  smear.laplaceDim = 3;
  smear.t0 = -1;
  su3_vector *smeared = noise_vector(60), *expected = noise_vector(60), *a = new_vector(), *b = new_vector();
  qudaTwoLinkGaussianSmear(2, 2, u, smeared, smear);
  const double weight = 1.5 * 1.5 / (4 * 4 * 2);
  for (int step = 0; step < 2; ++step) {
    memcpy(sum, expected, (size_t)sites * sizeof(su3_vector));
    for (int i = 0; i < sites; ++i) scale(&sum[i], &all[i], 1 - 6 * weight);
    for (int mu = 0; mu < 3; ++mu)
      for (int side = 1; side < 3; ++side) {
        shift(u, 0, expected, a, mu, side);
        shift(u, 0, a, b, mu, side);
        for (int k = 0; k < sites * 6; ++k) ((double *)sum)[k] += weight * ((double *)b)[k];
      }
    memcpy(expected, sum, (size_t)sites * sizeof(su3_vector));
  }
  CHECK(difference(smeared, expected) < 1e-14);
  smear.compute_2link = 0; /* with the links of the call before, one time slice */
  smear.t0 = 2;
  su3_vector *slice = noise_vector(60);
  qudaTwoLinkGaussianSmear(2, 2, u, slice, smear);
  for (int i = 0; i < sites; ++i) CHECK(slice[i].c[1].im == (all[i].t == 2 ? smeared : v)[i].c[1].im);
  qudaFreeTwoLink();
  free(v), free(forward), free(backward), free(half), free(sum), free(d), free(smeared), free(expected), free(a), free(b), free(slice);
  qudaFreePinned(u);
}

/* ---- clover: bicgilu_cl_field_gpu() */

static void clover(const char *golden, const char *name, double kappa, double coefficient, int mixed) {
  double pion[64] = {0};
  double *raw = malloc((size_t)sites * 72 * sizeof(double));
  memset(raw, 0xff, (size_t)sites * 72 * sizeof(double));
  const int columns = strcmp(golden, "-") != 0 ? 12 : 1;
  for (int column = 0; column < columns; ++column) {
    su3_matrix *u = malloc((size_t)sites * 4 * sizeof(su3_matrix)); /* made for each solve */
    for (int i = 0; i < sites; ++i) memcpy(&u[4 * i], all[i].link, 4 * sizeof(su3_matrix));
    wilson_vector *source = calloc((size_t)sites, sizeof *source), *x = malloc((size_t)sites * sizeof *x);
    memset(x, 0xff, (size_t)sites * sizeof *x);                                             /* no guess */
    if (origin_is_here()) source[0].d[column / 3][column % 3].re = column / 3 < 2 ? 1 : -1; /* gamma5 */
    QudaInvertArgs_t arguments = garbage();
    arguments.max_iter = 1000;
    arguments.mixed_precision = mixed;
    arguments.solver_type = QUDA_BICGSTAB_INVERTER;
    for (int mu = 0; mu < 4; ++mu) arguments.boundary_phase[mu] = mu == 3;
    double final, relative;
    int iterations = 0;
    qudaCloverInvert(2, 2, kappa, kappa * coefficient, arguments, 1e-12, 0, u, raw, raw, source, x, &final, &relative, &iterations);
    CHECK(final <= 1e-12 && iterations > 3 && relative == 0);
    if (column == 0) print_fingerprint(name, x, 24);
    for (int i = 0; i < sites; ++i)
      for (int k = 0; k < 24; ++k) pion[all[i].t] += ((double *)&x[i])[k] * ((double *)&x[i])[k];
    free(u), free(source), free(x);
  }
  for (int t = 0; t < lattice[3]; ++t) pion[t] = global_sum(pion[t]);
  compare(golden, name, pion, 1e-10);
  free(raw);
}

int main(int count, char **argument) {
  int given, size;
  MPI_Init_thread(&count, &argument, MPI_THREAD_SINGLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (count == 2) {
    qudaMultigridCreate(2, 2, 0.1, garbage(), NULL, NULL, NULL);
    return 0;
  }
  CHECK(count == 11);
  const int only_fix = strcmp(argument[1], "fix") == 0;
  argument += only_fix;
  layout(argument + 2);
  CHECK(size == grid[0] * grid[1] * grid[2] * grid[3]);
  start(only_fix);
  all = qudaAllocatePinned((size_t)sites * sizeof(site));
  memset(all, 0x5a, (size_t)sites * sizeof(site));
  read_lattice(argument[1]);
  if (only_fix) {
    QudaMILCSiteArg_t arguments = site_arguments();
    qudaGaugeFixingOVR(2, 3, 500, 0, 1.8, 2e-6, 20, 0, &arguments);
    qudaFreePinned(all);
    qudaFinalize();
    MPI_Finalize();
    return 0;
  }
  const char *golden = argument[10];
  fix_gauge();
  observables(golden);
  links light = hisq(0);
  spectrum(golden, &light);
  links_change(&light);
  twists(&light);
  without_long(&light);
  mixed_targets(&light);
  zero_source(&light);
  if (size == 1 && lattice[0] == 4) light_mass(&light);
  shifts(&light);
  several_sources(&light);
  other_targets(&light);
  transport();
  free_links(&light);
  rephase();
  flip_boundary();
  clover(golden, "clover_l8888_antiperiodic_k0.12_c1.0_pion", 0.12, 1, 0);
  const char *const wilson = lattice[0] == 4 ? "wilson_l4444_antiperiodic_k0.12_c0.0_pion" : "wilson_l8888_antiperiodic_k0.12_c0.0_pion";
  clover(golden, wilson, 0.12, 0, 2);
  qudaCleanUpDeflationSpace();
  qudaFreePinned(all);
  qudaFinalize();
  MPI_Finalize();
  return 0;
}
