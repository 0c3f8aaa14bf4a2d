/* A small program from start to end: a session, links out and in, two operators, N solves in several layouts, correlators. With many
 * solves its memory stays as it is; with few it is what valgrind and AddressSanitizer look at.
 *     loop N */
#include "resident.h"

static const int lattice[4] = {4, 4, 4, 8};
enum { sites = 4 * 4 * 4 * 8 };

static void solve(qs_operator *op, int components, qs_layout layout, qs_parity parity) {
  const int n = layout == QS_PYQUDA_PROPAGATOR ? components : 1;
  fields *b = new_fields(n, (size_t)sites * (size_t)components * 2), *x = new_fields(n, b->reals);
  fill(b, 3);
  b->vectors.layout = x->vectors.layout = layout;
  const qs_solve_options options = {.struct_size = sizeof options, .parity = parity};
  qs_result results[12];
  memset(results, 0, sizeof results);
  results[0].struct_size = sizeof results[0];
  OK(qs_operator_solve(op, &options, &b->vectors, &x->vectors, results));
  CHECK(results[0].residual <= 1e-3);
  free_fields(b);
  free_fields(x);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  const int times = atoi(argv[1]), first = times / 10;
  qs_session *session = open_session_with("1");
  const qs_heatbath heatbath = {.struct_size = sizeof heatbath, .beta = 6.0, .sweeps = 2, .seed = 7};
  qs_gauge *made = NULL, *gauge = NULL;
  OK(qs_gauge_generate(session, lattice, &heatbath, &made));
  double *u = malloc(sites * 72 * sizeof *u);
  qs_links links = {.struct_size = sizeof links, .data = {u}};
  OK(qs_gauge_export(made, &links));
  OK(qs_gauge_create(session, lattice, &links, &gauge));
  qs_gauge_free(made);
  free(u);
  qs_plaquettes means = {.struct_size = sizeof means};
  OK(qs_gauge_plaquette(gauge, &means));
  const qs_setting wilson[] = {{"kappa", "0.08"}, {"tol", "1e-3"}}, staggered[] = {{"mass", "1"}, {"tol", "1e-3"}};
  qs_operator *w = NULL, *s = NULL;
  OK(qs_operator_create(gauge, "wilson", wilson, 2, &w));
  OK(qs_operator_create(gauge, "hisq", staggered, 2, &s));
  qs_operator *none = NULL;
  CHECK(qs_operator_create(gauge, "none", NULL, 0, &none) == QS_ERROR_INPUT);
  long kb = 0;
  for (int i = 0; i < times; ++i) {
    if (i == first) kb = resident_kb();
    if (i % 20 == 0) solve(w, 12, QS_EVEN_ODD, QS_BOTH);
    if (i % 20 == 1) solve(s, 3, QS_PYQUDA_PROPAGATOR, QS_BOTH);
    solve(s, 3, (qs_layout)(i % 2 ? QS_LEXICOGRAPHIC : QS_PYQUDA), i % 3 ? QS_EVEN : QS_BOTH);
  }
  const long last = resident_kb();
  if (times >= 100) {
    fprintf(stderr, "%ld kB after %d solves, %ld kB after %d\n", kb, first, last, times);
    CHECK(last < kb + kb / 100);
  }
  fields *b = new_fields(3, (size_t)sites * 6), *x = new_fields(12, (size_t)sites * 24);
  qs_correlators *all = NULL;
  const qs_setting pion[] = {{"three-points", "pion:2"}, {"sinks", "gaussian:1,2"}};
  OK(qs_operator_propagate(w, "gaussian:0,0,0,0,1,2", NULL, NULL, &x->vectors, NULL));
  OK(qs_operator_propagate(w, "point:0,0,0,0", NULL, NULL, &x->vectors, NULL));
  OK(qs_operator_three_points(w, "point:0,0,0,0", pion, 2, &x->vectors, &all));
  qs_correlators_free(all);
  free_fields(x);
  x = new_fields(3, (size_t)sites * 6);
  OK(qs_operator_source(s, "point:0,0,0,0", NULL, &b->vectors));
  OK(qs_operator_solve(s, NULL, &b->vectors, &x->vectors, NULL));
  OK(qs_contract(gauge, "hisq", "point:0,0,0,0", NULL, 0, &x->vectors, &all));
  qs_correlators_free(all);
  free_fields(b);
  free_fields(x);
  qs_operator_free(s);
  qs_gauge_free(gauge);
  OK(qs_session_close(session));
  qs_operator_free(w); /* of a session that has been closed */
  puts("all well");
  return 0;
}
