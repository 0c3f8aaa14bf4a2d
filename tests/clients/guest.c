/* A program that starts MPI itself, at a level that it chooses, and calls the C library in between: its environment, signal handlers,
 * affinity, stdout and messages are as before; solves on a communicator have the bits of a solve in one process; a session that waits
 * takes no core; a rank that does not come is an error, not the end, and so are ranks that do not compute alike.
 *     mpirun -n 2 guest single|funneled|serialized|multiple [lost|flipped] */
#define _GNU_SOURCE
#include "client.h"

#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static const int lattice[4] = {4, 4, 4, 8};
enum { sites = 512, site_links = 72, site_reals = 24 };

/* ---- what a guest leaves as it was */

typedef struct surroundings {
  char *environment[4096];
  size_t variables;
  cpu_set_t cores;
  struct sigaction actions[65];
} surroundings;

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static surroundings *look(void) {
  surroundings *s = calloc(1, sizeof *s);
  for (char **variable = environ; *variable != NULL; ++variable) {
    s->environment[s->variables] = malloc(strlen(*variable) + 1);
    strcpy(s->environment[s->variables++], *variable);
  }
  qsort(s->environment, s->variables, sizeof s->environment[0], by_text);
  CHECK(sched_getaffinity(0, sizeof s->cores, &s->cores) == 0);
  for (int number = 1; number < 65; ++number)
    if (sigaction(number, NULL, &s->actions[number]) != 0) s->actions[number].sa_handler = SIG_DFL;
  return s;
}

static void compare(const surroundings *before, const surroundings *after) {
  CHECK(before->variables == after->variables);
  for (size_t i = 0; i < before->variables; ++i) CHECK(strcmp(before->environment[i], after->environment[i]) == 0);
  CHECK(CPU_EQUAL(&before->cores, &after->cores));
  for (int number = 1; number < 65; ++number) CHECK(before->actions[number].sa_handler == after->actions[number].sa_handler);
}

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* ---- the problem, a function of global coordinates */

/* Two random rows made orthonormal, and their cross product's conjugate. */
static void su3(double *u, unsigned long long seed) {
  double row[3][6];
  for (int k = 0; k < 10; ++k) noise(&seed);
  for (int r = 0; r < 2; ++r) {
    for (int i = 0; i < 6; ++i) row[r][i] = noise(&seed);
    if (r == 1) {
      double re = 0, im = 0;
      for (int i = 0; i < 3; ++i) {
        re += row[0][2 * i] * row[1][2 * i] + row[0][2 * i + 1] * row[1][2 * i + 1];
        im += row[0][2 * i] * row[1][2 * i + 1] - row[0][2 * i + 1] * row[1][2 * i];
      }
      for (int i = 0; i < 3; ++i) {
        row[1][2 * i] -= re * row[0][2 * i] - im * row[0][2 * i + 1];
        row[1][2 * i + 1] -= re * row[0][2 * i + 1] + im * row[0][2 * i];
      }
    }
    const double length = sqrt(norm2(row[r], 6));
    for (int i = 0; i < 6; ++i) row[r][i] /= length;
  }
  for (int i = 0; i < 3; ++i) {
    const double *a = row[0] + 2 * ((i + 1) % 3), *b = row[1] + 2 * ((i + 2) % 3), *c = row[0] + 2 * ((i + 2) % 3), *d = row[1] + 2 * ((i + 1) % 3);
    row[2][2 * i] = a[0] * b[0] - a[1] * b[1] - (c[0] * d[0] - c[1] * d[1]);
    row[2][2 * i + 1] = -(a[0] * b[1] + a[1] * b[0] - (c[0] * d[1] + c[1] * d[0]));
  }
  memcpy(u, row, sizeof row);
}

/* What comes of a problem: solutions (this rank's part of them), correlators, fat links, and a few numbers. */
typedef struct answer {
  double x[12 * sites * site_reals], correlators[17 * 8], currents[4 * 2 * 8], fat[sites * site_links], plaquette;
  int iterations;
} answer;

/* On a communicator (NULL: on this process) with `ranks` parts in t, which wait for three seconds first where that is asked for. */
static void solve(const void *communicator, int rank, int ranks, const char *action, int components, answer *a, int idles) {
  char grid[20];
  sprintf(grid, "1,1,1,%d", ranks);
  const qs_setting settings[] = {{"devices", "cpu"}, {"workers", "1"}, {"threads", "1"}, {"ranks", grid}};
  const qs_session_options options = {
      .struct_size = sizeof options, .mpi_communicator = communicator, .settings = settings, .settings_count = 4};
  qs_session *session = NULL;
  OK(qs_session_open(&options, &session));
  if (idles) {
    const double before = cpu_seconds();
    usleep(3000000);
    CHECK(cpu_seconds() - before < 0.1);
  }
  const int mine = sites / ranks, first = rank * mine;
  double *u = malloc((size_t)mine * site_links * sizeof *u);
  const size_t reals = (size_t)(mine * 2 * components);
  fields *b = new_fields(components, reals);
  for (int site = 0; site < mine; ++site) {
    for (int mu = 0; mu < 4; ++mu) su3(u + (site * 4 + mu) * 18, (unsigned long long)((first + site) * 4 + mu));
    unsigned long long seed = (unsigned long long)(first + site) + 12345;
    for (int i = 0; i < 10; ++i) noise(&seed);
    for (int v = 0; v < components; ++v)
      for (int i = 0; i < 2 * components; ++i) of(b, v)[site * 2 * components + i] = noise(&seed);
  }
  qs_links links = {.struct_size = sizeof links, .data = {u}};
  qs_gauge *gauge = NULL, *fat = NULL, *read = NULL;
  qs_operator *op = NULL;
  OK(qs_gauge_create(session, lattice, &links, &gauge));
  int origin[4], extents[4];
  OK(qs_gauge_part(gauge, origin, extents));
  CHECK(origin[3] == rank * 8 / ranks && extents[3] == 8 / ranks && extents[0] == 4);
  const qs_setting heavy[] = {{components == 12 ? "kappa" : "mass", components == 12 ? "0.1" : "0.5"}};
  OK(qs_operator_create(gauge, action, heavy, 1, &op));
  void *x[12];
  for (int v = 0; v < components; ++v) x[v] = a->x + (size_t)v * reals;
  qs_vectors solutions = b->vectors;
  solutions.data = x;
  qs_result results[12];
  memset(results, 0, sizeof results);
  results[0].struct_size = sizeof results[0];
  OK(qs_operator_solve(op, NULL, &b->vectors, &solutions, results));
  for (int v = 0; v < components; ++v) CHECK(results[v].residual <= 1e-10);
  a->iterations = results[0].iterations;
  qs_plaquettes plaquettes = {.struct_size = sizeof plaquettes};
  OK(qs_gauge_plaquette(gauge, &plaquettes));
  a->plaquette = plaquettes.mean;

  const qs_setting all = {"correlators", components == 12 ? "mesons" : "staggered-mesons"};
  qs_correlators *correlators = NULL;
  OK(qs_contract(gauge, action, "point:0,0,0,3", &all, 1, &solutions, &correlators));
  const int count = qs_correlators_count(correlators);
  CHECK(count == (components == 12 ? 17 : 6));
  for (int c = 0; c < count; ++c) {
    size_t times = 0;
    const double *const values = qs_correlators_values(correlators, c, &times);
    CHECK(times == 8);
    memcpy(a->correlators + 8 * c, values, 8 * sizeof(double));
  }
  qs_correlators_free(correlators);

  const qs_setting pion[] = {{"three-points", "pion:5,0,0,1"}, {"sinks", "point+gaussian:1,2"}};
  if (components == 12 && (idles || communicator == NULL)) { /* once: solves of ranks that share cores take long */
    OK(qs_operator_three_points(op, "point:0,0,0,3", pion, 2, &solutions, &correlators));
    CHECK(qs_correlators_count(correlators) == 4);
    for (int c = 0; c < 4; ++c) {
      memcpy(a->currents + 16 * c, qs_correlators_values(correlators, c, NULL), 8 * sizeof(double));
      memcpy(a->currents + 16 * c + 8, qs_correlators_imaginary(correlators, c, NULL), 8 * sizeof(double));
    }
    qs_correlators_free(correlators);
  }

  const qs_smearing smearing = {.struct_size = sizeof smearing, .action = "asqtad", .u0 = 0.9, .boundary = {0, 0, 0, 1}};
  OK(qs_gauge_smear(gauge, &smearing, &fat, NULL));
  links.data[0] = a->fat;
  OK(qs_gauge_export(fat, &links));
  qs_gauge_free(fat);

  char name[40];
  sprintf(name, "%s.%d.ildg", action, ranks);
  if (communicator != NULL || rank == 0) OK(qs_gauge_write(gauge, name, "ildg", QS_DOUBLE));
  OK(qs_gauge_read(session, name, NULL, &read));
  double *const again = malloc((size_t)mine * site_links * sizeof *again);
  links.data[0] = again;
  OK(qs_gauge_export(read, &links));
  CHECK(memcmp(again, u, (size_t)mine * site_links * sizeof *u) == 0);
  qs_gauge_free(read);
  free(again);
  qs_operator_free(op);
  qs_gauge_free(gauge);
  OK(qs_session_close(session));
  free(u);
  free_fields(b);
}

static void same(const char *action, int components, int rank, int idles) {
  answer *const together = calloc(1, sizeof *together), *const alone = calloc(1, sizeof *alone);
  const MPI_Comm world = MPI_COMM_WORLD;
  solve(&world, rank, 2, action, components, together, idles);
  solve(&world, rank, 2, action, components, together, 0); /* another session on the same communicator */
  char own[20];
  sprintf(own, "rank%d", rank);
  mkdir(own, 0777);
  CHECK(chdir(own) == 0);
  solve(NULL, 0, 1, action, components, alone, 0);
  CHECK(chdir("..") == 0);
  const size_t half = (size_t)sites / 2 * 2 * (size_t)components;
  for (int v = 0; v < components; ++v)
    CHECK(memcmp(together->x + (size_t)v * half, alone->x + (2 * (size_t)v + (size_t)rank) * half, half * sizeof(double)) == 0);
  CHECK(memcmp(together->correlators, alone->correlators, sizeof alone->correlators) == 0);
  CHECK(memcmp(together->currents, alone->currents, sizeof alone->currents) == 0);
  CHECK(memcmp(together->fat, alone->fat + rank * sites / 2 * site_links, sizeof alone->fat / 2) == 0);
  CHECK(together->plaquette == alone->plaquette && together->iterations == alone->iterations);
  free(together);
  free(alone);
}

/* What one rank alone does wrong, or both not alike, both are told at once, and go on. */
static void disagreeing(int rank) {
  MPI_Comm world = MPI_COMM_WORLD, none = MPI_COMM_NULL, mine, both;
  qs_setting settings[] = {{"devices", "cpu"}, {"workers", "1"}, {"threads", "1"}};
  qs_session_options options = {.struct_size = sizeof options, .mpi_communicator = &none, .settings = settings, .settings_count = 3};
  qs_session *session = NULL;
  FAILS(QS_ERROR_INPUT, "MPI_COMM_NULL", "mpi_communicator", qs_session_open(&options, &session));
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &mine);
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1 - rank, 5, &both);
  options.mpi_communicator = &both;
  FAILS(QS_ERROR_INPUT, "inter-communicator", "mpi_communicator", qs_session_open(&options, &session));
  MPI_Comm_free(&both);
  MPI_Comm_free(&mine);

  options.mpi_communicator = &world;
  const char *const wrong[][2] = {{"wokers", "1"}, {"workers", "100000"}, {"policy", "none"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    settings[1].key = rank == 1 ? wrong[i][0] : "workers";
    settings[1].value = rank == 1 ? wrong[i][1] : "1";
    FAILS(QS_ERROR_INPUT, "rank 1", wrong[i][0], qs_session_open(&options, &session));
    CHECK(session == NULL);
  }
  settings[1].key = "workers";
  settings[1].value = "1";
  OK(qs_session_open(&options, &session));

  qs_gauge *gauge = (qs_gauge *)session, *fat = NULL;
  const int other[4] = {4, 4, 8, 4};
  double *const u = calloc(sites / 2 * site_links, sizeof *u);
  for (int link = 0; link < sites / 2 * 4; ++link) su3(u + link * 18, (unsigned long long)link);
  qs_links links = {.struct_size = sizeof links, .data = {u}};
  FAILS(QS_ERROR_INPUT, "4,4,8,4", "lattice", qs_gauge_create(session, rank == 1 ? other : lattice, &links, &gauge));
  CHECK(gauge == NULL);
  links.data[0] = rank == 1 ? NULL : u;
  FAILS(QS_ERROR_INPUT, "rank 1", "links", qs_gauge_create(session, lattice, &links, &gauge));
  links.data[0] = u;
  OK(qs_gauge_create(session, lattice, &links, &gauge));
  /* Without the setting `ranks`: the smearing has the gauge's own cut. */
  qs_smearing smearing = {.struct_size = sizeof smearing, .action = rank == 1 ? "hisq" : "asqtad"};
  FAILS(QS_ERROR_INPUT, "hisq", "action", qs_gauge_smear(gauge, &smearing, &fat, NULL));
  smearing.action = "hisq";
  OK(qs_gauge_smear(gauge, &smearing, &fat, NULL));

  qs_operator *op = NULL;
  qs_correlators *none_made = NULL;
  const qs_setting sinks[] = {{"three-points", "pion:3"}, {"three-points", "pion:4"}};
  fields *s = new_fields(12, sites / 2 * site_reals);
  OK(qs_operator_create(gauge, "wilson", NULL, 0, &op));
  s->vectors.count = 12 - rank;
  FAILS(QS_ERROR_INPUT, "rank 1", "propagator", qs_operator_three_points(op, "point:0,0,0,0", sinks, 1, &s->vectors, &none_made));
  s->vectors.count = 12;
  FAILS(QS_ERROR_INPUT, "pion:4", "three-points", qs_operator_three_points(op, "point:0,0,0,0", sinks + rank, 1, &s->vectors, &none_made));
  CHECK(none_made == NULL);
  qs_operator_free(op);
  free_fields(s);
  const qs_setting heavy = {"mass", "0.5"}, heavier = {"mass", "0.6"};
  FAILS(QS_ERROR_INPUT, "0.6 here", "mass", qs_operator_create(gauge, "naive", rank == 1 ? &heavier : &heavy, 1, &op));
  OK(qs_operator_create(gauge, "naive", &heavy, 1, &op));
  fields *b = new_fields(2, sites / 2 * 6), *x = new_fields(2, sites / 2 * 6);
  fill(b, 3);
  b->vectors.count = x->vectors.count = 1 + rank;
  FAILS(QS_ERROR_INPUT, "2 here", "sources", qs_operator_solve(op, NULL, &b->vectors, &x->vectors, NULL));
  FAILS(QS_ERROR_INPUT, "2 here", "vectors", qs_operator_apply(op, NULL, &b->vectors, &x->vectors));
  b->vectors.count = x->vectors.count = 2;
  qs_solve_options how = {.struct_size = sizeof how, .parity = rank == 1 ? QS_ODD : QS_EVEN};
  FAILS(QS_ERROR_INPUT, "2 here", "parity", qs_operator_solve(op, &how, &b->vectors, &x->vectors, NULL));
  OK(qs_operator_solve(op, NULL, &b->vectors, &x->vectors, NULL));
  qs_operator_free(op);
  qs_gauge_free(fat);
  qs_gauge_free(gauge);
  OK(qs_session_close(session));
  free_fields(b);
  free_fields(x);
  free(u);
}

/* The other rank does not come to the second call. This one is told so, and goes on without the library. */
static void lost(int rank) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const qs_setting settings[] = {{"devices", "cpu"}, {"workers", "1"}, {"threads", "1"}, {"ranks", "1,1,1,2"}, {"watchdog", "2"}};
  const qs_session_options options = {.struct_size = sizeof options, .mpi_communicator = &world, .settings = settings, .settings_count = 5};
  qs_session *session = NULL, *second = NULL;
  OK(qs_session_open(&options, &session));
  if (rank == 0) {
    static double u[sites / 2 * site_links];
    for (int site = 0; site < sites / 2; ++site)
      for (int mu = 0; mu < 4; ++mu) su3(u + (site * 4 + mu) * 18, (unsigned long long)(site * 4 + mu));
    const qs_links links = {.struct_size = sizeof links, .data = {u}};
    qs_gauge *gauge = NULL;
    FAILS(QS_ERROR_LOST, "no task or message has completed for", "", qs_gauge_create(session, lattice, &links, &gauge));
    CHECK(gauge == NULL);
    CHECK(qs_session_close(session) == QS_ERROR_LOST);
    CHECK(qs_session_open(&options, &second) == QS_ERROR_LOST);
  }
  int sent = rank, received = -1; /* messages of the program's own */
  MPI_Sendrecv(&sent, 1, MPI_INT, 1 - rank, 7, &received, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(received == 1 - rank);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A bit of a sum is flipped on its way to one rank (tests/fake/mpi_probe.cpp): every rank is told which ranks differ. */
static void flipped(int rank) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const qs_setting settings[] = {{"devices", "cpu"}, {"workers", "1"}, {"threads", "1"}, {"ranks", "1,1,1,2"}, {"watchdog", "60"}};
  const qs_session_options options = {.struct_size = sizeof options, .mpi_communicator = &world, .settings = settings, .settings_count = 5};
  qs_session *session = NULL;
  qs_gauge *gauge = NULL;
  qs_operator *op = NULL;
  OK(qs_session_open(&options, &session));
  static double u[sites / 2 * site_links];
  for (int site = 0; site < sites / 2; ++site)
    for (int mu = 0; mu < 4; ++mu) su3(u + (site * 4 + mu) * 18, (unsigned long long)((rank * sites / 2 + site) * 4 + mu));
  const qs_links links = {.struct_size = sizeof links, .data = {u}};
  const qs_setting heavy = {"kappa", "0.1"};
  OK(qs_gauge_create(session, lattice, &links, &gauge));
  OK(qs_operator_create(gauge, "wilson", &heavy, 1, &op));
  fields *b = new_fields(1, sites / 2 * site_reals), *x = new_fields(1, sites / 2 * site_reals);
  fill(b, 3);
  FAILS(QS_ERROR_LOST, "do not have the same numbers", "", qs_operator_solve(op, NULL, &b->vectors, &x->vectors, NULL));
  CHECK(strstr(qs_error_message(), "rank 0 (") != NULL && strstr(qs_error_message(), "rank 1 (") != NULL);
  CHECK(qs_session_close(session) == QS_ERROR_LOST);
}

int main(int argc, char **argv) {
  const char *const names[] = {"single", "funneled", "serialized", "multiple"};
  const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  int which = 0, level = 0, rank = 0, size = 0;
  CHECK(argc == 2 || (argc == 3 && (strcmp(argv[2], "lost") == 0 || strcmp(argv[2], "flipped") == 0)));
  const int loses = argc == 3;
  while (which < 4 && strcmp(argv[1], names[which]) != 0) ++which;
  CHECK(which < 4);
  const MPI_Comm world = MPI_COMM_WORLD;
  const qs_session_options early = {.struct_size = sizeof early, .mpi_communicator = &world};
  qs_session *session = NULL;
  FAILS(QS_ERROR_ENVIRONMENT, "not been initialised", "", qs_session_open(&early, &session));
  MPI_Init_thread(&argc, &argv, levels[which], &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size == 2 && level >= levels[which]);
  const surroundings *const before = look();
  if (loses) {
    if (strcmp(argv[2], "lost") == 0) lost(rank);
    else flipped(rank);
    MPI_Finalize();
    puts("all well");
    return 0;
  }
  /* A message of the program's own, on its way meanwhile. */
  int sent = 42 + rank, received = 0;
  MPI_Request requests[2];
  MPI_Irecv(&received, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&sent, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
  disagreeing(rank);
  same("wilson", 12, rank, 1);
  same("hisq", 3, rank, 0);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
  if (rank == 1) {
    answer *const a = calloc(1, sizeof *a);
    solve(&half, 0, 1, "naive", 3, a, 0);
    free(a);
  }
  MPI_Comm_free(&half);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(received == 42 + 1 - rank);
  compare(before, look());
  int initialised = 0, finalised = 1;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  CHECK(initialised && !finalised);
  MPI_Finalize();
  puts("all well");
  return 0;
}
