/* The pion's correlator from a gauge configuration: a propagator from a point source, contracted.
 *
 *     cc -std=c99 pion.c $(pkg-config --cflags --libs quarkstar) -Wl,-rpath,PREFIX/lib -lm -o pion
 *     ./pion lat.1000 0.12 */
#include <quarkstar.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(qs_status status) {
  if (status == QS_OK) return;
  fprintf(stderr, "pion: %s\n", qs_error_message());
  exit(status);
}

int main(int argc, char **argv) {
  enum { columns = 12 };
  if (argc < 2) {
    fprintf(stderr, "usage: pion GAUGE [KAPPA]\n");
    return QS_ERROR_INPUT;
  }
  const char *const kappa = argc > 2 ? argv[2] : "0.12";

  qs_session *session;
  check(qs_session_open(NULL, &session));

  qs_gauge *gauge;
  int lattice[4];
  check(qs_gauge_read(session, argv[1], NULL, &gauge));
  check(qs_gauge_reunitarize(gauge)); /* files in single precision are SU(3) to 1e-7 only */
  check(qs_gauge_lattice(gauge, lattice));

  const qs_setting settings[] = {{"kappa", kappa}, {"tol", "1e-12"}};
  qs_operator *wilson;
  check(qs_operator_create(gauge, "wilson", settings, 2, &wilson));

  const size_t numbers = (size_t)lattice[0] * lattice[1] * lattice[2] * lattice[3] * 12 * 2;
  double *const memory = malloc(columns * numbers * sizeof *memory);
  void *solution[columns];
  if (memory == NULL) return QS_ERROR_ENVIRONMENT;
  for (int i = 0; i < columns; ++i) solution[i] = memory + i * numbers;
  const qs_vectors solutions = {.struct_size = sizeof solutions, .data = solution, .count = columns};

  qs_result results[columns];
  memset(results, 0, sizeof results);
  results[0].struct_size = sizeof results[0];
  check(qs_operator_propagate(wilson, "point:0,0,0,0", NULL, NULL, &solutions, results));
  for (int i = 0; i < columns; ++i) printf("# column %d: %d iterations, residual %.3e\n", i, results[i].iterations, results[i].residual);

  qs_correlators *mesons;
  size_t times = 0;
  check(qs_contract(gauge, "wilson", "point:0,0,0,0", NULL, 0, &solutions, &mesons));
  for (int i = 0; i < qs_correlators_count(mesons); ++i)
    if (strcmp(qs_correlators_name(mesons, i), "pion") == 0) {
      const double *const c = qs_correlators_values(mesons, i, &times);
      for (size_t t = 0; t < times; ++t)
        printf("%2zu %.15e %.6f\n", t, c[t], t + 1 < times ? log(c[t] / c[t + 1]) : 0.0);
    }

  qs_correlators_free(mesons);
  qs_operator_free(wilson);
  qs_gauge_free(gauge);
  check(qs_session_close(session));
  free(memory);
  return 0;
}
