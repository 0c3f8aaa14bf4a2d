/* A program that starts MPI itself, at a level that it chooses, and calls the C library in between: its environment, signal handlers,
 * affinity, stdout and messages are as before; solves on a communicator have the bits of a solve in one process; a session that waits
 * takes no core; a rank that does not come is an error, not the end.
 *     mpirun -n 2 guest single|funneled|serialized|multiple
 *     mpirun -n 2 guest lost */
#define _GNU_SOURCE
#include "client.h"

#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
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

/* Solves on a communicator (NULL: on this process) with `ranks` parts in t; x: this rank's part of the solution. */
static void solve(const void *communicator, int rank, int ranks, const char *action, int components, double *x, int idles) {
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
  fields *b = new_fields(1, (size_t)mine * site_reals);
  for (int site = 0; site < mine; ++site) {
    for (int mu = 0; mu < 4; ++mu) su3(u + (site * 4 + mu) * 18, (unsigned long long)((first + site) * 4 + mu));
    unsigned long long seed = (unsigned long long)(first + site) + 12345;
    for (int i = 0; i < 10; ++i) noise(&seed);
    for (int i = 0; i < 2 * components; ++i) of(b, 0)[site * 2 * components + i] = noise(&seed);
  }
  const qs_links links = {.struct_size = sizeof links, .data = {u}};
  qs_gauge *gauge = NULL;
  qs_operator *op = NULL;
  OK(qs_gauge_create(session, lattice, &links, &gauge));
  int origin[4], extents[4];
  OK(qs_gauge_part(gauge, origin, extents));
  CHECK(origin[3] == rank * 8 / ranks && extents[3] == 8 / ranks && extents[0] == 4);
  const qs_setting heavy[] = {{components == 12 ? "kappa" : "mass", components == 12 ? "0.1" : "0.5"}};
  OK(qs_operator_create(gauge, action, heavy, 1, &op));
  void *solution[1] = {x};
  qs_vectors solutions = b->vectors;
  solutions.data = solution;
  qs_result result = {.struct_size = sizeof result};
  OK(qs_operator_solve(op, NULL, &b->vectors, &solutions, &result));
  CHECK(result.residual <= 1e-10);
  qs_plaquettes plaquettes = {.struct_size = sizeof plaquettes};
  OK(qs_gauge_plaquette(gauge, &plaquettes));
  x[mine * 2 * components] = plaquettes.mean;
  x[mine * 2 * components + 1] = result.iterations;
  qs_operator_free(op);
  qs_gauge_free(gauge);
  OK(qs_session_close(session));
  free(u);
  free_fields(b);
}

static void same(const char *action, int components, int rank, int idles) {
  static double together[sites * site_reals + 2], alone[sites * site_reals + 2];
  const MPI_Comm world = MPI_COMM_WORLD;
  solve(&world, rank, 2, action, components, together, idles);
  solve(NULL, 0, 1, action, components, alone, 0);
  const int half = sites / 2 * 2 * components;
  CHECK(memcmp(together, alone + rank * half, (size_t)half * sizeof(double)) == 0);
  CHECK(together[half] == alone[2 * half] && together[half + 1] == alone[2 * half + 1]);
}

/* The other rank does not come to the solve. */
static int lost(int rank) {
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
    CHECK(qs_session_close(session) == QS_ERROR_LOST);
    CHECK(qs_session_open(&options, &second) == QS_ERROR_LOST);
    puts("rank 0 goes on");
    fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD); /* a message of the program's own */
  _exit(0);
}

int main(int argc, char **argv) {
  const char *const names[] = {"single", "funneled", "serialized", "multiple", "lost"};
  const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE, MPI_THREAD_FUNNELED};
  int which = 0, level = 0, rank = 0, size = 0;
  CHECK(argc == 2);
  while (which < 5 && strcmp(argv[1], names[which]) != 0) ++which;
  CHECK(which < 5);
  const MPI_Comm world = MPI_COMM_WORLD;
  const qs_session_options early = {.struct_size = sizeof early, .mpi_communicator = &world};
  qs_session *session = NULL;
  FAILS(QS_ERROR_ENVIRONMENT, "not been initialised", "", qs_session_open(&early, &session));
  MPI_Init_thread(&argc, &argv, levels[which], &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size == 2 && level >= levels[which]);
  if (which == 4) return lost(rank);
  const surroundings *const before = look();
  /* A message of the program's own, on its way meanwhile. */
  int sent = 42 + rank, received = 0;
  MPI_Request requests[2];
  MPI_Irecv(&received, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&sent, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
  same("wilson", 12, rank, 1);
  same("hisq", 3, rank, 0);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
  if (rank == 1) {
    static double x[sites * site_reals + 2];
    solve(&half, 0, 1, "naive", 3, x, 0);
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
